# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# Stage 2 of build-rootfs.sh, which sources this.

stage_disk() {
    [ -s "$packages_tar" ] || fail "--packages-tar FILE is missing"
    [ -d "$overlay" ] || fail "--overlay DIR is missing"
    [ -s "$agent" ] || fail "--agent FILE is missing"
    [ -z "$parts" ] || [ -d "$parts" ] || fail "--parts DIR is missing"
    [ -n "$output" ] || fail "--output DIR is needed"
    case $user in *[!a-z0-9_-]* | '' | root) fail "not a user name: $user" ;; esac
    case $hostname in *[!a-z0-9-]* | '') fail "not a host name: $hostname" ;; esac
    work=${work:-$output}
    mkdir -p "$work" "$output"
    log=${log:-$work/disk.log}
    touch "$log"

    local scratch
    scratch=$(mktemp -d "$work/disk.XXXXXX")
    chmod 0755 "$scratch"
    cleanup_paths=("$scratch")

    # unshare heeds no other signal; all that runs inside ends with it.
    run_interruptible KILL in_namespaces "$self" disk-inside \
        --packages-tar "$packages_tar" --overlay "$overlay" --agent "$agent" --output "$scratch" --parts "$parts" \
        --user "$user" --locale "$locale" --timezone "$timezone" --keyboard "$keyboard" --hostname "$hostname" \
        --suite "$suite" --disk-gib "$disk_gib" --log "$log" --began "$began" || fail "building the disk failed"

    # The disk comes last: who finds it finds the rest too.
    local name
    for name in vmlinuz initrd.img disk.raw; do
        mv "$scratch/$name" "$output/$name"
    done
    progress 0.97 "cleaning up"
    remove_tree "$scratch"
    progress 1.00 "done"
}

# ---------------------------------------------------------------------------------------------------------------------
# Inside: root in namespaces of its own. Standard output is the log there, descriptor 3 goes to who started us.

say() {
    progress "$1" "$2" >&3
    printf '== %4d s  %s\n' $(($(date +%s) - began)) "$2"
}

# The part of the log that was written since it had so many bytes.
said_since() {
    tail -c +"$(($1 + 1))" "$log"
}

# What a recipe names runs as root of the new system, with what installing packages takes and no more: it can neither
# mount, nor make device nodes, nor leave its root directory, nor reach into our processes. chroot and the capabilities
# are done in one program of ours; one that is started inside might not be the one we mean.
# shellcheck disable=SC2016
confine='
    my ($root, @command) = @ARGV;
    syscall(436, 3, 0xffffffff, 0);    # close_range: nothing that is open here
    chroot($root) and chdir("/") or die "cannot enter $root: $!\n";
    # chown dac_override fowner fsetid kill setgid setuid setfcap
    my %keep = map { $_ => 1 } 0, 1, 3, 4, 5, 6, 7, 31;
    for my $capability (0 .. 63) {
        next if $keep{$capability};
        syscall(157, 24, $capability, 0, 0, 0);    # prctl(PR_CAPBSET_DROP); those that do not exist fail
    }
    syscall(157, 23, 21, 0, 0, 0) == 0 or die "capabilities are left\n";    # prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN)
    exec { $command[0] } @command or die "cannot run $command[0]: $!\n";'
in_root() {
    env -i HOME=/root PATH="$PATH" LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "${proxies[@]}" \
        setpriv --inh-caps=-all perl -e "$confine" "$root" "$@"
}
# Standard input into a file of the new system. After packages and commands of others nothing outside may follow its
# links: whatever is written, read or removed in there is so from inside.
put() {
    # shellcheck disable=SC2016
    in_root sh -c 'mkdir -p "$(dirname "$1")" && cat >"$1"' sh "$1"
}
in_root_as_user() {
    in_root runuser -u "$user" -- env HOME="/home/$user" USER="$user" LOGNAME="$user" LANG="$locale" "$@"
}

mount_inside() {
    # Read-only: some files in there work on the whole machine, and ask for no more than the user id 0.
    mount -t proc -o ro proc "$root/proc" 2>/dev/null || mount --rbind /proc "$root/proc"
    mount -t tmpfs -o mode=0755 tmpfs "$root/dev"
    local device
    for device in null zero full random urandom tty; do
        : >"$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
    ln -s /proc/self/fd "$root/dev/fd"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    # Commands find names as this host does; the desktop's own file is below.
    mount -t tmpfs -o mode=0755 tmpfs "$root/run"
    # No service may start while the system is being built.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 0755 "$root/usr/sbin/policy-rc.d"
}

