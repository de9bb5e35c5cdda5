# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # $neurodoom and more are set by run, which reads this
# Files of runs that were killed, files that cannot be written, and what is no file in the place of one.

game=(--headless -iwad "$wads/freedoom1.wad" -timedemo demo3)

# Makes NAME.so: LD_PRELOAD=./NAME.so puts the function on top of libc's.
shim() { # NAME FUNCTION
    printf '#define _GNU_SOURCE\n#include <errno.h>\n#include <fcntl.h>\n#include <signal.h>\n%s\n' "$2" > "$1.c"
    cc -shared -fPIC -o "$1.so" "$1.c" 2> "$work/out" || stop "the shim $1 does not build: $(head -n 1 "$work/out")"
}
no_unnamed_files='#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>
int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int mode = va_arg(arguments, int);
    if ((flags & O_TMPFILE) != O_TMPFILE)
        return (int)syscall(SYS_openat, folder, path, flags, mode);
    errno = EOPNOTSUPP;
    return -1;
}'
full_cache='#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int openat(int folder, const char *path, int flags, ...)
{
    char name[40], target[4096] = "";
    va_list arguments;
    va_start(arguments, flags);
    int mode = va_arg(arguments, int);
    snprintf(name, sizeof name, "/proc/self/fd/%d", folder);
    if (flags & O_WRONLY && readlink(name, target, sizeof target - 1) > 0 && strstr(target, "/cache/neurodoom"))
        return (int)syscall(SYS_openat, AT_FDCWD, "/dev/full", O_WRONLY, 0);
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}'
killed_by_renaming='#include <unistd.h>
int renameat(int a, const char *b, int c, const char *d) { kill(getpid(), SIGKILL); return -1; }'

unfinished() { find "$work/$1" -name '*unfinished*' | wc -l; }
# In the background, until it has opened its files: its number is in $process.
start_game() { # FOLDER [VARIABLE=VALUE…]
    env "${@:2}" "$neurodoom" "${game[@]}" --engine interp --csv "$1/csv" --json "$1/json" --stats "$1/stats" \
        --frame-hash "$1/frames" --wav "$1/wav" --audio-hash "$1/sound" > "$1.out" 2>&1 < /dev/null &
    process=$!
    until_true 60 grep -q . "$1.out"
    sleep 0.5
    kill -0 $process || stop "the game has ended: $(tail -n 1 "$1.out")"
}
kill_game() {
    kill -KILL "$1"
    wait "$1" 2> /dev/null
    [ $? -eq 137 ] || stop 'the game was not killed'
}

test_killed() {
    local living dead long
    begin
    shim no_unnamed "$no_unnamed_files"
    shim dies "$killed_by_renaming"
    mkdir "$work/files"
    start_game "$work/files"
    kill_game $process
    [ "$(ls -A "$work/files")" = stats ] # which is always there, whole
    ok $? "a killed run leaves no other file" "$(ls -A "$work/files" | head -n 3 | tr '\n' ' ')"

    # Where every file has a name: those of the living stay.
    start_game "$work/files" LD_PRELOAD="$PWD/no_unnamed.so"
    living=$process
    start_game "$work/files" LD_PRELOAD="$PWD/no_unnamed.so"
    dead=$process
    [ "$(unfinished files)" -eq 6 ]
    ok $? "two runs on a file system without nameless files" "$(ls -A "$work/files" | tr '\n' ' ')"
    kill_game $dead
    run "${game[@]}" --frames 2 --frame-hash "$work/files/short"
    [ "$(find "$work/files" -name "*.$dead-*" | wc -l)" -eq 0 ]
    ok $? "the next one removes what a killed one left" "$(ls -A "$work/files" | tr '\n' ' ')"
    kill -TERM "$living"
    wait "$living"
    [ -s "$work/files/wav" ] && [ -s "$work/files/csv" ] && [ "$(unfinished files)" -eq 0 ]
    ok $? "and not what a living one still writes" "$(ls -A "$work/files" | tr '\n' ' ')"

    echo whole > before
    cp before "$work/files/wav"
    LD_PRELOAD=$PWD/dies.so run "${game[@]}" --frames 2 --wav "$work/files/wav"
    [ "$status" -eq 137 ] && cmp -s before "$work/files/wav" && [ "$(unfinished files)" -eq 1 ]
    ok $? "killed just before the name changes, the old file is whole" "status $status, $(ls -A "$work/files" | tr '\n' ' ')"
    run "${game[@]}" --frames 2 --wav "$work/files/wav"
    [ "$status" -eq 0 ] && ! cmp -s before "$work/files/wav" && [ "$(unfinished files)" -eq 0 ]
    ok $? "and the next run tidies up" "$(ls -A "$work/files" | tr '\n' ' ')"
    long=$(printf '%255s' '' | tr ' ' n)
    run "${game[@]}" --frames 2 --csv "$work/files/$long"
    [ "$status" -eq 0 ] && [ -s "$work/files/$long" ] && [ "$(unfinished files)" -eq 0 ]
    ok $? "a name may be as long as the file system has them" "status $status: $(tail -n 1 "$work/err")"
    ends 1 "and is refused at once where it is longer" 'File name too long' "${game[@]}" --frames 2 --csv "$work/files/$long"n
}

