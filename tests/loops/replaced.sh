# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # $oracle and more are set by run, which reads this
# Replaced loops in whole programs: frames, counters, faults, switches thrown in mid-run, and replacements that are
# wrong, which --verify has to find.

# Each run leaves NAME.frames, NAME.stats and NAME.err, and its exit status in $status.
game() { # NAME PROGRAM ENGINE WAD:DEMO, then what follows on the command line
    local name=$1 program=$2 engine=$3 wad=${4%:*} demo=${4#*:}
    shift 4
    timeout 3600 "$program" --headless --engine "$engine" -iwad "$wads/$wad.wad" -timedemo "$demo" \
        --frame-hash "$name.frames" --stats "$name.stats" "$@" > "$name.out" 2> "$name.err" < /dev/null
    status=$?
}
counted() { # NAME: retired and credited together
    echo $(($(value retired "$1.stats") + $(value credited "$1.stats")))
}

# The run NAME is like the one called off, but for the instructions that are credited.
same_game() { # NAME WHAT
    local credited
    credited=$(value credited "$1.stats")
    [ $status -eq 0 ]
    ok $? "$2: ends well" "status $status: $(tail -n 1 "$1.err")"
    cmp -s off.frames "$1.frames"
    ok $? "$2: the same $(wc -l < off.frames) frames" "first difference: $(diff off.frames "$1.frames" | sed -n 2p)"
    [ "$(counted "$1")" = "$(counted off)" ] && [ "$credited" -gt 0 ]
    ok $? "$2: $((100 * credited / $(counted off))) % credited, together exactly what is retired without" \
        "$(counted "$1") of which $credited, not $(counted off)"
}

play_demo() { # ENGINE WAD:DEMO, then what follows on the command line
    local engine=$1 demo=$2
    shift 2
    rm -rf "$XDG_CACHE_HOME"
    game off "$oracle/neurodoom_oracle" "$engine" "$demo" --opt loops=off "$@"
    rm -rf "$XDG_CACHE_HOME"
    game on "$oracle/neurodoom_oracle" "$engine" "$demo" --opt loops=on "$@"
    same_game on "cold cache"
    game on "$oracle/neurodoom_oracle" "$engine" "$demo" --opt loops=on "$@"
    same_game on "warm cache"
    # 64000 bytes, 64 a round; until the code is translated, nothing is replaced by the translator.
    if [ "$engine" = interp ]; then
        awk -F '[":,[:space:]]+' -v frames="$(wc -l < off.frames)" '
            $2 == "function" { copies = $3 ~ /memcpy/ }
            $2 == "iterations" && copies { rounds += $3 }
            END { exit rounds < 900 * frames }' on.stats
        ok $? "the copy of each frame to the device is replaced"
    fi
    game verified "$oracle/neurodoom_oracle" "$engine" "$demo" --opt loops=on --verify "$@"
    same_game verified "every entry checked"
    [ "$(value verify_failures verified.stats)" = 0 ] && ! grep -q 'differs from the loop' verified.err
    ok $? "no check finds a difference" "$(grep -m 1 'differs from' verified.err)"
    game on "$build/neurodoom" "$engine" "$demo" --opt loops=on --verify "$@"
    same_game on "the nets propose, every entry checked"
}

# 500 frames of one; DEMOS names others, as WAD:DEMO or all, which are played to their end.
replaced_demos() { # ENGINE
    local demo demos=${DEMOS:-} frames=()
    needs_oracle
    export NEURODOOM_GUEST=$build/guest/doom.aarch64
    "$oracle/neurodoom_oracle" --headless -iwad "$wads/freedoom1.wad" --frames 1 > /dev/null 2>&1 # writes the game's settings
    [ "$demos" != all ] || demos='freedoom1:demo1 freedoom1:demo2 freedoom1:demo3 freedoom1:demo4
        freedoom2:demo1 freedoom2:demo2 freedoom2:demo3'
    [ -n "$demos" ] || demos=freedoom1:demo3 frames=(--frames 500)
    for demo in $demos; do
        play_demo "$1" "$demo" "${frames[@]}"
    done
    [ -n "${DEMOS:-}" ] || switched_and_wrong "$1"
}
test_replaced_translate() { ! has_translator || replaced_demos translate; }
test_replaced_interp() { replaced_demos interp; }

# Of what a wrong replacement stores, the first byte is another.
difference='s/.*the replacement of the loop at 0x[0-9a-f]* ([A-Za-z_0-9]*+0x[0-9a-f]*, [a-z -]*) differs from the loop: the byte at \(0x[0-9a-f]*\) is \(0x[0-9a-f]*\), not 0x[0-9a-f]*; it is switched off$/\1 \2/p'
switched_and_wrong() { # ENGINE
    local engine=$1
    game switched "$oracle/neurodoom_switching" interp freedoom1:demo3 --frames 500
    same_game switched 'loops and engine switched all the time'
    game wrong "$oracle/neurodoom_wrong" "$engine" freedoom1:demo3 --opt loops=on --frames 500
    ! cmp -s off.frames wrong.frames
    ok $? "wrong replacements: unchecked, they show"
    game wrong "$oracle/neurodoom_wrong" "$engine" freedoom1:demo3 --opt loops=on --frames 500 --verify
    [ $status -eq 5 ]
    ok $? "wrong replacements: neurodoom ends with status 5" "status $status"
    cmp -s off.frames wrong.frames
    ok $? "wrong replacements: checked, the frames are the same"
    # What is spoiled may be repaired by the iterations that are left: then nothing differs.
    sed -n 's/^wrong_plan: //p' wrong.err | sort -u > spoiled
    sed -n "$difference" wrong.err | sort -u > named
    [ -s named ] && [ -z "$(comm -13 spoiled named)" ]
    ok $? "wrong replacements: the log names $(wc -l < named) loops and bytes" "$(grep -m 1 'differs from' wrong.err)"
}

# ---- any program: loops that run into a page where they may not ----

replaced_loops='fill fill_down copy copy_down column map sum length find compare short_map short_increase short_copy short_column'
faults_program() {
    needs_oracle
    aarch64-linux-gnu-gcc -O1 -static -o faults "$here/faults.c" || stop 'faults.c does not build'
    mkdir granted # apart from the cache
}

# Whether the loop has been replaced, by the engine's own means; long ones are left to kernels before anything is
# translated. What is checked is translated in each run.
is_replaced() { # LOOP ENGINE
    local regions=cached_regions
    [ "$(value credited)" -gt 0 ] || return
    [ -z "$verify" ] || regions=translated_regions
    case "$2 $1" in 'translate short_'*) [ "$(value $regions)" -gt 0 ] ;; esac
}

