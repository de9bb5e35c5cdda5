// SPDX-License-Identifier: MIT
// A machine whose program is nothing but instruction words, and some memory.
#ifndef TESTS_LOCKSTEP_PROGRAM_H
#define TESTS_LOCKSTEP_PROGRAM_H

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../core/core.h"
#include "../../core/state/guest.h"

#define CODE 0x400000ull // where programs are linked to
enum { CODE_OFFSET = 4096 }; // from there to the first word, where cpu.pc is

// What the engines know of a machine, which begins with it.
static struct guest *guest_in(machine *m)
{
    return (struct guest *)m;
}

// The program has the words, behind code, and data_bytes of writable memory at data, both a page's beginning.
// The caller owns the machine. Ends the process with status 1 and a message if there is none.
static machine *load_words(const uint32_t *words, size_t count, uint64_t code, uint64_t data,
                           size_t data_bytes, enum machine_engine engine)
{
    size_t size = CODE_OFFSET + count * sizeof *words;
    const struct {
        Elf64_Ehdr e;
        Elf64_Phdr p[2];
    } head = {
        .e = {.e_ident = ELFMAG "\2\1\1",
              .e_type = ET_EXEC,
              .e_machine = EM_AARCH64,
              .e_version = 1,
              .e_phoff = sizeof(Elf64_Ehdr),
              .e_ehsize = sizeof(Elf64_Ehdr),
              .e_phentsize = sizeof(Elf64_Phdr),
              .e_phnum = 2,
              .e_entry = code + CODE_OFFSET},
        .p = {{.p_type = PT_LOAD,
               .p_flags = PF_R | PF_X,
               .p_vaddr = code,
               .p_filesz = size,
               .p_memsz = size,
               .p_align = 4096},
              {.p_type = PT_LOAD,
               .p_flags = PF_R | PF_W,
               .p_vaddr = data,
               .p_memsz = data_bytes,
               .p_align = 4096}},
    };
    char path[] = "/tmp/words.XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0 || pwrite(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        pwrite(fd, words, count * sizeof *words, CODE_OFFSET) != (ssize_t)(count * sizeof *words) ||
        fchmod(fd, 0755) != 0 || close(fd) != 0) {
        perror(path);
        exit(1);
    }
    const struct machine_grant grant = {.host = path, .guest = path};
    const char *const arguments[] = {path, NULL}, *const environment[] = {NULL};
    const struct machine_config config = {
        .program = path,
        .argv = arguments,
        .envp = environment,
        .cwd = "/",
        .grants = &grant,
        .grant_count = 1,
        .deterministic = true,
        .clock = MACHINE_CLOCK_VIRTUAL,
        .engine = engine,
    };
    struct error error;
    machine *m = machine_create(&config, &error);
    unlink(path);
    if (!m) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        exit(1);
    }
    return m;
}

#endif
