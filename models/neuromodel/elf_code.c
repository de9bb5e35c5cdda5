// SPDX-License-Identifier: MIT
#include "elf_code.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The whole file in memory, or NULL with errno.
static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    uint8_t *data = NULL;
    size_t used = 0, room = 0;
    do {
        if (used == room) {
            room = room ? 2 * room : 1 << 20;
            uint8_t *bigger = realloc(data, room);
            if (!bigger) {
                free(data);
                fclose(file);
                return NULL;
            }
            data = bigger;
        }
        used += fread(data + used, 1, room - used, file);
    } while (used == room);
    bool failed = ferror(file);
    fclose(file);
    if (failed) {
        free(data);
        return NULL;
    }
    *size = used;
    return data;
}

static bool append_section(const uint8_t *data, size_t size, const Elf64_Shdr *section,
                           struct code_word **words, size_t *count)
{
    if (section->sh_offset > size || section->sh_size > size - section->sh_offset)
        return true; // damaged: nothing there to read
    size_t more = section->sh_size / 4;
    struct code_word *bigger = realloc(*words, (*count + more + 1) * sizeof **words);
    if (!bigger)
        return false;
    *words = bigger;
    for (size_t i = 0; i < more; i++) {
        struct code_word *w = &bigger[(*count)++];
        memcpy(&w->word, data + section->sh_offset + i * 4, sizeof w->word);
        w->pc = section->sh_addr + i * 4;
    }
    return true;
}

static bool append_all(const char *path, const uint8_t *data, size_t size, struct code_word **words,
                       size_t *count, struct error *error)
{
    Elf64_Ehdr header;
    if (size < sizeof header)
        return error_set(error, "%s: no ELF file", path);
    memcpy(&header, data, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_AARCH64)
        return error_set(error, "%s: no ELF file of 64-bit Arm", path);
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > size ||
        header.e_shnum > (size - header.e_shoff) / sizeof(Elf64_Shdr))
        return error_set(error, "%s: its table of sections is missing or damaged", path);
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, data + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type == SHT_PROGBITS && section.sh_flags & SHF_EXECINSTR &&
            !append_section(data, size, &section, words, count))
            return error_set(error, "no memory for the code of %s", path);
    }
    return true;
}

bool elf_code_append(const char *path, struct code_word **words, size_t *count, struct error *error)
{
    size_t size;
    uint8_t *data = read_file(path, &size);
    if (!data)
        return error_set(error, "cannot read %s: %s", path, strerror(errno));
    bool good = append_all(path, data, size, words, count, error);
    free(data);
    return good;
}