# A loop may be over before it has been examined, or translated: the next run knows it sooner.
run_faults() { # WHICH ENGINE ARG…: faults' output in out and err, its counters in stats; status in $status
    local which=$1 engine=$2
    shift 2
    for _ in 1 2 3 4 5 6 7 8; do
        "$oracle/a64run_$which" --engine "$engine" --dir granted --opt loops=on --models "$oracle/models" --stats stats.json \
            $verify ./faults "$@" > out 2> err
        status=$?
        is_replaced "$1" "$engine" && break
    done
}

test_faults() {
    local faults=0 wrong='' loop verify engine
    faults_program
    for loop in $replaced_loops; do
        rm -rf "$XDG_CACHE_HOME" # of the loop before
        qemu-aarch64 ./faults "$loop" > expected 2> /dev/null
        faults=$((faults + $(grep -c signal expected)))
        for engine in $engines; do
            for verify in '' --verify; do
                run_faults oracle "$engine" "$loop"
                [ $status -eq 0 ] && cmp -s out expected || wrong="$wrong $engine $loop $verify: $(diff out expected | head -n 2 | tail -n 1);"
                is_replaced "$loop" "$engine" || wrong="$wrong $engine: $loop is not replaced;"
                [ "$(value verify_failures)" = 0 ] || wrong="$wrong $engine $loop: $(head -n 1 err);"
            done
        done
    done
    [ -z "$wrong" ]
    ok $? "$faults faults of $(wc -w <<< "$replaced_loops") replaced loops are those of the plain loops" "$wrong"
}

# Without a handler the loop is translated. What is said of the fault comes from the plain loop. (Where the host loads,
# adds and stores in one instruction, it says of a fault that it was the store's: so does the report, of increase.)
test_fault_reports() {
    local wrong='' loop place verify
    has_translator || return 0
    faults_program
    for loop in ${replaced_loops/short_increase/}; do
        rm -rf "$XDG_CACHE_HOME" # of the loop before
        for place in 0 5; do
            "$build/a64run" --engine interp ./faults "$loop" $place > /dev/null 2> expected
            for verify in '' --verify; do
                run_faults oracle translate "$loop" $place
                [ $status -eq 139 ] && cmp -s err expected || wrong="$wrong $loop $place $verify: status $status, $(head -n 1 err);"
                is_replaced "$loop" translate || wrong="$wrong $loop $place is not replaced;"
            done
        done
    done
    [ -z "$wrong" ]
    ok $? "faults of replaced loops in translated code are reported as those of the plain loops" "$wrong"
}

test_wrong_program() {
    local engine verify
    faults_program
    verify=--verify
    for engine in $engines; do
        run_faults wrong "$engine" column
        [ $status -eq 125 ] && grep -q 'the loop at 0x[0-9a-f]* (column+0x8, column look-up) differs from the loop: the byte at 0x5000' err
        ok $? "$engine, a wrong replacement: a64run ends with status 125" "status $status: $(head -n 1 err)"
    done
}

# ---- columns and spans, several iterations of which translated code does at once where the host can ----

test_lookups() {
    local run wrong='' dump=()
    has_translator || return 0
    needs_oracle
    aarch64-linux-gnu-gcc -O2 -static -o lookups "$here/lookups.c" "$here/plan_stores.c" || stop 'lookups.c does not build'
    mkdir granted dump
    qemu-aarch64 ./lookups > expected
    for run in {1..10}; do
        NEURODOOM_DUMP=$work/dump "$oracle/a64run_oracle" --dir granted --opt loops=on --models "$oracle/models" \
            --stats stats.json ./lookups > out
        cmp -s out expected || wrong="$wrong run $run: $(diff expected out | sed -n 2p);"
        [ "$(value cached_regions)" -ge 5 ] && break
    done
    [ -z "$wrong" ] && [ "$(wc -l < expected)" -eq 20 ] && [ "$(value cached_regions)" -ge 5 ] && [ "$(value credited)" -gt 0 ]
    ok $? "20 sums of what columns and spans draw, $run runs" "$wrong $(wc -l < expected) sums, $(value cached_regions) regions"
    grep -qw avx512vbmi /proc/cpuinfo || return 0
    dump=(dump/*.optimized.ll)
    ok $(($(grep -l vpermi2var "${dump[@]}" | wc -l) < 5)) "all five draw by look-ups in vector registers"
}
