#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds what a desktop boots from, in two stages that are cached apart:
#
#   build-rootfs.sh packages --suite SUITE --packages FILE --output packages.tar [options]
#       Debian packages from the mirrors of this machine's apt configuration -> one tar file.
#       --packages FILE   names of packages, separated by white space
#       --locale NAME     translations to keep besides English (default en_US.UTF-8)
#
#   build-rootfs.sh disk --packages-tar FILE --overlay DIR --agent FILE --parts DIR --output DIR [options]
#       packages + more packages + overlay + agent + files + commands -> DIR/disk.raw, DIR/vmlinuz, DIR/initrd.img
#       --overlay DIR     laid over the root file system; owned by root there
#       --agent FILE      the guest agent, installed as /usr/lib/dormouse/dormouse-guestd
#       --parts DIR       what the recipe adds, each part where there is some (NNN: 001, 002, …):
#           install             names of packages that are installed on top
#           sources/NAME.sources  archives besides Debian's, as apt reads them (deb822, the key inside)
#           files/NNN and files/NNN.place   content, and the line "MODE root|user /PATH"
#           commands/NNN.root and NNN.user  what bash runs inside the new system, in order; the first failure stops it
#       --suite SUITE  --user NAME  --locale NAME  --timezone NAME  --keyboard LAYOUT  --hostname NAME  --disk-gib N
#
#   both: --work DIR (scratch space on a roomy disk; default: beside the output)
#         --log FILE (everything the tools say is added to it; default: WORK/STAGE.log)
#         --began SECONDS (since 1970: what the times in the log are counted from; default: now)
#
# Standard output carries only lines for who started this:
#   progress 0.42 unpacking packages      how far it is; the last one is "progress 1.00 done"
#   failed command 003 2                  command 3 ended with status 2; also: failed file 003, failed packages,
#                                         failed repository NAME, failed space
#   because E: Unable to locate package   what the tool said, up to ten such lines behind "failed"
# A failure also prints the reason to standard error and exits with a status other than 0.
#
# Standard input is a lifeline: where it is a pipe, its end means that whoever started this is gone, and everything is
# taken down.
#
# Runs as root, or as a user with a range in /etc/subuid and /etc/subgid (package uidmap). All mounts are made in a
# mount namespace of their own and vanish with it, so an interruption at any moment leaves nothing mounted. Results
# are written under another name and renamed when complete. Needs: mmdebstrap, e2fsprogs, util-linux, tar, perl, apt.

set -euo pipefail
export LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 022

self=$(readlink -f "$0")

fail() {
    echo "build-rootfs: $*" >&2
    exit 1
}

progress() {
    echo "progress $1 $2"
}

# Ends with "failed WHAT" and the last lines of standard input that say something.
report() {
    echo "failed $1"
    { grep -v '^[[:space:]]*$' || true; } | tail -n 10 | cut -c 1-300 | sed 's/^/because /'
}

# ---------------------------------------------------------------------------------------------------------------------
# Arguments

# shellcheck disable=SC2034
arguments=("$@")
stage=${1:-}
[ $# -gt 0 ] && shift
suite=bookworm packages='' packages_tar='' output='' overlay='' agent='' parts='' work='' log=''
user=user locale=en_US.UTF-8 timezone=UTC keyboard=us hostname=dormouse disk_gib=20
began=$(date +%s)

# shellcheck disable=SC2034
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || fail "option $1 needs a value"
    case $1 in
        --suite) suite=$2 ;;
        --packages) packages=$2 ;;
        --packages-tar) packages_tar=$2 ;;
        --output) output=$2 ;;
        --overlay) overlay=$2 ;;
        --agent) agent=$2 ;;
        --parts) parts=$2 ;;
        --work) work=$2 ;;
        --log) log=$2 ;;
        --user) user=$2 ;;
        --locale) locale=$2 ;;
        --timezone) timezone=$2 ;;
        --keyboard) keyboard=$2 ;;
        --hostname) hostname=$2 ;;
        --disk-gib) disk_gib=$2 ;;
        --began) began=$2 ;;
        *) fail "unknown option $1" ;;
    esac
    shift 2
done

# Runs a command as the root of namespaces of its own: really root where we are root, else by the user's subordinate
# ids. The process-id namespace ends every process that the command started; the mount namespace takes its mounts along.
in_namespaces() {
    local flags=(--mount --pid --fork --kill-child)
    [ "$(id -u)" = 0 ] || flags+=(--map-auto --map-root-user)
    unshare "${flags[@]}" -- "$@"
}

# Work on some hundred thousand small files is done in memory where there is enough of it: minutes on a slow disk. The
# mount is seen by the present namespace only, and goes with it.
need_memory_kib=$((8 * 1024 * 1024))
use_memory() {
    local available
    available=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
    [ "$available" -ge "$need_memory_kib" ] || return 0
    mount -t tmpfs -o size=$((available * 3 / 4))k,mode="$2" dormouse-bake "$1" 2>>"$log" || true
}

