#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ./dormouse test [--long] [--only checks|unit|e2e] [--base REVISION]
#
#   checks   layers, sizes, formatting; clang-tidy on the sources that differ from --base (default: the parent commit)
#   unit     unit tests and fuzz replays under asan+ubsan, the threaded ones under tsan
#   e2e      bakes the template where needed, then the end-to-end tests on real desktops
#   --long   also the long runs (tests that set DORMOUSE_LONG)
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
# shellcheck source=tools/bootstrap.sh
source "$root/tools/bootstrap.sh"
cd "$root"

only='' base=''
while [ $# -gt 0 ]; do
    case $1 in
        --long) export DORMOUSE_LONG=1 ;;
        --only) only=${2:-}; shift ;;
        --base) base=${2:-}; shift ;;
        -h | --help) sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) die "unknown argument: $1" "see: ./dormouse test --help" ;;
    esac
    shift
done
case $only in '' | checks | unit | e2e) ;; *) die "--only takes checks, unit or e2e" ;; esac
wanted() { [ -z "$only" ] || [ "$only" = "$1" ]; }

cores=$(nproc)
failed=()

# Runs ctest in a build folder; goes on after a failure, so that one run tells all.
run_ctest() {
    local preset=$1
    shift
    ctest --test-dir "build/$preset" --output-on-failure --no-tests=error "$@" || failed+=("ctest in build/$preset")
}

run_checks() {
    python3 tools/check_layers.py || failed+=(layers)
    python3 tools/check_sizes.py || failed+=(sizes)
    python3 tools/check_coroutines.py || failed+=(coroutines)
    # Debian 12's version is the one that counts: others format differently.
    git ls-files '*.h' '*.cpp' | xargs -r clang-format-14 --dry-run -Werror || failed+=(formatting)
}

# What changed against the base, or everything where there is no base to compare with.
changed_sources() {
    local against=${base:-HEAD~1}
    if git rev-parse -q --verify "$against^{commit}" >/dev/null; then
        git diff --name-only --diff-filter=d "$against" -- '*.cpp' ':!tests'
    fi
}

run_tidy() {
    local sources
    mapfile -t sources < <(changed_sources)
    if [ ${#sources[@]} -eq 0 ]; then echo "      nothing changed"; return; fi
    printf '%s\n' "${sources[@]}" | xargs -P "$cores" -n 4 clang-tidy-14 --quiet -p build/release --extra-arg=-Wno-unknown-warning-option 2>/dev/null \
        || failed+=(clang-tidy)
}

step_total=0
if wanted checks; then step_total=$((step_total + 2)); fi
if wanted unit; then step_total=$((step_total + 2)); fi
if wanted e2e; then step_total=$((step_total + 1)); fi
step_total=$((step_total + 2))

step "Packages"
install_packages "${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}"
make_machine_user
if wanted checks; then
    step "Checks: layers, sizes, formatting"
    run_checks
fi
step "Release build, warnings are errors"
build release dormoused dormouse dormouse-keeper dormouse-netd dormouse-guestd
if wanted checks; then
    step "clang-tidy on what changed"
    run_tidy
fi
if wanted unit; then
    step "Unit tests and fuzz replays under asan and ubsan"
    build asan
    run_ctest asan -j "$cores"
    step "Threaded tests under tsan"
    build tsan unit_base unit_display unit_wsio unit_api
    TSAN_OPTIONS="suppressions=$root/tests/tsan.supp halt_on_error=1" run_ctest tsan -j "$cores" -R '^(EventLoop|WorkPool|Task|Completion|Cancel|Http|Loop|Screen|Still|Framebuffer|DbusSource|Api)'
fi
if wanted e2e; then
    step "End-to-end tests on real desktops (bakes the template first)"
    # A second try for a desktop that an emulated processor was too busy for; the first failure stays in the output.
    run_ctest release -L e2e --repeat until-pass:2
fi
step_end
if [ ${#failed[@]} -gt 0 ]; then
    die "Failed: ${failed[*]}"
fi
echo "${bold}Everything passed.${plain}"
