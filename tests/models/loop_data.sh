# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # $tool, $data and more are set by run, which reads this
# The training data of the loop nets: files, labels, and that they can be made again. See loop_data_test.c.

says() { # WORDS, then a command that has to fail and say them
    local words=$1
    shift
    ! "$@" > out 2>&1 && grep -q "$words" out
}

test_loop_files() {
    local classes class
    needs loop_data_test
    tells "$build/loop_data_test" "$work" "$data/loops-seed.txt" "$data/loops-doom.txt" "$data/loops-programs.txt"
    succeeds 'the seed set has at most 200 KB' [ "$(stat -c %s "$data/loops-seed.txt")" -le 204800 ]
    classes=$(sed -n 's/^LOOP_CLASS(\([A-Z_]*\),.*/\1/p' "$root/core/loops/propose/loop_classes.def")
    for class in $classes; do
        grep -q "^$class " "$data/loops-seed.txt" || ok 1 "the seed set has no $class"
    done
}

# The seed set is what its recipe makes.
test_loop_recipe() {
    local same all
    sed 's/^[[:space:]]*//' "$data/loops-seed.json" > recipe
    if env -u TMPDIR "$tool" generate loops --data-folder "$data" --seed "$(number seed)" --programs "$(number programs)" \
        --out seed.txt > /dev/null 2> err; then
        if [ "$(grep '"version"' seed.json)" = "$(grep '"version"' "$data/loops-seed.json")" ]; then
            without_labels "$data/loops-seed.txt" > shipped
            without_labels seed.txt > made
            same=$(comm -12 shipped made | wc -l) all=$(wc -l < shipped)
            succeeds "the seed set is made again by its recipe ($same of $all samples)" [ "$same" -ge $((all * 95 / 100)) ]
        else
            succeeds 'a seed set is made by other compilers than the shipped one' grep -q '^FILL ' seed.txt
        fi
    else
        ok 1 "the seed set is not made" "$(tail -n 1 err)"
    fi
}

number() { # NAME: of the recipe
    sed -n "s/^\"$1\":[[:space:]]*\([0-9]*\),*/\1/p" recipe
}
# The bodies, registers and trips of a file. What the labels are made with may see more of a loop than it did when the
# seed set was made: then a few samples are other ones.
without_labels() {
    tail -n +2 "$1" | cut -d' ' -f7- | sort
}

test_loop_refusals() {
    succeeds 'without a compiler there is no data, but a message' \
        says 'aarch64-linux-gnu-gcc' env PATH=/nowhere "$tool" generate loops --data-folder "$data" --out none.txt
    mkdir data
    cp -r "$data/loop_programs" data
    printf '== NONSENSE 1\n' >> "$work/data/loop_programs/fill.txt"
    succeeds 'a damaged template is refused' \
        says 'no such class' "$tool" generate loops --data-folder data --out none.txt
    printf 'int main(void) { return 0; }\n' | aarch64-linux-gnu-gcc -static -x c -o trips -
    printf 'trips up 0 NONSENSE\n' > "$work/data/loops-known.txt"
    succeeds 'a damaged table of classes is refused' \
        says 'loops-known.txt:1:' "$tool" collect --data-folder data --out none.txt trips
    succeeds 'no such program' says 'no such program' "$tool" collect --data-folder "$data" --out none.txt "$work/no such program"
    succeeds 'no program' says 'which program' "$tool" collect
    succeeds 'where it cannot write, the program is not run' \
        says 'cannot write none/x.txt' "$tool" collect --data-folder "$data" --out none/x.txt "$work/no such program"
    printf 'loops 1\nFILL\n' > damaged.txt
    succeeds 'collect does not add to a damaged file' \
        says 'damaged.txt:2' "$tool" collect --data-folder "$data" --out damaged.txt trips
}

# Only a file is replaced by what is made: a pipe or device gets it, and a link stays one.
test_loop_outputs() {
    : > linked.txt
    ln -s linked.txt link.txt
    succeeds 'loops go to a file' "$tool" generate library-loops --data-folder "$data" --out link.txt
    succeeds 'where a link leads' [ -L link.txt -a -s linked.txt ]
    mkfifo pipe
    cat pipe > piped &
    succeeds 'loops go to a pipe' "$tool" generate library-loops --data-folder "$data" --out pipe
    succeeds 'which gets the same' until_true 5 cmp -s link.txt piped
    succeeds 'a full disk is told where a table was to be printed' \
        says 'standard output: No space left' sh -c "'$tool' info > /dev/full"
}

