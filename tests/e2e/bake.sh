#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sees to it that the built-in template is baked in $DORMOUSE_TEMPLATES, which may be a cache
# that outlives this checkout: nothing is done when it is there already.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
home=$(mktemp -d /var/tmp/dormouse-bake-XXXXXX)
trap 'rm -rf "$home"' EXIT
DORMOUSE_HOME=$home "$DORMOUSE_BIN_DIR/dormoused" bake --source "$root"

# Earlier bakes: tests make their desktops from the newest only.
newest=$(readlink "$DORMOUSE_TEMPLATES/desktop")
for folder in "$DORMOUSE_TEMPLATES"/desktop-*; do
    if [ "$(basename "$folder")" != "$newest" ]; then rm -rf "$folder"; fi
done