# The host's apt fetches, so that this machine's mirrors, proxies and passwords count and none of it gets into the
# system; dpkg runs inside. The host's hooks are left out: they are for its own packages.
write_apt_configuration() {
    cat >"$output/apt.conf" <<CONF
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Default-Release;
Dir "$root/";
Dir::State::status "$root/var/lib/dpkg/status";
Dir::Etc::netrc "/etc/apt/auth.conf";
Dir::Etc::netrcparts "/etc/apt/auth.conf.d/";
Dir::Bin::methods "/usr/lib/apt/methods";
Dir::Bin::solvers "/usr/lib/apt/solvers";
Dir::Cache "$root/var/cache/apt";
Dir::State "$root/var/lib/apt";
APT::Sandbox::User "root";
APT::Install-Recommends "false";
APT::Get::Assume-Yes "true";
APT::Get::List-Cleanup "false";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Retries "1";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
CONF
}

# fetch_lists FILE WHAT: package lists of one file of sources; where that fails, WHAT is to blame.
fetch_lists() {
    local before
    before=$(stat -c %s "$log")
    if ! apt-get -c "$output/apt.conf" -o Dir::Etc::sourcelist="$1" -o Dir::Etc::sourceparts=/dev/null update; then
        { said_since "$before" | grep -E '^(E|W|Err)[: ]' || true; } | report "$2" >&3
        fail "the package lists of $2 cannot be fetched"
    fi
}