# Entries and trips of a program that is known.
test_loop_trips() {
    local level
    cat > trips.c <<'C'
void touch(int i) { __asm__ volatile("" :: "r"(i) : "memory"); }
__attribute__((noinline)) void up(int n) { for (int i = 0; i < n; i++) touch(i); }
__attribute__((noinline)) void down(int n) { do touch(n); while (--n > 0); }
int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < 6; i++) up(i * 5 + argc), down(i * 3 + argc);
    return 0;
}
C
    for level in -O0 -O1 -O2 -O3; do
        rm -f trips.txt
        # The first entry may not be seen: the loop is known only then.
        if aarch64-linux-gnu-gcc $level -fno-inline -fno-ipa-ra -static -o trips trips.c 2> err &&
            ("$tool" collect --data-folder "$data" --out trips.txt trips > out 2>&1); then
            succeeds "entries in the middle and at the start are told apart, $level" \
                [ "$(trips up | sed 's/ 1,/ /')" = 'UP 6,11,16,21,26' ]
            succeeds "a loop that is entered at its start has its trips, $level" \
                [ "$(trips down | sed 's/ 1,/ /')" = 'DOWN 4,7,10,13,16' ]
        else
            ok 1 "collect, $level" "$(tail -n 1 out err)"
        fi
    done
}

# A branch back that is never taken, to where nothing can be executed.
test_loop_nowhere() {
    cat > nowhere.c <<'C'
int main(int argc, char **argv)
{
    int sum = 0;
    (void)argv;
    __asm__ volatile("cbz %w0, . - 0xf0000" :: "r"(argc));
    for (volatile int i = 0; i < 20; i++) sum += i;
    return sum != 190;
}
C
    aarch64-linux-gnu-gcc -O1 -static -Wl,-Ttext-segment=0x1000000 -o nowhere nowhere.c || exit
    succeeds 'a branch that is not taken leads nowhere' "$tool" collect --data-folder "$data" --out nowhere.txt nowhere
}

trips() { # FUNCTION: its sample's type and trips
    awk -v f="$1" '$10 == f { print $2, $7 }' trips.txt
}

# Memory streams: those that the source says.
test_loop_streams() {
    local level expected
    cat > streams.c <<'C'
int from[4000], to[4000], sum;
unsigned char at[4000];
__attribute__((noipa)) void spread(int n) { for (int i = 0; i < n; i++) to[3 * i] = from[i]; }
__attribute__((noipa)) void backward(int n) { for (int i = n; i > 0; i--) to[i] = from[i]; }
__attribute__((noipa)) void bytes(int n, int d) { for (int i = 0; i < n; i++) at[i * d] = 7; }
__attribute__((noipa)) void look_up(int n) { for (int i = 0; i < n; i++) sum += from[at[i]]; }
int main(void)
{
    for (int i = 0; i < 3; i++) spread(50), backward(50), bytes(50, 10), look_up(50);
    return 0;
}
C
    for level in -O1 -O2; do
        rm -f streams.txt
        if aarch64-linux-gnu-gcc $level -fno-tree-vectorize -fno-tree-loop-distribute-patterns -static -o streams streams.c 2> err &&
            ("$tool" collect --data-folder "$data" --out streams.txt streams > out 2>&1); then
            for expected in spread=r4+4,w4+12 backward=r4-4,w4-4 bytes=w1+10 look_up='r1+1,r4[]'; do
                succeeds "streams of ${expected%%=*}, $level: ${expected#*=}" \
                    [ "$(streams "${expected%%=*}")" = "${expected#*=}" ]
            done
        else
            ok 1 "streams, $level" "$(tail -n 1 out err)"
        fi
    done
}

streams() { # FUNCTION: its sample's
    awk -v f="$1" '$10 == f { print $14 }' streams.txt
}
