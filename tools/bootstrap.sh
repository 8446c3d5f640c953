#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `up` and `test` share: packages, the machine user, builds, and how steps are shown.
# Sourced; expects $root.

# What building and running needs, in Debian's names.
build_packages=(
    g++ cmake ninja-build pkg-config ccache git ca-certificates
    libfmt-dev libspdlog-dev nlohmann-json3-dev libexpected-dev libcli11-dev libtomlplusplus-dev
    libwebsockets-dev libsqlite3-dev libsystemd-dev libsodium-dev libdeflate-dev
    libturbojpeg0-dev libwebp-dev libvncserver-dev
    libxcb1-dev libxcb-xtest0-dev libxau-dev libxdmcp-dev
    libslirp-dev libglib2.0-dev libc-ares-dev libseccomp-dev
)
run_packages=(
    qemu-system-x86 qemu-system-common qemu-utils seabios ipxe-qemu
    mmdebstrap e2fsprogs util-linux uidmap tar zstd curl python3
)
test_packages=(
    libgtest-dev libgmock-dev libyaml-cpp-dev libpng-dev
    clang-tidy-14 clang-format-14 python3-pil python3-yaml xvfb xauth xclip x11-utils procps
)

if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' plain=$'\e[0m'; else bold='' dim='' red='' plain=''; fi

step_number=0
step_total=0
step_began=0

# step TEXT: begins a step, and says how long the one before took.
step() {
    step_end
    step_number=$((step_number + 1))
    step_began=$SECONDS
    step_text=$1
    echo "${bold}[$step_number/$step_total] $1${plain}"
}
step_end() {
    if [ -n "${step_text:-}" ]; then echo "      ${dim}done in $((SECONDS - step_began)) s${plain}"; fi
    step_text=''
}

die() {
    echo "${red}$1${plain}" >&2
    shift
    for line in "$@"; do echo "  $line" >&2; done
    exit 1
}

missing_packages() {
    local package
    for package in "$@"; do
        dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || echo "$package"
    done
}

# Installs what of "$@" is missing: as root, or with sudo; else says the one line to run.
install_packages() {
    command -v dpkg-query >/dev/null || die "This needs Debian 12 (bookworm): there is no dpkg here."
    local missing apt_line
    mapfile -t missing < <(missing_packages "$@")
    if [ ${#missing[@]} -eq 0 ]; then
        echo "      all there"
        return
    fi
    echo "      to install: ${missing[*]}"
    apt_line="apt-get install -y --no-install-recommends ${missing[*]}"
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
            as_root=(sudo)
        else
            die "Packages are missing, and there is neither root nor sudo to install them." \
                "Have somebody with root run this line, then run the command again:" "$apt_line"
        fi
    fi
    mkdir -p "$root/build"
    local log=$root/build/packages.log
    if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
        tail -n 15 "$log" >&2
        die "The packages could not be installed; the whole log is in build/packages.log."
    fi
}

# QEMU runs as a user of its own where we are root.
make_machine_user() {
    [ "$(id -u)" = 0 ] || return 0
    getent passwd dormouse-vm >/dev/null && return 0
    useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin dormouse-vm
    echo "      made the system user dormouse-vm, which machines run as"
}

# build PRESET TARGET...: configures where needed and builds; quiet but for progress and errors.
build() {
    local preset=$1
    shift
    local log=$root/build/$preset.log
    mkdir -p "$root/build"
    if [ ! -f "$root/build/$preset/build.ninja" ]; then
        (cd "$root" && cmake --preset "$preset") >"$log" 2>&1 || {
            tail -n 30 "$log" >&2
            die "cmake failed; the whole log is in build/$preset.log."
        }
    fi
    local targets=()
    if [ $# -gt 0 ]; then targets=(--target "$@"); fi
    if [ -t 1 ]; then
        cmake --build "$root/build/$preset" "${targets[@]}" 2>&1 | tee "$log" | show_ninja
    else
        cmake --build "$root/build/$preset" "${targets[@]}" >"$log" 2>&1
    fi || {
        grep -E -A12 'error:|FAILED' "$log" | head -n 60 >&2
        die "The build failed; the whole log is in build/$preset.log."
    }
}

# One line that is overwritten.
show_ninja() {
    local line
    while IFS= read -r line; do
        case $line in \[*) printf '\r\e[K      %.100s' "$line" ;; esac
    done
    printf '\r\e[K'
}
