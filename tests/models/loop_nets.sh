# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # $tool, $models and more are set by run, which reads this
# The loop nets: shapes and gradients, what they are shipped to know, damaged files, training and fine-tuning.

test_loop_nets() {
    needs loop_nets_test
    tells "$build/loop_nets_test" "$models" "$data/loops-seed.txt"
    at_least loop-detector type 97
    at_least loop-detector 'counter register' 96
    at_least pattern-recognizer class 94
    at_least iteration-predictor 'trips within 2x' 80
    succeeds "info shows the loop nets" sh -c "'$tool' info --models '$models' > info &&
        grep -q 'count *1083397' info && grep -q 'count *508161' info && grep -q 'count *25473' info"
}

at_least() { # NET ROW PERCENT: of the loops of real programs
    local share
    share=$("$tool" eval "$1" --models "$models" --data "$data/loops-doom.txt" "$data/loops-programs.txt" |
        awk -v row="$2" '/^real /{on = 1} on && index($0, row) == 1 {print $(NF - 2); exit}')
    awk -v a="${share:-0}" -v b="$3" 'BEGIN {exit !(a >= b)}'
    ok $? "$1: $2 right in at least $3 % of the loops of DOOM, Lua and bzip2" "${share:-no} %"
}

test_loop_damaged_files() {
    local npy json eval=("$tool" eval pattern-recognizer --models bad --data "$data/loops-seed.txt")
    npy=bad/pattern-recognizer.npy json=bad/pattern-recognizer.json
    fresh pattern-recognizer && truncate -s -2 "$npy"
    refused 'loop net: a truncated file' 'truncated' "${eval[@]}"
    fresh pattern-recognizer && printf '\0\0' >> "$npy"
    refused 'loop net: a file with something behind' 'too long' "${eval[@]}"
    fresh pattern-recognizer && printf '\0\176' | dd of="$npy" bs=1 seek=4096 conv=notrunc 2> /dev/null
    refused 'loop net: a NaN' 'nan' "${eval[@]}"
    fresh pattern-recognizer && printf '\1' | dd of="$npy" bs=1 seek=4096 conv=notrunc 2> /dev/null
    refused 'loop net: one changed byte' 'sha' "${eval[@]}"
    fresh pattern-recognizer && rm "$json"
    refused 'loop net: no JSON' 'json' "${eval[@]}"
    fresh pattern-recognizer && rm "$npy"
    refused 'loop net: no weights' 'npy' "${eval[@]}"
    fresh pattern-recognizer && cp "$models/loop-detector.npy" "$npy" && cp "$models/loop-detector.json" "$json"
    refused 'loop net: another model' 'another net' "${eval[@]}"
    printf 'loops 1\nFILL UP\n' > bad.txt
    "$tool" eval pattern-recognizer --models "$models" --data bad.txt > out 2>&1
    succeeds "a damaged file of loops is refused with its line" [ $? -eq 1 -a "$(grep -c 'bad.txt' out)" = 1 ]
}

train_loops() { # NET BASE OPTION...
    local net=$1 base=$2
    shift 2
    "$tool" train "$net" --models "$models" --out $base --data few.txt --epochs 1 --fresh "$@" \
        > $base.log 2>&1
}

test_loop_training() {
    local net
    # Some of the one generated program there stand for another one: training wants to validate.
    awk 'NR > 1 && NR % 6 == 0 {$8 = "gen-014"} NR == 1 || NR % 2 {print} NR > 1 && NR % 6 == 0 {print}' "$data/loops-seed.txt" > few.txt
    for net in loop-detector pattern-recognizer iteration-predictor; do
        train_loops $net once && train_loops $net twice && train_loops $net other --seed 2
        succeeds "$net: training repeats itself, byte for byte" cmp once.npy twice.npy
        succeeds "$net: another seed, other weights" sh -c "! cmp -s '$work/once.npy' '$work/other.npy'"
    done
}

