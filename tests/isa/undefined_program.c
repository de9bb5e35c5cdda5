// SPDX-License-Identifier: MIT
// Writes a static AArch64 program that executes given words, each of which has to raise SIGILL.
//
//   undefined_program -w SEED COUNT EXCEPTIONS OUT   writes about COUNT random words to OUT, little-endian
//   undefined_program WORDS OUT                      writes the program for the words (hexadecimal, one a
//   line) of WORDS undefined_program -p WORDS OUT                   the same without a handler: the first
//   word ends the program
//
// Half of the random words are an allocated one with a bit flipped. EXCEPTIONS has lines `mask value reason`,
// the numbers hexadecimal: a word that equals value under mask is left out.
//
// The program prints one byte a word: 1 if it raised SIGILL, 0 if it did not.
#include <unistd.h>

#include "a64_emit.h"
#include "random_instruction.h"

enum {
    WORDS_MAX = 65536,
    SIGILL_NUMBER = 4,
    SA_FLAGS = 4 | 0x40000000 | 0x04000000, // SA_SIGINFO, SA_NODEFER, SA_RESTORER
    UCONTEXT_PC = 440, // offset of uc_mcontext.pc
    RESULTS = DATA_BASE + PAGE,
};

static struct code code;

static bool is_left_out(FILE *exceptions, uint32_t word)
{
    char line[256];
    unsigned mask, value;
    rewind(exceptions);
    while (fgets(line, sizeof line, exceptions))
        if (line[0] != '#' && sscanf(line, "%x %x", &mask, &value) == 2 && (word & mask) == value)
            return true;
    return false;
}

static int write_random_words(uint64_t seed, unsigned count, const char *exceptions_path, const char *path)
{
    FILE *exceptions = fopen(exceptions_path, "r"), *f = fopen(path, "wb");
    if (!exceptions || !f) {
        perror(exceptions ? path : exceptions_path);
        return 1;
    }
    random_state = seed;
    select_instructions("all", NULL);
    for (unsigned i = 0; i < count; i++) {
        uint32_t word = (uint32_t)random64();
        if (i % 2) {
            struct instruction near;
            draw_word(&near, draw_id());
            word = near.word ^ 1u << random_below(32);
        }
        if (is_left_out(exceptions, word))
            continue;
        uint8_t bytes[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
                            (uint8_t)(word >> 24)};
        fwrite(bytes, 1, 4, f);
    }
    fclose(exceptions);
    return fclose(f) == 0 ? 0 : 1;
}

// Marks the result of the word that raised the signal, and goes on behind it. first: index of the first word.
static void emit_handler(uint32_t first)
{
    emit_ldr(&code, 3, 2, UCONTEXT_PC);
    emit_mov(&code, 4, code_address(first));
    emit(&code, 0xcb040065); // SUB X5, X3, X4
    emit_mov(&code, 6, RESULTS);
    emit_mov(&code, 7, 1);
    emit(&code, 0xd342fca5); // LSR X5, X5, #2
    emit(&code, 0x382568c7); // STRB W7, [X6, X5]
    emit(&code, 0x91001063); // ADD X3, X3, #4
    emit_str(&code, 3, 2, UCONTEXT_PC);
    emit(&code, 0xd65f03c0); // RET
}

static int write_program(const char *words_path, const char *path, bool handled)
{
    enum { HANDLER_ROOM = 32, RESTORER = HANDLER_ROOM, START = RESTORER + 4, WORDS = START + 32 };
    uint64_t action[4] = {code_address(0), SA_FLAGS, code_address(RESTORER), 0};
    FILE *f = fopen(words_path, "r");
    if (!f) {
        perror(words_path);
        return 1;
    }
    emit_handler(WORDS);
    while (code.count < RESTORER)
        emit(&code, 0xd503201f); // NOP
    emit_svc(&code, 139); // rt_sigreturn
    while (code.count < START)
        emit(&code, 0xd503201f);
    emit_mov(&code, 0, SIGILL_NUMBER);
    emit_mov(&code, 1, DATA_BASE);
    emit_mov(&code, 2, 0);
    emit_mov(&code, 3, 8); // bytes of a signal set
    emit_svc(&code, 134); // rt_sigaction
    while (code.count < WORDS)
        emit(&code, 0xd503201f);
    unsigned count = 0;
    for (unsigned word; count < WORDS_MAX && fscanf(f, "%x", &word) == 1; count++)
        emit(&code, word);
    fclose(f);
    emit_write_and_exit(&code, RESULTS, count);
    write_elf(path, &code, handled ? START : WORDS, action, sizeof action, RESULTS - DATA_BASE + WORDS_MAX);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "-w") == 0)
        return write_random_words(strtoull(argv[2], NULL, 0), (unsigned)atoi(argv[3]), argv[4], argv[5]);
    if (argc == 4 && strcmp(argv[1], "-p") == 0)
        return write_program(argv[2], argv[3], false);
    if (argc == 3)
        return write_program(argv[1], argv[2], true);
    fprintf(stderr, "usage: undefined_program -w SEED COUNT EXCEPTIONS OUT | [-p] WORDS OUT\n");
    return 2;
}
