# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034 # the scripts that read this use what it sets
# What the suites have in common. A suite is a script, tests/SUITE/run BUILD_DIR [TEST…], that reads this file first, has
# a function test_TEST for each of its tests, and ends with run_tests. Each test runs in a shell of its own, in an empty
# folder ($work) with settings and caches of its own, and prints "ok WHAT" or "not ok WHAT" for each thing it looks at;
# in front of WHAT comes "SUITE TEST:". Random tests heed SEED, and EFFORT: how much to do, in per cent of the usual.
# KEEP=DIR keeps what a test leaves, as DIR/SUITE.TEST.
set -u

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$(cd "$(dirname "$0")" && pwd)
suite=${here##*/}
export NEURODOOM_TRANSLATE_BEHIND=off # no test leaves a process behind
build=$(realpath "${1:?usage: $0 BUILD_DIR [TEST…]}")
tests=("${@:2}") # or --list
wads=/usr/share/games/doom
seed=${SEED:-1}
engines=interp
[ -e "$build/translate_llvm.so" ] && engines='interp translate'

ok() { # STATUS WHAT [DETAIL, for a failure]
    if [ "$1" -eq 0 ]; then
        echo "ok $2"
    else
        echo "not ok $2${3:+ ($3)}"
    fi
}

succeeds() { # WHAT COMMAND…
    "${@:2}" > "$work/succeeds.log" 2>&1
    ok $? "$1" "$(tail -n 3 "$work/succeeds.log" | tr '\n' ' ')"
}

# A program that says itself what is ok: it has to say something, and why it fails if it does.
tells() { # COMMAND…
    "$@" > "$work/tells.log"
    local status=$?
    cat "$work/tells.log"
    if [ $status -eq 0 ]; then
        grep -q '^ok ' "$work/tells.log"
    else
        grep -q '^not ok ' "$work/tells.log"
    fi || ok 1 "${1##*/} ends by itself" "status $status"
}

# The value of a counter or setting in a file of --stats.
value() { # KEY [FILE]
    sed -n "s/^[[:space:]]*\"$1\":[[:space:]]*\"\{0,1\}\([^,\"]*\)\"\{0,1\},\{0,1\}\$/\1/p" "${2:-$work/stats.json}" 2> /dev/null
}

# Waits for it to succeed: the seconds that it may take, four times, for other programs may be in the way.
until_true() { # SECONDS COMMAND…
    local deadline=$((SECONDS + 4 * $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $deadline ] || return 1
        sleep 0.1
    done
}

# An X server of the test's own, as DISPLAY, which is the first that is free. -noreset: a server that starts anew whenever
# its last client has gone refuses one that comes just then (337 of 2000, one behind the other, on a busy machine).
x_server() { # WIDTHxHEIGHT
    exec 3> display
    Xvfb -displayfd 3 -noreset -screen 0 "$1x24" -nolisten tcp > xvfb.log 2>&1 &
    exec 3>&-
    until_true 20 test -s display || stop "Xvfb does not start: $(tail -n 1 xvfb.log)"
    DISPLAY=:$(cat display)
    export DISPLAY
    unset WAYLAND_DISPLAY SDL_VIDEODRIVER
}

# COUNT, or what EFFORT makes of it.
effort() { # COUNT
    echo $(($1 * ${EFFORT:-100} / 100))
}

# Ends the test, which fails.
stop() { # REASON
    reason=$1
    exit 1
}

# The project's files that match, new ones among them.
sources() { # [PATTERN…]
    git -C "$root" ls-files -co --exclude-standard -- "$@" | while read -r file; do
        [ ! -f "$root/$file" ] || echo "$root/$file"
    done
}

has_translator() {
    [ "$engines" != interp ] || { echo 'ok this build has no translator' && false; }
}

# Programs of tests/CMakeLists.txt. Tests run side by side, and the build folder bears one build at a time.
needs() { # TARGET…
    flock "$build/tests.lock" cmake --build "$build" --target "$@" > "$work/build.log" 2>&1 && return
    stop "building $*: $(grep -m 3 -iE 'error|FAILED' "$work/build.log" | tr '\n' ' ')"
}

run_test() { # TEST
    sandbox=${KEEP:+$(realpath -m "$KEEP")/$suite.$1}
    sandbox=${sandbox:-$(mktemp -d -p "${SANDBOXES:-${TMPDIR:-/tmp}}")}
    trap 'ended $?' EXIT
    work=$sandbox/work # apart from the caches: no guest is granted a folder that holds them
    export HOME=$sandbox/home XDG_CACHE_HOME=$sandbox/cache XDG_CONFIG_HOME=$sandbox/config
    export XDG_DATA_HOME=$sandbox/data XDG_STATE_HOME=$sandbox/state
    unset NEURODOOM_CONFIG NEURODOOM_GUEST DOOMWADDIR DOOMWADPATH XDG_DATA_DIRS
    export NEURODOOM_PREPARED= # what is tested is compiled by the test
    mkdir -p "$work" "$HOME" && cd "$work" || exit
    "test_$1"
    finished=yes
}

ended() { # STATUS
    [ -n "${finished:-}" ] || echo "not ok it stops: ${reason:-status $1}"
    # shellcheck disable=SC2046 # a list of numbers
    kill $(jobs -pr) 2> /dev/null
    [ -n "${KEEP:-}" ] || rm -rf "$sandbox"
}

list_tests() {
    local files=("$here"/*.sh "$here/run")
    sed -n 's/^test_\([a-z0-9_]*\)() .*/\1/p' "${files[@]}" 2> /dev/null
}

run_tests() {
    if [ "${tests[*]}" = --list ]; then
        list_tests
        return
    fi
    [ ${#tests[@]} -gt 0 ] || mapfile -t tests < <(list_tests)
    for current_test in "${tests[@]}"; do
        (run_test "$current_test") | awk -v name="$suite $current_test" '
            sub(/^ok /, "ok " name ": ") || sub(/^not ok /, "not ok " name ": ") { n++ }
            { print; fflush() }
            END { if (!n) print "not ok " name ": it ends without a word" }'
    done
}
