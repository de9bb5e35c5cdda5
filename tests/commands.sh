# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # $build and more are set by lib.sh
# For suites that look at the sources: compiling them as the build does, but otherwise.

# Runs COMMAND on every source of a folder, once, with the options that the build has for it, and behind them these.
each_source() { # FOLDER COMMAND [OPTIONS]
    local command count=0 wrong=0
    while read -r command; do
        count=$((count + 1))
        (cd "$build" && eval "$2 ${command#* } ${3:-}") >> "$work/log" 2>&1 || wrong=$((wrong + 1))
    done < <(sed -n "s/^  \"command\": \"\(.* $(sed 's/[.\/]/\\&/g' <<< "$root/$1")\/.*\)\",\{0,1\}\$/\1/p" "$build/compile_commands.json" |
        sed 's/\\\(.\)/\1/g; s/ -o [^ ]* -c / /' | awk '!seen[$NF]++')
    [ $count -gt 0 ] && [ $wrong -eq 0 ] && [ ! -s "$work/log" ]
    ok $? "$count sources" "$(grep -E '(warning|error):' "$work/log" | sed "s|$root/||" | sort -u | head -n 5)"
    cat "$work/log"
}