install_packages() {
    local names=() sources=("$parts"/sources/*.sources)
    [ ! -f "$parts/install" ] || mapfile -t names <"$parts/install"
    [ -f "${sources[0]}" ] || sources=()
    [ $((${#names[@]} + ${#sources[@]})) -gt 0 ] || return 0

    write_apt_configuration
    # The mirrors of today, where the first stage has left its own.
    local mirrors source name debian=$root/etc/apt/sources.list.d/0000sources.list
    mirrors=$(debian_mirrors)
    if [ -n "$mirrors" ]; then printf '%s\n' "$mirrors" >"$debian"; else debian=$root/etc/apt/sources.list; fi
    if [ ${#names[@]} -gt 0 ]; then
        say 0.20 "fetching package lists"
        fetch_lists "$debian" "repository debian"
    fi
    for source in "${sources[@]}"; do
        name=$(basename "$source" .sources)
        say 0.21 "fetching the package lists of $name"
        install -D -m 0644 "$source" "$root/etc/apt/sources.list.d/$name.sources"
        fetch_lists "$root/etc/apt/sources.list.d/$name.sources" "repository $name"
    done
    [ ${#names[@]} -gt 0 ] || return 0

    say 0.22 "fetching ${#names[@]} packages: ${names[*]:0:8}"
    local before
    before=$(stat -c %s "$log")
    if ! apt-get -c "$output/apt.conf" --download-only install -- "${names[@]}"; then
        { said_since "$before" | grep -E '^(E|Err)[: ]|Unable|No space' || true; } | report packages >&3
        fail "the packages cannot be fetched"
    fi
    say 0.25 "installing ${#names[@]} packages: ${names[*]:0:8}"
    before=$(stat -c %s "$log")
    if ! in_root apt-get -y --no-download --no-install-recommends -o DPkg::Options::=--force-unsafe-io \
        -o APT::Sandbox::User=root install -- "${names[@]}"; then
        said_since "$before" | report packages >&3
        fail "the packages cannot be installed"
    fi
    rm -f "$output/apt.conf"
}

# need PATH WHAT NAME: a file that the recipe's NAME implies.
need() {
    in_root test -e "$1" && return 0
    echo "there is no $2 $3" | report "system $2" >&3
    fail "no such $2"
}

configure_system() {
    echo "$hostname" | put /etc/hostname
    printf '127.0.0.1\tlocalhost\n127.0.1.1\t%s\n' "$hostname" | put /etc/hosts
    need "/usr/share/zoneinfo/$timezone" timezone "$timezone"
    in_root ln -sfn "/usr/share/zoneinfo/$timezone" /etc/localtime
    echo "$timezone" | put /etc/timezone
    echo "LANG=$locale" | put /etc/default/locale
    # The virtual keyboard is a US one in X, whatever the layout: what is typed through it is exact. The layout is the
    # console's, and the second one in X, for programs that ask.
    need "/usr/share/X11/xkb/symbols/$keyboard" keyboard "$keyboard"
    local layouts=us
    [ "$keyboard" = us ] || layouts=us,$keyboard
    printf 'XKBMODEL="pc105"\nXKBLAYOUT="%s"\nXKBVARIANT=""\nXKBOPTIONS=""\n' "$keyboard" | put /etc/default/keyboard
    printf 'Section "InputClass"\n    Identifier "keyboard layout"\n    MatchIsKeyboard "on"\n    Option "XkbLayout" "%s"\nEndSection\n' \
        "$layouts" | put /etc/X11/xorg.conf.d/20-keyboard.conf
    if [ "$locale" != C.UTF-8 ]; then
        need "/usr/share/i18n/locales/${locale%%.*}" locale "$locale"
        echo "$locale ${locale##*.}" | put /etc/locale.gen
        in_root locale-gen
    fi

    in_root useradd --create-home --uid 1000 --user-group --groups sudo,audio,video,input,plugdev --shell /bin/bash \
        --comment Desktop "$user"
    # No password, and no way to sign in with one; sudo asks for none.
    in_root passwd --lock "$user"
    put "/var/lib/systemd/linger/$user" </dev/null
}

# Inside the root: a link in the path leads nowhere else. Folders that the user lacks become his own where he may make them.
place_files() {
    local place number line mode owner path
    for place in "$parts"/files/*.place; do
        [ -f "$place" ] || return 0
        number=$(basename "$place" .place)
        line=$(cat "$place")
        mode=${line%% *} line=${line#* }
        owner=${line%% *} path=${line#* }
        [ "$owner" = root ] || owner=$user
        echo "== file $path"
        if [ "$owner" = "$user" ]; then
            in_root_as_user mkdir -p -- "$(dirname "$path")" 2>/dev/null || true
        fi
        if ! in_root install -D -m "$mode" -o "$owner" -g "$owner" /proc/self/fd/0 "$path" <"$parts/files/$number"; then
            tail -n 3 "$log" | report "file $number" >&3
            fail "$path cannot be written"
        fi
    done
}

run_commands() {
    local file number before status
    for file in "$parts"/commands/*; do
        [ -f "$file" ] || return 0
        number=$(basename "$file")
        number=${number%.*}
        say 0.45 "running command $number: $(head -n 1 "$file" | tr -d '\000-\037' | cut -c 1-70)"
        before=$(stat -c %s "$log")
        status=0
        case $file in
            *.user) in_root_as_user /bin/bash -c 'cd && exec bash -euxo pipefail -c "$1"' bash "$(cat "$file")" || status=$? ;;
            *) in_root /bin/bash -euxo pipefail -c "$(cat "$file")" || status=$? ;;
        esac </dev/null
        if [ "$status" != 0 ]; then
            { said_since "$before" | grep -v '^+ ' || true; } | report "command $number $status" >&3
            fail "command $number failed"
        fi
    done
}

stage_disk_inside() {
    output=$(readlink -f "$output")
    root=$output/root
    exec 3>&1 1>>"$log" 2>&1
    # For commands that fetch something.
    proxies=()
    local name
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
        [ -z "${!name:-}" ] || proxies+=("$name=${!name}")
    done
    mkdir "$root"
    use_memory "$root" 0755

    say 0.02 "unpacking the package archive"
    # Device nodes cannot be made in a user namespace, and the kernel fills /dev at boot.
    tar -C "$root" -xpf "$packages_tar" --numeric-owner --xattrs --xattrs-include='*' --exclude='./dev/*'
    mount_inside
    [ -z "$parts" ] || install_packages

    say 0.34 "laying the overlay over it"
    # A checkout keeps only the executable bit: owner and modes are set here. Directories that exist stay as they are.
    tar -C "$overlay" --owner=0 --group=0 --mode='u=rwX,go=rX' -cf - . | in_root tar -C / -xpf - --no-overwrite-dir
    in_root install -D -m 0755 /proc/self/fd/0 /usr/lib/dormouse/dormouse-guestd <"$agent"

    say 0.36 "configuring the system"
    configure_system

    # The commands find names as this host does; the desktop has a file of its own.
    mount --bind "$(readlink -f /etc/resolv.conf)" "$root/etc/resolv.conf" || true
    if [ -n "$parts" ]; then
        place_files
        run_commands
    fi
    umount "$root/etc/resolv.conf" || true

    say 0.50 "making the boot image"
    in_root update-initramfs -c -k all

    say 0.62 "tidying up"
    # Empty, so that each desktop makes its own at its first boot; and nothing is "new" to systemd at that boot.
    in_root sh -euc '
        rm -f /usr/sbin/policy-rc.d /var/lib/dbus/machine-id
        rm -rf /var/cache/apt/*.bin /var/cache/apt/archives/*.deb /var/lib/apt/lists/* /var/log/*.log /var/log/apt/* \
            /var/cache/debconf/*-old /var/lib/dpkg/*-old /var/cache/ldconfig/*
        : >/etc/machine-id
        touch /etc/.updated /var/.updated'
    local kernel
    kernel=$(in_root sh -c 'cd /boot && printf "%s\n" vmlinuz-* | sort -V | tail -n 1')
    in_root cat "/boot/$kernel" >"$output/vmlinuz"
    in_root cat "/boot/initrd.img-${kernel#vmlinuz-}" >"$output/initrd.img"
    umount "$root/tmp" "$root/run"
    umount --recursive --lazy "$root/dev" "$root/proc"

    say 0.66 "writing the disk image"
    truncate -s "${disk_gib}G" "$output/disk.raw"
    # A fresh sparse file reads as zeroes: nothing is left for the kernel to initialise in the background.
    local before
    before=$(stat -c %s "$log")
    if ! mke2fs -q -F -t ext4 -L dormouse -m 1 -E lazy_itable_init=0,lazy_journal_init=0,assume_storage_prezeroed=1,discard \
        -d "$root" "$output/disk.raw"; then
        said_since "$before" | report space >&3
        fail "the disk image cannot be written"
    fi
    chmod 0644 "$output/disk.raw"
}