# The guest's /tmp is a folder of the host.
test_killed_program() {
    local living dead
    begin
    cat > waits.c << 'C'
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    mkdir("/tmp/folder", 0755);
    close(open("/tmp/folder/file", O_CREAT | O_WRONLY, 0644));
    symlink("/", "/tmp/folder/link");
    creat(argv[1], 0644);
    if (argc > 2)
        pause();
    return 0;
}
C
    aarch64-linux-gnu-gcc -static -w -o waits waits.c || stop 'waits.c does not build'
    mkdir "$work/temporary" "$work/temporary/ndoom-mine!"
    export TMPDIR=$work/temporary
    "$build/a64run" ./waits one pause &
    living=$!
    "$build/a64run" ./waits two pause &
    dead=$!
    until_true 20 test -e one -a -e two || stop 'the programs do not start'
    kill -KILL $dead
    wait $dead 2> /dev/null
    [ "$(find "$TMPDIR" -name file | wc -l)" -eq 2 ]
    ok $? "a killed a64run leaves the program's /tmp" "$(ls "$TMPDIR")"
    "$build/a64run" ./waits three
    [ "$(find "$TMPDIR" -name file | wc -l)" -eq 1 ] && [ -d "$work/temporary/ndoom-mine!" ]
    ok $? "the next one removes that, and not a living one's, nor other folders" "$(ls "$TMPDIR")"
    kill -TERM $living
    wait $living
    [ "$(ls "$TMPDIR")" = 'ndoom-mine!' ]
    ok $? "which goes when that one ends" "$(ls "$TMPDIR")"
}

test_full_disk() {
    begin
    shim full_cache "$full_cache"
    run "${game[@]}" --frames 300 --frame-hash whole
    rm -rf "$XDG_CACHE_HOME"
    LD_PRELOAD=$PWD/full_cache.so run "${game[@]}" --frames 300 --frame-hash full
    [ "$status" -eq 0 ] && cmp -s whole full && [ -s full ]
    ok $? "with a full disk the game goes on" "status $status: $(tail -n 1 "$work/err")"
    [ "$(grep -c 'nothing is kept for the next start' "$work/err")" -eq 1 ] &&
        grep -q "kept.*$XDG_CACHE_HOME/neurodoom/[0-9a-f]*.code: No space left on device" "$work/err"
    ok $? "and says once what is not kept, and why" "$(cat "$work/err")"
    [ "$(unfinished cache)" -eq 0 ]
    ok $? "half a file does not stay"
    chmod 755 "$XDG_CACHE_HOME/neurodoom"
    run "${game[@]}" --frames 3
    [ "$status" -eq 0 ] && [ "$(grep -c 'has to be yours alone' "$work/err")" -eq 1 ]
    ok $? "a folder that others can read is refused with a word" "$(cat "$work/err")"
}

# Puts something else in the place of every file of the cache, and plays.
replaced_by() { # WHAT COMMAND, which is given the path
    local file
    find "$XDG_CACHE_HOME/neurodoom" -maxdepth 1 ! -name neurodoom -exec rm -rf {} +
    for file in "${kept[@]}"; do
        "${@:2}" "$XDG_CACHE_HOME/neurodoom/$file" || return
    done
    run "${game[@]}" --frames 300 --frame-hash odd
    [ "$status" -eq 0 ] && cmp -s whole odd && says 'is not used: it is no file, or not yours; what is no folder will be replaced'
    ok $? "$1 for each file of the cache" "status $status: $(cat "$work/err")"
}
test_no_files() {
    local kept file
    begin
    run "${game[@]}" --frames 300 --frame-hash whole
    mapfile -t kept < <(ls "$XDG_CACHE_HOME/neurodoom")
    [ ${#kept[@]} -ge 2 ] && [ "$engines" != interp ]
    ok $? "there is a cache: ${kept[*]}"
    echo precious > "$work/precious"
    replaced_by 'a pipe' mkfifo
    replaced_by 'a link' ln -s "$work/precious"
    [ "$(cat "$work/precious")" = precious ]
    ok $? "what the link leads to stays as it is"
    [ "$(find "$XDG_CACHE_HOME/neurodoom" -type f | wc -l)" -ge 2 ]
    ok $? "and files take their places" "$(ls -l "$XDG_CACHE_HOME/neurodoom")"
    replaced_by 'a folder' mkdir
    says 'Is a directory' || says 'is not used'
    ok $? "a folder, which is not removed, is named" "$(cat "$work/err")"
    if mknod "$work/device" c 1 7 2> /dev/null; then
        replaced_by 'a device' cp -a "$work/device"
    fi

    # With a window there are more.
    local states=$XDG_STATE_HOME/neurodoom
    export SDL_VIDEODRIVER=dummy
    rm -rf "$states" && mkdir -p "$states"
    for file in hint-shown neurodoom.log remembered.ini; do
        mkfifo "$states/$file"
    done
    run -iwad freedoom1 --clock virtual --frames 30 -nosound
    [ "$status" -eq 0 ] && says 'remembered.ini is not read: it is no file'
    ok $? "pipes for what is remembered" "status $status: $(cat "$work/err")"
}
