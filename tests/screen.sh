# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034 # the scripts that read this use what it sets
# For tests of the real window, read after lib.sh: an X server of the test's own; keys go in through xdotool; what the
# game says it does (--stats, renewed every second) and what is on the screen come out.
screen_width=1024 screen_height=768
game='' status='' speed=''

screen() {
    stats=$work/stats.json
    x_server ${screen_width}x$screen_height
}

stat() { # KEY: its value in the newest statistics
    value "$1" "$stats"
}

is() { [ -n "$2" ] && [ "$(stat "$1")" = "$2" ]; }
differs() { [ "$(stat "$1")" != "$2" ]; }
above() { awk -v a="$(stat "$1")" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 > b + 0) }'; }
moved() { # X Y: is the player over 16 units from there?
    awk -v x="$(stat player_x)" -v y="$(stat player_y)" -v a="$1" -v b="$2" \
        'BEGIN { exit !((x - a) ^ 2 + (y - b) ^ 2 > 256) }'
}
renewed() { # waits for statistics that are newer than now
    local now
    now=$(date +%s.%N)
    until_true 10 newer_than "$now"
}
newer_than() { [ -e "$stats" ] && awk -v a="$(date -r "$stats" +%s.%N)" -v b="$1" 'BEGIN { exit !(a > b) }'; }

speed_is() { # LEAST MOST: are so many frames shown in a second, between the next two statistics? That is speed then
    local frames from
    renewed
    frames=$(stat frames) from=$(date -r "$stats" +%s.%N)
    renewed
    speed=$(awk -v frames="$(($(stat frames) - frames))" -v from="$from" -v to="$(date -r "$stats" +%s.%N)" \
        'BEGIN { printf "%d", frames / (to - from) }')
    [ "$speed" -ge "$1" ] && [ "$speed" -le "$2" ]
}

leader() { # KEY: the leader key, then this one
    xdotool keydown grave key "$1" keyup grave
}
hold() { # KEY SECONDS
    xdotool keydown "$1"
    sleep "$2"
    xdotool keyup "$1"
}
shot() { import -window root "$work/$1.png"; }
shows() { until_true 5 shot_is "$@"; } # SHOT COMMAND ARG…: takes screenshots until COMMAND SHOT ARG… succeeds
shot_is() { shot "$1" && "$2" "$1" "${@:3}"; }
bright() { at_least "$(part "$1" "${screen_width}x$screen_height+0+0" maxima)" "$2"; } # SHOT LEAST
colourful() { [ "$(colours "$1")" -ge "$2" ]; } # SHOT LEAST
colours() { identify -format '%k' "$work/$1.png"; }
part() { # SHOT WIDTHxHEIGHT+X+Y FX-EXPRESSION: a figure of a part of a screenshot
    convert "$work/$1.png" -crop "$2" +repage -format "%[fx:$3]" info:
}
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }'; }

start() { # ARG…
    rm -f "$stats"
    "${window_program:-$build/neurodoom}" --stats "$stats" "$@" > "$work/log" 2>&1 < /dev/null &
    game=$!
}
ends() { # SECONDS: waits for the game to end; its status is in $status
    until_true "$1" gone || {
        status=hangs
        kill -9 "$game"
        wait "$game" 2> /dev/null
        game=
        return 1
    }
    wait "$game"
    status=$?
    game=
}
gone() { ! kill -0 "$game" 2> /dev/null; }
window() { xdotool search --onlyvisible --class neurodoom | head -n 1; }
window_there() { [ -n "$(window)" ]; }
