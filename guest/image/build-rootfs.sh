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
#   build-rootfs.sh disk --packages-tar FILE --overlay DIR --agent FILE --output DIR [options]
#       packages + overlay + agent + commands -> DIR/disk.raw, DIR/vmlinuz, DIR/initrd.img
#       --overlay DIR     laid over the root file system; owned by root there
#       --agent FILE      the guest agent, installed as /usr/lib/dormouse/dormouse-guestd
#       --commands FILE   shell lines run inside the new system, last of all; the first failure stops the build
#       --user NAME  --locale NAME  --timezone NAME  --keyboard LAYOUT  --hostname NAME  --disk-gib N
#
#   both: --work DIR (scratch space on a roomy disk; default: beside the output)
#         --log FILE (everything the tools say; default: WORK/STAGE.log)
#
# Standard output carries only lines of the form "progress 0.42 unpacking packages"; the last one is "progress 1.00 done".
# A failure prints the reason and the tail of the log to standard error and exits with a status other than 0.
#
# Runs as root, or as a user with a range in /etc/subuid and /etc/subgid (package uidmap). All mounts are made in a
# mount namespace of their own and vanish with it, so an interruption at any moment leaves nothing mounted. Results
# are written under another name and renamed when complete. Needs: mmdebstrap, e2fsprogs, util-linux, tar.

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

# ---------------------------------------------------------------------------------------------------------------------
# Arguments

arguments=("$@")
stage=${1:-}
[ $# -gt 0 ] && shift
suite=bookworm packages='' packages_tar='' output='' overlay='' agent='' commands='' work='' log=''
user=user locale=en_US.UTF-8 timezone=UTC keyboard=us hostname=dormouse disk_gib=20

while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || fail "option $1 needs a value"
    case $1 in
        --suite) suite=$2 ;;
        --packages) packages=$2 ;;
        --packages-tar) packages_tar=$2 ;;
        --output) output=$2 ;;
        --overlay) overlay=$2 ;;
        --agent) agent=$2 ;;
        --commands) commands=$2 ;;
        --work) work=$2 ;;
        --log) log=$2 ;;
        --user) user=$2 ;;
        --locale) locale=$2 ;;
        --timezone) timezone=$2 ;;
        --keyboard) keyboard=$2 ;;
        --hostname) hostname=$2 ;;
        --disk-gib) disk_gib=$2 ;;
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
    mount -t tmpfs -o size=6g,mode="$2" dormouse-bake "$1" 2>>"$log" || true
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

