# SPDX-License-Identifier: Apache-2.0
# A shell from anywhere finds the screen.
export DISPLAY="${DISPLAY:-:0}"
