// SPDX-License-Identifier: MIT
// The loader. Nothing in the file is believed: every offset, size and address is checked before it is used.
#include "elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_BYTES_MAX 65536u // of all program headers, as in Linux
#define PIE_BASE 0x400000ull // where position-independent programs are put
#define ALIGN_MAX (1ull << 30)
// From this size on a huge page of the host (2 MB) lies within zeroed variables wherever they are. Below, it
// does or does not, for no reason that the program has.
#define LARGE_BYTES (4ull << 20)

static uint64_t page_down(uint64_t address)
{
    return address & ~(GUEST_PAGE - 1);
}

static uint64_t page_up(uint64_t address)
{
    return page_down(address + GUEST_PAGE - 1);
}

static bool read_exactly(int fd, void *to, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

// What is wrong with the file header, or NULL.
static const char *check_header(const Elf64_Ehdr *h)
{
    if (memcmp(h->e_ident, ELFMAG, SELFMAG))
        return "it is not an ELF file";
    if (h->e_ident[EI_CLASS] != ELFCLASS64)
        return "it is not a 64-bit program";
    if (h->e_ident[EI_DATA] != ELFDATA2LSB)
        return "it is big-endian";
    if (h->e_machine != EM_AARCH64)
        return "it is for another processor than aarch64";
    if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
        return "it is an object or core file, not a program";
    if (h->e_type == ET_DYN && !h->e_entry)
        return "it is a shared library";
    if (h->e_phentsize != sizeof(Elf64_Phdr) || !h->e_phnum || h->e_phoff > INT64_MAX - HEADER_BYTES_MAX ||
        h->e_phnum > HEADER_BYTES_MAX / sizeof(Elf64_Phdr))
        return "its program headers are damaged";
    return NULL;
}

// Checks one segment, of which bias is still to be added, against the file.
static const char *check_segment(const Elf64_Phdr *s, uint64_t file_size)
{
    if (s->p_filesz > s->p_memsz)
        return "a segment is larger in the file than in memory";
    // One with nothing in the file may be said to begin behind its end.
    if (s->p_filesz && (s->p_offset > file_size || s->p_filesz > file_size - s->p_offset))
        return "it is truncated";
    if (s->p_filesz && (s->p_vaddr ^ s->p_offset) % GUEST_PAGE)
        return "a segment is misaligned";
    if (s->p_vaddr >= GUEST_SPACE || s->p_memsz > GUEST_SPACE - s->p_vaddr)
        return "it needs addresses above 4 GiB";
    return NULL;
}

static const char *check_segments(struct elf_image *image, uint64_t file_size, bool fixed, uint64_t ceiling)
{
    uint64_t low = UINT64_MAX, high = 0, align = GUEST_PAGE;
    for (unsigned i = 0; i < image->header_count; i++) {
        const Elf64_Phdr *s = &image->headers[i];
        if (s->p_type == PT_INTERP)
            return "it needs a dynamic loader: link it with -static";
        if (s->p_type == PT_GNU_STACK)
            image->executable_stack = s->p_flags & PF_X;
        if (s->p_type != PT_LOAD || !s->p_memsz)
            continue;
        const char *why = check_segment(s, file_size);
        if (why)
            return why;
        if (s->p_vaddr < low)
            low = s->p_vaddr;
        if (s->p_vaddr + s->p_memsz > high)
            high = s->p_vaddr + s->p_memsz;
        if (!(s->p_align & (s->p_align - 1)) && s->p_align > align)
            align = s->p_align;
    }
    if (!high)
        return "it has nothing to load";
    if (align > ALIGN_MAX)
        return "a segment is misaligned";
    if (!fixed)
        image->bias = ((PIE_BASE + align - 1) & ~(align - 1)) - (low & ~(align - 1));
    image->end = image->bias + high;
    // The bias may be "negative"; both sums are back in range.
    if (image->bias + low < GUEST_MMAP_MIN)
        return "it wants to be loaded at address zero";
    if (page_up(image->end) > ceiling)
        return "it is too large for 4 GiB of memory";
    return NULL;
}

static int refuse(struct elf_image *image, struct error *error, const char *why)
{
    elf_release(image);
    error_set_kind(error, ERROR_NOT_PROGRAM, "%s", why);
    return -ENOEXEC;
}

int elf_read(int fd, uint64_t ceiling, struct elf_image *image, struct error *error)
{
    Elf64_Ehdr h;
    struct stat status;
    *image = (struct elf_image){0};
    if (fstat(fd, &status)) {
        int result = -errno;
        error_set(error, "it cannot be read");
        return result;
    }
    if (!S_ISREG(status.st_mode) || !read_exactly(fd, &h, sizeof h, 0))
        return refuse(image, error, "it is not an ELF file");
    const char *why = check_header(&h);
    if (why)
        return refuse(image, error, why);
    size_t size = h.e_phnum * sizeof(Elf64_Phdr);
    image->headers = malloc(size);
    if (!image->headers) {
        error_set(error, "out of memory");
        return -ENOMEM;
    }
    image->header_count = h.e_phnum;
    if (!read_exactly(fd, image->headers, size, h.e_phoff))
        why = "it is truncated";
    else
        why = check_segments(image, (uint64_t)status.st_size, h.e_type == ET_EXEC, ceiling);
    if (why)
        return refuse(image, error, why);
    image->entry = image->bias + h.e_entry;
    for (unsigned i = 0; i < image->header_count; i++) {
        const Elf64_Phdr *s = &image->headers[i];
        if (s->p_type == PT_LOAD && h.e_phoff >= s->p_offset && h.e_phoff - s->p_offset < s->p_filesz)
            image->header_address = image->bias + s->p_vaddr + (h.e_phoff - s->p_offset);
    }
    return 0;
}

void elf_release(struct elf_image *image)
{
    free(image->headers);
    image->headers = NULL;
}

static int map_segment(struct memory *memory, int fd, uint64_t bias, const Elf64_Phdr *s)
{
    int prot = (s->p_flags & PF_R ? PROT_READ : 0) | (s->p_flags & PF_W ? PROT_WRITE : 0) |
               (s->p_flags & PF_X ? PROT_EXEC : 0);
    uint64_t start = bias + s->p_vaddr, file_end = start + s->p_filesz, end = start + s->p_memsz;
    uint64_t first = page_down(start), file_pages_end = s->p_filesz ? page_up(file_end) : first;
    int result = 0;
    if (file_pages_end > first) {
        result = memory_map_file(memory, first, file_pages_end - first, prot, MAP_PRIVATE, fd,
                                 page_down(s->p_offset));
        if (!result) // the file has all of it: see check_segment
            memory_set_steady(memory, first, file_pages_end - first);
        // What follows in the last page is zeroed where the program could see the difference.
        if (!result && end > file_end && prot & PROT_WRITE) {
            uint64_t tail = (end < file_pages_end ? end : file_pages_end) - file_end;
            static const uint8_t zeroes[GUEST_PAGE];
            if (!memory_write(memory, file_end, zeroes, tail))
                result = -EIO;
        }
    }
    if (!result && page_up(end) > file_pages_end) {
        uint64_t rest = page_up(end) - file_pages_end;
        result = rest < LARGE_BYTES ? memory_map_sparse(memory, file_pages_end, rest, prot)
                                    : memory_map(memory, file_pages_end, rest, prot);
    }
    return result;
}

int elf_map(struct memory *memory, int fd, const struct elf_image *image)
{
    for (unsigned i = 0; i < image->header_count; i++) {
        const Elf64_Phdr *s = &image->headers[i];
        if (s->p_type != PT_LOAD || !s->p_memsz)
            continue;
        int result = map_segment(memory, fd, image->bias, s);
        if (result)
            return result;
    }
    return 0;
}

// ---- symbols ----

#define SYMBOL_BYTES_MAX (64u << 20) // of a symbol or string table: larger ones are not worth the memory

#define UNSIZED_MAX 4096u // a function of assembly code that does not tell its size is taken to be no longer

struct symbol {
    uint64_t start, size;
    uint32_t name;
};

struct elf_symbols {
    int fd;
    uint64_t bias;
    bool loaded;
    struct symbol *symbols; // by address
    size_t count;
    char *names; // ends with a zero byte
    uint64_t names_size;
};

struct elf_symbols *elf_symbols_open(int fd, uint64_t bias)
{
    struct elf_symbols *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->bias = bias;
    s->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (s->fd < 0) {
        free(s);
        return NULL;
    }
    return s;
}

void elf_symbols_close(struct elf_symbols *s)
{
    if (!s)
        return;
    close(s->fd);
    free(s->symbols);
    free(s->names);
    free(s);
}

static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

// A section's contents and one zero byte behind them, or NULL.
static void *read_section(int fd, const Elf64_Shdr *section)
{
    if (section->sh_size > SYMBOL_BYTES_MAX || section->sh_offset > INT64_MAX - SYMBOL_BYTES_MAX)
        return NULL;
    char *contents = malloc(section->sh_size + 1);
    if (!contents)
        return NULL;
    if (!read_exactly(fd, contents, section->sh_size, section->sh_offset)) {
        free(contents);
        return NULL;
    }
    contents[section->sh_size] = 0;
    return contents;
}

static void take_symbols(struct elf_symbols *s, const Elf64_Sym *table, size_t count)
{
    s->symbols = malloc(count * sizeof *s->symbols);
    if (!s->symbols)
        return;
    for (size_t i = 0; i < count; i++)
        if (ELF64_ST_TYPE(table[i].st_info) == STT_FUNC && table[i].st_shndx != SHN_UNDEF &&
            table[i].st_name < s->names_size)
            s->symbols[s->count++] = (struct symbol){table[i].st_value, table[i].st_size, table[i].st_name};
    qsort(s->symbols, s->count, sizeof *s->symbols, compare_symbols);
}

static void load_symbols(struct elf_symbols *s)
{
    Elf64_Ehdr h;
    if (!read_exactly(s->fd, &h, sizeof h, 0) || h.e_shentsize != sizeof(Elf64_Shdr) || !h.e_shnum ||
        h.e_shoff > INT64_MAX - 65536 * sizeof(Elf64_Shdr))
        return;
    Elf64_Shdr *sections = malloc(h.e_shnum * sizeof *sections);
    if (!sections)
        return;
    if (read_exactly(s->fd, sections, h.e_shnum * sizeof *sections, h.e_shoff))
        for (unsigned i = 0; i < h.e_shnum && !s->symbols; i++) {
            if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= h.e_shnum)
                continue;
            const Elf64_Shdr *strings = &sections[sections[i].sh_link];
            Elf64_Sym *table = read_section(s->fd, &sections[i]);
            s->names = table ? read_section(s->fd, strings) : NULL;
            s->names_size = s->names ? strings->sh_size : 0;
            if (table)
                take_symbols(s, table, sections[i].sh_size / sizeof *table);
            free(table);
        }
    free(sections);
}

const char *elf_symbols_find(struct elf_symbols *s, uint64_t pc, uint64_t *offset)
{
    if (!s->loaded)
        load_symbols(s);
    s->loaded = true;
    uint64_t address = pc - s->bias;
    size_t low = 0, high = s->count; // the last symbol at or below address is low - 1
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->symbols[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return NULL;
    const struct symbol *found = &s->symbols[low - 1];
    if (address - found->start >= (found->size ? found->size : UNSIZED_MAX))
        return NULL;
    *offset = address - found->start;
    return s->names + found->name;
}
