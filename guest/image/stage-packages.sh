# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Stage 1 of build-rootfs.sh, which sources this.

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
    work=${work:-$(dirname "$output")}
    mkdir -p "$work" "$(dirname "$output")"
    log=${log:-$work/packages.log}
    touch "$log"

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
    local said_before
    said_before=$(stat -c %s "$log")
    if ! run_interruptible TERM run_mmdebstrap; then
        { tail -c +"$((said_before + 1))" "$log" | grep -E '^E: |^W: Failed|No space left' || true; } | report packages
        fail "mmdebstrap failed"
    fi
    mv "$output.partial" "$output"
    progress 1.00 "done"
}