child='' child_signal=''
cleanup_paths=()
cleanup() {
    local status=$?
    trap - EXIT INT TERM HUP
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

# ---------------------------------------------------------------------------------------------------------------------
# Stage 1: packages

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

# Turns the talk of apt and dpkg into progress lines, at most one for each whole percent.
packages_progress() {
    awk '
        function say(fraction, what) {
            percent = int(fraction * 100)
            if (percent > last) { last = percent; printf "progress %.2f %s\n", percent / 100, what; fflush() }
        }
        function share(n) { return total ? (n < total ? n / total : 1) : 0 }
        function step(what) {
            say(from + (to - from) * (0.30 * share(got) + 0.35 * share(unpacked) + 0.35 * share(set_up)), what)
        }
        # apt runs twice: for the essential packages, then for the rest.
        / newly installed/ { from = runs++ ? 0.12 : 0.02; to = from == 0.02 ? 0.12 : 0.92; total = $3; got = unpacked = set_up = 0 }
        /^Get:[0-9]+ .*(amd64|all) .*\[/ { got++; step("downloading packages") }
        /^Unpacking / { unpacked++; step("unpacking packages") }
        /^Setting up / { set_up++; step("configuring packages") }
        /^I: creating tarball/ { say(0.93, "writing the package archive") }
        BEGIN { last = -1; say(0.01, "reading package lists") }'
}

stage_packages() {
    [ -s "$packages" ] || fail "--packages FILE is missing or empty"
    [ -n "$output" ] || fail "--output FILE is needed"
    command -v mmdebstrap >/dev/null || fail "mmdebstrap is not installed"
    # A mount namespace of our own, for the scratch space in memory.
    if [ "$(id -u)" = 0 ] && [ -z "${DORMOUSE_BAKE_NAMESPACE:-}" ]; then
        trap - EXIT INT TERM HUP
        DORMOUSE_BAKE_NAMESPACE=1 exec unshare --mount -- "$self" "${arguments[@]}"
    fi
    work=${work:-$(dirname "$output")}
    mkdir -p "$work" "$(dirname "$output")"
    log=${log:-$work/packages.log}
    : >"$log"

    local mode=root
    [ "$(id -u)" = 0 ] || mode=unshare
    local scratch
    if [ "$mode" = unshare ]; then
        # mmdebstrap goes on as a subordinate id, which may not pass our state folder (0700) or a home (0700).
        scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/dormouse-packages.XXXXXX")
    else
        scratch=$(mktemp -d "$work/packages.XXXXXX")
    fi
    cleanup_paths=("$scratch" "$output.partial")
    # In unshare mode another user id makes its directory in here.
    chmod 0755 "$scratch"
    mkdir -m 1777 "$scratch/tmp"
    [ "$mode" = unshare ] || use_memory "$scratch/tmp" 1777

    local mirrors
    mirrors=$(debian_mirrors)
    if [ -z "$mirrors" ]; then
        echo "no Debian mirror for $suite in apt's configuration: using mmdebstrap's default" >>"$log"
    fi
    if [ -z "${http_proxy:-}" ]; then
        local APT_PROXY=''
        eval "$(apt-config shell APT_PROXY Acquire::http::Proxy)"
        [ -z "$APT_PROXY" ] || export http_proxy=$APT_PROXY
    fi

    local language=${locale%%[_.@]*}
    # These run as shell lines with the new system's directory as their first argument.
    # shellcheck disable=SC2016
    local essential_hook='d="$1/etc/initramfs-tools/conf.d"; mkdir -p "$d"; echo MODULES=list >"$d/while-installing"' \
        customize_hook='rm "$1/etc/initramfs-tools/conf.d/while-installing"; rm -f "$1"/boot/initrd.img-* "$1"/initrd.img*;
            sed -i /force-unsafe-io/d "$1/etc/dpkg/dpkg.cfg.d/99mmdebstrap"'
    local options=(
        --mode="$mode" --variant=apt --format=tar --verbose
        --include="$(tr -s '[:space:]' ',' <"$packages" | sed 's/^,//; s/,$//')"
        --dpkgopt=force-unsafe-io
        --dpkgopt='path-exclude=/usr/share/man/*'
        --dpkgopt='path-exclude=/usr/share/doc/*'
        --dpkgopt='path-include=/usr/share/doc/*/copyright'
        --dpkgopt='path-exclude=/usr/share/info/*'
        --dpkgopt='path-exclude=/usr/share/gtk-doc/*'
        --dpkgopt='path-exclude=/usr/share/locale/*/LC_MESSAGES/*'
        --dpkgopt="path-include=/usr/share/locale/$language*/LC_MESSAGES/*"
        --dpkgopt='path-exclude=/usr/bin/*-lto-dump-*'
        --dpkgopt='path-exclude=/usr/lib/chromium/libVkLayer_*'
        --dpkgopt='path-exclude=/usr/share/fonts/opentype/noto/NotoSerifCJK-*'
        # The boot image that is made on the way is thrown away: let it be small. The real one comes with the disk.
        --essential-hook="$essential_hook" --customize-hook="$customize_hook"
    )
    # Drivers of hardware that the virtual machine never has: a quarter of a gigabyte.
    local drivers
    for drivers in gpu/drm/{amd,i915,nouveau,radeon,vmwgfx} infiniband isdn media iio net/ethernet net/wireless staging target; do
        options+=(--dpkgopt="path-exclude=/lib/modules/*/kernel/drivers/$drivers/*")
    done
    options+=(--dpkgopt='path-exclude=/lib/modules/*/kernel/sound/*')
    [ ! -f /usr/share/keyrings/debian-archive-keyring.gpg ] ||
        options+=(--keyring=/usr/share/keyrings/debian-archive-keyring.gpg)

    # The mirrors go in through a file: as arguments they would be interpreted one way more.
    local sources=()
    if [ -n "$mirrors" ]; then
        printf '%s\n' "$mirrors" >"$scratch/sources.list"
        sources=("$scratch/sources.list")
    fi

    run_mmdebstrap() {
        TMPDIR="$scratch/tmp" mmdebstrap "${options[@]}" "$suite" "$output.partial" "${sources[@]}" 2>&1 |
            tee -a "$log" | packages_progress
    }
    # It cleans up after itself when asked to end.
    run_interruptible TERM run_mmdebstrap || fail "mmdebstrap failed"
    mv "$output.partial" "$output"
    progress 1.00 "done"
}

# ---------------------------------------------------------------------------------------------------------------------
# Stage 2: disk

stage_disk() {
    [ -s "$packages_tar" ] || fail "--packages-tar FILE is missing"
    [ -d "$overlay" ] || fail "--overlay DIR is missing"
    [ -s "$agent" ] || fail "--agent FILE is missing"
    [ -z "$commands" ] || [ -f "$commands" ] || fail "--commands FILE is missing"
    [ -n "$output" ] || fail "--output DIR is needed"
    case $user in *[!a-z0-9_-]* | '' | root) fail "not a user name: $user" ;; esac
    case $hostname in *[!a-z0-9-]* | '') fail "not a host name: $hostname" ;; esac
    work=${work:-$output}
    mkdir -p "$work" "$output"
    log=${log:-$work/disk.log}
    : >"$log"

    local scratch
    scratch=$(mktemp -d "$work/disk.XXXXXX")
    chmod 0755 "$scratch"
    cleanup_paths=("$scratch")

    # unshare heeds no other signal; all that runs inside ends with it.
    run_interruptible KILL in_namespaces "$self" disk-inside \
        --packages-tar "$packages_tar" --overlay "$overlay" --agent "$agent" --output "$scratch" --commands "$commands" \
        --user "$user" --locale "$locale" --timezone "$timezone" --keyboard "$keyboard" --hostname "$hostname" \
        --disk-gib "$disk_gib" --log "$log" || fail "building the disk failed"

    # The disk comes last: who finds it finds the rest too.
    local name
    for name in vmlinuz initrd.img disk.raw; do
        mv "$scratch/$name" "$output/$name"
    done
    progress 0.97 "cleaning up"
    remove_tree "$scratch"
    progress 1.00 "done"
}

