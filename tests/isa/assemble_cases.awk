# SPDX-License-Identifier: MIT
# Turns cases/*.txt into assembly: for each case its code, framed by LOAD_STATE and a branch to case_end, and a
# `struct test` of case_runner.c. The format of the cases is described in cases/README.

function fail(why) {
    printf "%s:%d: %s\n", FILENAME, FNR, why > "/dev/stderr"
    failed = 1
    exit 1
}

function trim(text) {
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}

# The distinct value that a register has unless the case says otherwise.
function default_state(    i) {
    for (i = 0; i < 31; i++)
        x[i] = sprintf("0xf0f1f2f3f4f5f6%02x", i)
    x[31] = "stack"
    x[32] = 0 # NZCV
    x[33] = 0 # FPCR
    x[34] = 0 # FPSR
    for (i = 0; i < 32; i++) {
        low[i] = sprintf("0xc0c1c2c3c4c5c6%02x", i)
        high[i] = sprintf("0xd0d1d2d3d4d5d6%02x", i)
    }
    for (i = 0; i < 256; i++)
        memory[i] = i
}

function flag_value(letters) {
    return (letters ~ /N/) * 8 + (letters ~ /Z/) * 4 + (letters ~ /C/) * 2 + (letters ~ /V/)
}

function set_vector(i, digits) {
    sub(/^0x/, "", digits)
    while (length(digits) < 32)
        digits = "0" digits
    high[i] = "0x" substr(digits, 1, 16)
    low[i] = "0x" substr(digits, 17)
}

function set_memory(offset, digits,    i, times) {
    if (digits ~ /\*/) {
        times = digits
        sub(/.*\*/, "", times)
        sub(/\*.*/, "", digits)
        for (i = 0; i < times + 0; i++)
            memory[offset + i] = "0x" digits
        return
    }
    for (i = 0; i * 2 < length(digits); i++)
        memory[offset + i] = "0x" substr(digits, i * 2 + 1, 2)
}

function apply(assignments,    i, count, item, name, value) {
    count = split(assignments, item, " ")
    for (i = 1; i <= count; i++) {
        name = value = item[i]
        if (!sub(/=.*/, "", name) || !sub(/^[^=]*=/, "", value))
            fail("no assignment: " item[i])
        if (name ~ /^x[0-9]+$/ && substr(name, 2) + 0 < 31)
            x[substr(name, 2) + 0] = value
        else if (name == "sp")
            x[31] = value
        else if (name == "nzcv")
            x[32] = flag_value(value) " << 28"
        else if (name == "fpcr")
            x[33] = value
        else if (name == "fpsr")
            x[34] = value
        else if (name ~ /^v[0-9]+$/ && substr(name, 2) + 0 < 32)
            set_vector(substr(name, 2) + 0, value)
        else if (name ~ /^\[[0-9]+\]$/)
            set_memory(substr(name, 2, length(name) - 2) + 0, value)
        else
            fail("no register: " name)
    }
}

function print_state(    i) {
    for (i = 0; i < 35; i++)
        print "    .quad " x[i]
    print "    .quad 0"
    for (i = 0; i < 32; i++)
        print "    .quad " low[i] ", " high[i]
    for (i = 0; i < 256; i++)
        printf "%s%s", i % 16 ? ", " : "    .byte ", memory[i] (i % 16 == 15 ? "\n" : "")
}

BEGIN {
    FS = "|"
    print "    .arch armv8-a+crc+crypto+lse"
}

/^[ \t]*(#|$)/ { next }

{
    if (NF != 3)
        fail("not `instructions | before | after`")
    code = text = trim($1)
    after = trim($3)
    signal = 0
    if (match(after, /^SIG[A-Z]+/)) {
        name = substr(after, 1, RLENGTH)
        after = substr(after, RLENGTH + 1)
        signal = name == "SIGSEGV" ? 11 : name == "SIGBUS" ? 7 : name == "SIGILL" ? 4 : name == "SIGTRAP" ? 5 : 0
        if (!signal)
            fail("no such signal: " name)
    }
    cases++
    gsub(/["\\]/, "\\\\&", text)
    file = FILENAME
    sub(/.*\//, "", file)
    printf "    .text\ncase_%d: LOAD_STATE\n%s\n    b case_end\n", cases, code
    printf "    .section .rodata\ntext_%d: .asciz \"%s:%d: %s\"\n", cases, file, FNR, text
    printf "    .section .tests, \"aw\"\n    .quad text_%d, case_%d, %d, 0\n", cases, cases, signal
    default_state()
    apply($2)
    print_state()
    apply(after)
    print_state()
}

END {
    if (!failed)
        printf "    .section .tests, \"aw\"\n    .quad 0\n"
}
