# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Part of tests/frontend/run: --prepare, and who takes what it made.

demo_run() { # NAME [kept]: with no cache of its own, or with what there is
    [ "${2:-}" = kept ] || rm -rf "$XDG_CACHE_HOME"
    run --headless --engine translate -iwad "$work/game.wad" -timedemo demo1 --frame-hash "$work/$1.frames" --stats "$work/stats.json"
    cmp -s "$work/native" "$work/$1.frames" || wrong="$wrong $1: status $status, frames differ;"
}

test_prepare() {
    local wrong="" file pid
    begin
    [ "$engines" != interp ] || { ends 1 "--prepare without a translator" 'no translator' --prepare && return; }
    # A game with one demo is prepared sooner.
    sed 's/DEMO\([2-4]\)\x00\x00\x00/NONE\1\x00\x00\x00/g' "$resolved" > "$work/game.wad"
    (cd "$work" && "$build/guest/doom.native" -iwad game.wad -timedemo demo1 -framehash native > /dev/null 2>&1)
    export NEURODOOM_PREPARED=$work/prepared

    "$neurodoom" --prepare -iwad "$work/game.wad" 2> "$work/err" &
    pid=$!
    until_true 20 grep -q 'round 1' "$work/err"
    kill -INT $pid
    wait $pid
    [ $? -eq 130 ]
    ok $? "--prepare ends at Ctrl-C"

    mkdir -m 755 "$work/open"
    NEURODOOM_PREPARED=$work/open ends 1 "--prepare where nothing can be kept" 'nothing is kept in' --prepare

    [ ! -e "$work/prepared/complete" ] || wrong=" what was interrupted counts as complete;"
    ends 0 "--prepare" 'pieces of code are kept in' --prepare -iwad "$work/game.wad"
    [ -e "$work/prepared/complete" ] || wrong="$wrong what has ended does not;"
    demo_run first
    [ -z "$wrong" ] && [ "$(value compile_ms)" = 0 ] && [ "$(value cached_regions)" -gt 200 ]
    ok $? "the first run of a game that was prepared compiles nothing" "$wrong $(grep regions "$work/stats.json")"

    NEURODOOM_PREPARED='' demo_run before
    demo_run later kept
    [ -z "$wrong" ] && [ "$(value compile_ms)" = 0 ] && [ "$(value cached_regions)" -gt 200 ]
    ok $? "so does a run of a player who has played before" "$wrong $(grep regions "$work/stats.json")"

    wrong=
    chmod 777 "$work/prepared"
    demo_run open
    [ "$(value cached_regions)" = 0 ] || wrong="$wrong a folder that others may write in is used;"
    chmod 755 "$work/prepared"
    chmod 666 "$work"/prepared/*
    demo_run writable
    [ "$(value cached_regions)" = 0 ] || wrong="$wrong a file that others may write is used;"
    chmod 644 "$work"/prepared/*
    demo_run readable
    [ "$(value cached_regions)" -gt 200 ] || wrong="$wrong a folder of the system's is not used;"
    for file in "$work"/prepared/*.code; do
        printf 'X' | dd of="$file" bs=1 seek=150000 conv=notrunc 2> /dev/null
    done
    demo_run damaged
    for file in "$work"/prepared/*.code; do
        rm "$file" && mkfifo "$file"
    done
    demo_run pipe
    [ -z "$wrong" ]
    ok $? "what was prepared is used only if nobody else may have written it, and harmless if it is damaged" "$wrong"
}