# The part of stage 2 that is root in its namespaces.
stage_disk_inside() {
    local root=$output/root
    exec 3>&1 1>>"$log" 2>&1
    say() { progress "$1" "$2" >&3; echo "== $2"; }
    in_root() { chroot "$root" /usr/bin/env -i HOME=/root PATH="$PATH" LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
    mkdir "$root"
    use_memory "$root" 0755

    say 0.02 "unpacking the package archive"
    # Device nodes cannot be made in a user namespace, and the kernel fills /dev at boot.
    tar -C "$root" -xpf "$packages_tar" --numeric-owner --xattrs --xattrs-include='*' --exclude='./dev/*'

    say 0.30 "laying the overlay over it"
    # A checkout keeps only the executable bit: owner and modes are set here. Directories that exist stay as they are.
    tar -C "$overlay" --owner=0 --group=0 --mode='u=rwX,go=rX' -cf - . | tar -C "$root" -xpf - --no-overwrite-dir
    install -D -m 0755 "$agent" "$root/usr/lib/dormouse/dormouse-guestd"

    say 0.33 "configuring the system"
    mount -t proc proc "$root/proc" 2>/dev/null || mount --rbind /proc "$root/proc"
    mount -t tmpfs -o mode=0755 tmpfs "$root/dev"
    local device
    for device in null zero full random urandom tty; do
        : >"$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
    ln -s /proc/self/fd "$root/dev/fd"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    # No service may start while the system is being built.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 0755 "$root/usr/sbin/policy-rc.d"

    echo "$hostname" >"$root/etc/hostname"
    printf '127.0.0.1\tlocalhost\n127.0.1.1\t%s\n' "$hostname" >"$root/etc/hosts"
    ln -sfn "/usr/share/zoneinfo/$timezone" "$root/etc/localtime"
    [ -e "$root/usr/share/zoneinfo/$timezone" ]
    echo "$timezone" >"$root/etc/timezone"
    echo "LANG=$locale" >"$root/etc/default/locale"
    printf 'XKBMODEL="pc105"\nXKBLAYOUT="%s"\nXKBVARIANT=""\nXKBOPTIONS=""\n' "$keyboard" >"$root/etc/default/keyboard"
    mkdir -p "$root/etc/X11/xorg.conf.d"
    printf 'Section "InputClass"\n    Identifier "keyboard layout"\n    MatchIsKeyboard "on"\n    Option "XkbLayout" "%s"\nEndSection\n' \
        "$keyboard" >"$root/etc/X11/xorg.conf.d/20-keyboard.conf"
    if [ "$locale" != C.UTF-8 ]; then
        echo "$locale ${locale##*.}" >"$root/etc/locale.gen"
        in_root locale-gen
    fi

    in_root useradd --create-home --uid 1000 --user-group --groups sudo,audio,video,input,plugdev --shell /bin/bash \
        --comment Desktop "$user"
    # No password, and no way to sign in with one; sudo asks for none.
    in_root passwd --lock "$user"
    mkdir -p "$root/var/lib/systemd/linger"
    : >"$root/var/lib/systemd/linger/$user"

    if [ -n "$commands" ]; then
        say 0.40 "running the recipe's commands"
        in_root /bin/bash -euxo pipefail -c "$(cat "$commands")"
    fi

    say 0.50 "making the boot image"
    in_root update-initramfs -c -k all

    say 0.62 "tidying up"
    rm -f "$root/usr/sbin/policy-rc.d"
    rm -rf "$root"/var/cache/apt/*.bin "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* \
        "$root"/var/log/*.log "$root"/var/log/apt/* "$root"/var/cache/debconf/*-old "$root"/var/lib/dpkg/*-old \
        "$root"/var/cache/ldconfig/*
    # Empty, so that each desktop makes its own at its first boot; and nothing is "new" to systemd at that boot.
    : >"$root/etc/machine-id"
    rm -f "$root/var/lib/dbus/machine-id"
    umount "$root/tmp"
    umount --recursive --lazy "$root/dev" "$root/proc"
    touch "$root/etc/.updated" "$root/var/.updated"

    local kernel
    kernel=$(cd "$root/boot" && printf '%s\n' vmlinuz-* | sort -V | tail -n 1)
    install -m 0644 "$root/boot/$kernel" "$output/vmlinuz"
    install -m 0644 "$root/boot/initrd.img-${kernel#vmlinuz-}" "$output/initrd.img"

    say 0.66 "writing the disk image"
    truncate -s "${disk_gib}G" "$output/disk.raw"
    # A fresh sparse file reads as zeroes: nothing is left for the kernel to initialise in the background.
    mke2fs -q -F -t ext4 -L dormouse -m 1 -E lazy_itable_init=0,lazy_journal_init=0,assume_storage_prezeroed=1,discard \
        -d "$root" "$output/disk.raw"
    chmod 0644 "$output/disk.raw"
}

case $stage in
    packages) trap cleanup EXIT && trap 'exit 130' INT && trap 'exit 143' TERM HUP && stage_packages ;;
    disk) trap cleanup EXIT && trap 'exit 130' INT && trap 'exit 143' TERM HUP && stage_disk ;;
    disk-inside) stage_disk_inside ;;
    *) fail "usage: build-rootfs.sh packages|disk --option value …; the file's first lines explain them" ;;
esac