# Trees may hold files of subordinate ids, which only the namespace's root can remove.
remove_tree() {
    [ ! -e "$1" ] || in_namespaces rm -rf --one-file-system "$1"
}

# A child in the foreground would delay our traps until it ends: run it in the background, in a process group of its own,
# and wait. The first argument is the signal that ends the group.
run_interruptible() {
    child_signal=$1
    shift
    set -m
    "$@" </dev/null &
    child=$!
    set +m
    local status=0
    wait "$child" || status=$?
    child=''
    return "$status"
}

# Whoever started us holds the other end of standard input, and it goes with him, however he ends.
lifeline=''
hold_lifeline() {
    [ -p /dev/stdin ] || return 0
    exec 9<&0
    (
        trap - EXIT INT TERM HUP
        read -r _ <&9 || true
        kill -s TERM $$ 2>/dev/null || true
    ) >/dev/null 2>&1 &
    lifeline=$!
    exec 9<&-
}

child='' child_signal=''
cleanup_paths=()
cleanup() {
    local status=$?
    trap - EXIT INT TERM HUP
    [ -z "$lifeline" ] || kill "$lifeline" 2>/dev/null || true
    if [ -n "$child" ]; then
        kill -s "$child_signal" -- "-$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    fi
    local path
    for path in "${cleanup_paths[@]}"; do
        umount --lazy "$path/tmp" 2>/dev/null || true
        remove_tree "$path" || true
    done
    if [ "$status" != 0 ] && [ -s "$log" ]; then
        echo "build-rootfs: stage '$stage' failed; the last lines of $log:" >&2
        tail -n 15 "$log" >&2
    fi
    exit "$status"
}

# Prints "deb URI SUITE COMPONENTS" for each Debian archive of this suite in apt's configuration (both file formats).
# Archives of other projects are left out: they have other suites, other components, or no "debian" in their path.
debian_mirrors() {
    local file
    {
        for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
            [ -f "$file" ] && sed -nE 's/#.*//; s/^[[:space:]]*deb[[:space:]]+(\[[^]]*\][[:space:]]*)?//p' "$file"
        done
        for file in /etc/apt/sources.list.d/*.sources; do
            [ -f "$file" ] && awk '
                function flush(   u, s, i, j, nu, ns) {
                    if (types ~ /(^| )deb( |$)/ && enabled !~ /^(no|false|0)$/) {
                        nu = split(uris, u, " "); ns = split(suites, s, " ")
                        for (i = 1; i <= nu; i++) for (j = 1; j <= ns; j++) print u[i], s[j], components
                    }
                    types = uris = suites = components = enabled = field = ""
                }
                function add(text) {
                    if (field == "types") types = types " " text
                    else if (field == "uris") uris = uris " " text
                    else if (field == "suites") suites = suites " " text
                    else if (field == "components") components = components " " text
                    else if (field == "enabled") enabled = tolower(text)
                }
                /^#/ { next }
                /^[ \t]*$/ { flush(); next }
                /^[ \t]/ { sub(/^[ \t]+/, ""); add($0); next }
                { i = index($0, ":"); field = tolower(substr($0, 1, i - 1)); t = substr($0, i + 1); sub(/^[ \t]+/, "", t); add(t) }
                END { flush() }' "$file"
        done
    } | while read -r uri its_suite components; do
        case $its_suite in
            "$suite" | "$suite-updates" | "$suite-security") ;;
            *) continue ;;
        esac
        case " $components " in *" main "*) ;; *) continue ;; esac
        case $uri in
            mirror+file:*) # a list of mirrors, as on Debian's cloud images; it would mean nothing inside the desktop
                file=${uri#mirror+file:}
                uri=$(grep -oE -m1 '^[^#[:space:]]+' "/${file#"${file%%[!/]*}"}" || true)
                ;;
        esac
        case $uri in
            http://*debian* | https://*debian*) echo "deb $uri $its_suite main" ;;
        esac
    done | sort -u
}

case $stage in
    packages | disk | disk-inside) ;;
    *) fail "usage: build-rootfs.sh packages|disk --option value …; the file's first lines explain them" ;;
esac
# shellcheck source=guest/image/stage-packages.sh
# shellcheck source=guest/image/stage-disk.sh
source "$(dirname "$self")/stage-${stage%-inside}.sh"
if [ "$stage" = disk-inside ]; then
    stage_disk_inside
elif [ "$stage" = packages ] && [ "$(id -u)" = 0 ] && [ -z "${DORMOUSE_BAKE_NAMESPACE:-}" ]; then
    # A mount namespace of our own, for the scratch space in memory.
    DORMOUSE_BAKE_NAMESPACE=1 exec unshare --mount -- "$self" "${arguments[@]}"
else
    trap cleanup EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    hold_lifeline
    "stage_$stage"
fi
