# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Stops unless the game is prepared for that build, as ./play looks at it: what an older one has left is not used.
needs_prepared() { # BUILD_DIR
    [ -n "$(find "$1/lib/neurodoom/prepared/complete" -newer "$1/translate_llvm.so" -newer "$1/guest/doom.aarch64" 2> /dev/null)" ] || {
        echo "${0##*/}: the game is not prepared for $1: run $1/neurodoom --prepare" >&2
        exit 1
    }
}
