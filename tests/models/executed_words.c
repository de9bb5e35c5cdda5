// SPDX-License-Identifier: MIT
// A plugin for qemu-aarch64: counts how often each instruction word is executed and writes lines WORD COUNT,
// the profile that `neuromodel eval dispatch --profile` reads, to the file that EXECUTED_WORDS names.
//
//     cc -shared -fPIC -O2 -o executed_words.so executed_words.c
//     EXECUTED_WORDS=words qemu-aarch64 -plugin ./executed_words.so PROGRAM...
//
// Debian's packages have no header for plugins, so what is used of the interface (version 1) is declared
// here.
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { INLINE_ADD_U64 = 0 };
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*f)(plugin_id, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int operation, void *counter,
                                                uint64_t amount);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*f)(plugin_id, void *), void *user);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

// Open addressing; counters must not move, because translated code adds to them. Word 0 is never executed.
enum { ROOM = 1 << 20 };
static struct {
    uint32_t word;
    uint64_t count;
} * table;

static void on_translation(plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
        uint32_t word;
        memcpy(&word, qemu_plugin_insn_data(insn), sizeof word);
        uint32_t place = (word * 0x9e3779b1u) >> 12;
        while (table[place].word != 0 && table[place].word != word)
            place = (place + 1) % ROOM;
        table[place].word = word;
        qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64, &table[place].count, 1);
    }
}

static void at_end(plugin_id id, void *user)
{
    (void)id;
    (void)user;
    const char *path = getenv("EXECUTED_WORDS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) {
        fprintf(stderr, "executed_words: EXECUTED_WORDS names no file that can be written\n");
        return;
    }
    for (size_t i = 0; i < ROOM; i++)
        if (table[i].count)
            fprintf(file, "%08" PRIx32 " %" PRIu64 "\n", table[i].word, table[i].count);
    fclose(file);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info;
    (void)argc;
    (void)argv;
    table = calloc(ROOM, sizeof *table);
    if (!table)
        return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, at_end, NULL);
    return 0;
}