test_fine_tuning() {
    needs loop_nets_test
    mkdir online
    "$tool" train --online online --models "$models" > out 2>&1
    succeeds "fine-tuning without a log says so" [ $? -eq 1 -a "$(grep -c 'online.loops' out)" = 1 ]
    # Loops as a machine logs them: the class alone, from which it follows what else can be said.
    awk 'NR > 1 {$2 = "NONE"; $3 = 31; $4 = 0; $5 = $6 = $7 = 1; $8 = "online"; $9 = $10 = "-"} NR == 1 || NR % 8 == 2' "$data/loops-seed.txt" \
        > "$work/online/online.loops"
    "$tool" train --online online --models "$models" > out 2>&1
    succeeds "fine-tuning leaves three nets that load" \
        sh -c "'$build/loop_nets_test' online '$data/loops-seed.txt' > said && grep -q '^ok a batch says' said"
    succeeds "what fine-tuning keeps is not worse on the test data" not_worse
    mkdir lies
    awk 'NR > 1 && $1 != "NONE" {$1 = $1 == "SCAN" ? "SEARCH" : "SCAN"} {print}' "$work/online/online.loops" > "$work/lies/online.loops"
    "$tool" train --online lies --models "$models" > out 2>&1
    succeeds "what fine-tuning makes worse is dropped" cmp -s "$work/lies/pattern-recognizer.npy" "$models/pattern-recognizer.npy"

    # Tuned nets in the cache folder.
    cat > hot.c << 'END'
static volatile unsigned sum;
int main(void)
{
    static unsigned char a[4096];
    for (unsigned k = 0; k < 20000; k++) {
        unsigned s = 0;
        for (unsigned i = 0; i < sizeof a; i++)
            s += a[i];
        sum = s;
    }
    return 0;
}
END
    aarch64-linux-gnu-gcc -O1 -static -o hot hot.c
    if [ -e "$build/translate_llvm.so" ]; then
        mkdir tuned
        cp "$work/online/"*.json "$work/online/"*.npy tuned
        succeeds "tuned nets in the cache folder are asked" replaces -
        printf x | dd of="$work/tuned/pattern-recognizer.npy" bs=1 seek=5000 conv=notrunc 2> /dev/null
        succeeds "if they are damaged, the shipped ones" replaces 'pattern-recognizer.npy: damaged'
        cp "$models/"*.json "$models/"*.npy tuned
        succeeds "and if they were tuned from others" replaces 'they were tuned from others'
    fi
}

not_worse() {
    ! grep -q '"tuned":true' out || awk -F'"' '/"tuned":true/ {
        for (i = 1; i < NF; i++) {
            if ($i == "test_as_shipped") where = "before"
            if ($i == "test_tuned") where = "after"
            if ($i == "online_as_shipped") where = ""
            if (where && $i ~ /^(type|counter|class|trips_within_2x)$/) value[where $i] = $(i + 1)
        }
        for (k in value) if (k ~ /^before/) {
            after = value["after" substr(k, 7)]; sub(/^:/, "", after); before = value[k]; sub(/^:/, "", before)
            if (after + 0 < before + 0) exit 1
        }
    }' out
}

replaces() { # WHAT THE LOG SAYS OF THE NETS, - for nothing: in a first run with what is in $work/tuned
    local said
    rm -rf xdg
    mkdir -p "$work/xdg/neurodoom" granted
    chmod 700 "$work/xdg/neurodoom"
    cp "$work/tuned/"* "$work/xdg/neurodoom/"
    said=$(XDG_CACHE_HOME=$work/xdg "$build/a64run" --engine interp --dir granted --opt loops=on \
        --models "$models" --stats stats hot 2>&1)
    grep -q '"credited":[[:space:]]*[1-9]' stats &&
        if [ "$1" = - ]; then [ -z "$said" ]; else grep -q "loop nets in $work/xdg/neurodoom are not used: .*$1" <<< "$said"; fi
}
