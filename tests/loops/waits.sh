# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # $oracle and more are set by run, which reads this
# Loops that poll words of the device page: with a real clock they give their time back, and nothing that the guest
# can see is different. The guest is polls.c.

polls_guest() {
    needs_oracle
    aarch64-linux-gnu-gcc -O2 -static -o polls "$here/polls.c" || stop 'polls.c does not build'
    export NEURODOOM_GUEST=$work/polls
}

# Leaves output in out and err, the counters in stats, the exit status in $status, all of it as a line in $detail.
polls() { # MODE PROGRAM ENGINE ARG…
    local mode=$1 program=$2 engine=$3
    shift 3
    rm -f stats.json
    timeout 60 "$oracle/$program" --headless --clock real --engine "$engine" -iwad "$wads/freedoom1.wad" \
        --stats stats.json "$@" -pack "$mode" > out 2> err < /dev/null
    status=$?
    detail="status $status, $(tr '\n' ' ' < out)idle $(milliseconds idle_ms) ms, emulating $(milliseconds emulating_ms) ms: $(grep -m 1 . err)"
}
milliseconds() { # KEY
    value "$1" | cut -d . -f 1
}
is_idle() { [ "$(milliseconds idle_ms)" -gt 0 ]; }
is_mostly_idle() { [ "$(milliseconds idle_ms)" -gt "$(milliseconds emulating_ms)" ]; }
# As polls; on a busy machine the loop may be over before it has been examined: the next run knows it sooner.
polls_until() { # CONDITION MODE PROGRAM ENGINE
    for _ in 1 2 3 4 5; do
        polls "${@:2}"
        $1 && return 0
    done
    return 1
}

waits() { # ENGINE
    local engine=$1 switch plainly idle
    polls_guest
    polls clock neurodoom_oracle interp --neural off
    cp out plain
    polls fault neurodoom_oracle interp --neural off
    head -n 3 err > plain.fault # behind it come registers, which hold times
    [ "$status" -eq 4 ] && grep -q 'done' plain && ! grep -q soon plain
    ok $? "the guest that polls runs plainly" "$detail"

    polls_until is_mostly_idle clock neurodoom_oracle "$engine" && [ "$status" -eq 0 ] && cmp -s out plain
    ok $? "who polls the clock is idle most of the time, and computes the same" "$detail"
    polls clock neurodoom_oracle "$engine"
    [ "$status" -eq 0 ] && cmp -s out plain && is_mostly_idle
    ok $? "in the next run, too" "$detail"
    polls clock neurodoom_oracle "$engine" --verify
    [ "$status" -eq 0 ] && cmp -s out plain && is_idle && [ "$(value verify_failures)" = 0 ]
    ok $? "and with --verify, which finds nothing" "$detail"
    for switch in idle loops; do
        polls clock neurodoom_oracle "$engine" --opt $switch=off
        [ "$status" -eq 0 ] && cmp -s out plain && [ "$(milliseconds idle_ms)" = 0 ]
        ok $? "not with --opt $switch=off" "$detail"
    done
    polls_until is_idle input neurodoom_posting "$engine" && grep -q 'event 3' out && [ "$(value credited)" = 0 ]
    ok $? "an event ends the wait for one, and nothing is credited" "$detail"
    polls_until is_idle fault neurodoom_oracle "$engine" && [ "$status" -eq 4 ] && grep -q 'now it faults' out &&
        head -n 3 err | cmp -s - plain.fault
    ok $? "a loop that would wait faults as the plain one" "$detail"
    polls steps neurodoom_oracle "$engine" --clock virtual --opt loops=off
    plainly=$(value retired)
    for idle in on off; do
        polls steps neurodoom_oracle "$engine" --clock virtual --opt idle=$idle
        [ "$status" -eq 0 ] && [ "$(milliseconds idle_ms)" = 0 ] && [ "$(value retired)" = "$plainly" ]
        ok $? "virtual clock: idle=$idle changes nothing" "$detail, $(value retired) retired, not $plainly"
    done
}
test_waits_translate() { ! has_translator || waits translate; }
test_waits_interp() { waits interp; }

test_endless_wait() {
    polls_guest
    timeout --preserve-status -s TERM 1 "$oracle/neurodoom_oracle" --headless --clock real -iwad "$wads/freedoom1.wad" \
        -pack end > out 2> err < /dev/null
    status=$?
    [ $status -eq 130 ]
    ok $? "a wait that never ends ends with the program" "status $status"
}
