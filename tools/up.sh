#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `./dormouse up`, sourced by ./dormouse after tools/bootstrap.sh.

cli() { "$bin/dormouse" "$@"; }

start_daemon() {
    if cli ping >/dev/null 2>&1; then
        echo "      running already"
        return
    fi
    local home log
    home=$(cli where home)
    log=$(cli where log)
    mkdir -p "$home"
    # A session of its own: it goes on when this terminal is closed.
    setsid "$bin/dormoused" >>"$log" 2>&1 </dev/null &
    local pid=$!
    # It serves once it has found out what became of the desktops of last time.
    for _ in $(seq 600); do
        if cli ping >/dev/null 2>&1; then return; fi
        if ! kill -0 "$pid" 2>/dev/null; then break; fi
        sleep 0.1
    done
    tail -n 5 "$log" >&2
    die "The daemon did not start; its log is $log."
}

# Prints the name of the desktop to show: the first there is, made when there is none.
# Called in a substitution, where bash does not end at the first failure by itself.
need_desktop() {
    local names name
    names=$(cli list --names) || return 1
    name=${names%%$'\n'*}
    if [ -z "$name" ]; then
        name=main
        cli create "$name" >/dev/null || return 1
    else
        cli start "$name" --wait >&2 || return 1
    fi
    echo "$name"
}

up_main() {
    if [ $# -gt 0 ]; then die "up takes no arguments: $*"; fi
    step_total=6
    step "Packages"
    install_packages "${build_packages[@]}" "${run_packages[@]}"
    make_machine_user
    step "Build (a few minutes the first time)"
    build release dormoused dormouse dormouse-keeper dormouse-netd dormouse-guestd
    step "Template: Debian, XFCE and Chromium, booted once (some minutes the first time)"
    "$bin/dormoused" bake --source "$root"
    step "Daemon"
    start_daemon
    step "Desktop"
    local name
    name=$(need_desktop) || die "There is no desktop to show; what is wrong: ./dormouse doctor"
    step "Ready"
    step_text=''
    local token url
    token=$(cli where token)
    url=$(cli where url)
    cat <<READY

  Desktop   $name
  Link      $url/desktops/$name#token=$(cat "$token")
  Token     $token

  Paste these to click, type and take a screenshot:

  curl -s -H "Authorization: Bearer \$(cat $token)" $url/v1/desktops/$name/actions --json '{"action":"left_click","coordinate":[640,400]}'
  curl -s -H "Authorization: Bearer \$(cat $token)" $url/v1/desktops/$name/actions --json '{"actions":[{"action":"key","text":"ctrl+l"},{"action":"type","text":"naïve 日本語 🦔"}],"screenshot":"settled"}' -o /dev/null
  curl -s -H "Authorization: Bearer \$(cat $token)" $url/v1/desktops/$name/screenshot -o screenshot.png

  Stop everything: ./dormouse down
READY
}
