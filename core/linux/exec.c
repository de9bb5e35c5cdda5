// SPDX-License-Identifier: MIT
// Starting a program: its image, its stack with arguments and auxiliary vector, and execve.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "elf.h"
#include "process.h"

#define STRING_MAX 131072u // one argument or environment string, as in Linux
#define ARGUMENTS_MAX 65536u // strings
#define STACK_MIN 0x40000ull
#define STACK_MAX (64ull << 20)
#define SCRIPT_DEPTH 5 // interpreters of interpreters
#define SCRIPT_LINE 256

// Linux HWCAP bits of what the core implements: fp asimd aes pmull sha1 sha2 crc32 atomics cpuid
#define HWCAP (1u << 0 | 1u << 1 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 11)
#define GUEST_AT_MINSIGSTKSZ 51
#define SIGNAL_FRAME_SIZE 4720

static const uint32_t trampoline[] = {
    0xd2801168, // mov x8, #139: rt_sigreturn
    0xd4000001, // svc #0
};

static uint64_t stack_size(const struct linux_process *p)
{
    uint64_t size = p->limits[RLIMIT_STACK].current;
    size = size > STACK_MAX ? STACK_MAX : size < STACK_MIN ? STACK_MIN : size;
    return size & ~(GUEST_PAGE - 1);
}

// Counts the strings and the bytes that they take with their ends; -E2BIG beyond what fits limit.
static int measure(char *const *strings, uint64_t limit, uint64_t *count, uint64_t *bytes)
{
    for (; *strings; strings++) {
        size_t length = strlen(*strings) + 1;
        *bytes += length + sizeof(uint64_t);
        if (length > STRING_MAX || ++*count > ARGUMENTS_MAX || *bytes > limit)
            return -E2BIG;
    }
    return 0;
}

// What is being written onto the new stack: from next downwards.
struct stack {
    struct memory *memory;
    uint64_t next;
};

// The stack is mapped and writable, so that nothing here can fail.
static uint64_t push(struct stack *s, const void *bytes, size_t size)
{
    s->next -= size;
    memcpy(s->memory->base + s->next, bytes, size);
    return s->next;
}

static uint64_t push_string(struct stack *s, const char *text)
{
    return push(s, text, strlen(text) + 1);
}

static void push_strings(struct stack *s, char *const *strings, uint64_t count, uint64_t *addresses)
{
    for (uint64_t i = count; i-- > 0;)
        addresses[i] = push_string(s, strings[i]);
    addresses[count] = 0;
}

static void build_stack(struct linux_process *p, const struct elf_image *image, const char *path,
                        const struct exec_arguments *arguments, uint64_t argc, uint64_t envc, uint64_t *words)
{
    struct stack s = {&p->guest->memory, GUEST_STACK_TOP - 8};
    uint8_t random[16];
    process_fill_random(p, random, sizeof random);
    uint64_t path_address = push_string(&s, path);
    words[0] = argc;
    push_strings(&s, arguments->envp, envc, words + 1 + argc + 1);
    push_strings(&s, arguments->argv, argc, words + 1);
    uint64_t platform = push_string(&s, "aarch64");
    s.next &= ~15ull;
    uint64_t random_address = push(&s, random, sizeof random);
    const uint64_t auxv[][2] = {
        {AT_HWCAP, HWCAP},
        {AT_PAGESZ, GUEST_PAGE},
        {AT_CLKTCK, CLOCK_TICKS},
        {AT_PHDR, image->header_address},
        {AT_PHENT, sizeof(Elf64_Phdr)},
        {AT_PHNUM, image->header_count},
        {AT_BASE, 0},
        {AT_FLAGS, 0},
        {AT_ENTRY, image->entry},
        {AT_UID, getuid()},
        {AT_EUID, geteuid()},
        {AT_GID, getgid()},
        {AT_EGID, getegid()},
        {AT_SECURE, 0},
        {AT_RANDOM, random_address},
        {AT_HWCAP2, 0},
        {AT_EXECFN, path_address},
        {AT_PLATFORM, platform},
        {GUEST_AT_MINSIGSTKSZ, SIGNAL_FRAME_SIZE},
        {AT_NULL, 0},
    };
    uint64_t word_count = 1 + argc + 1 + envc + 1;
    memcpy(words + word_count, auxv, sizeof auxv);
    uint64_t size = word_count * 8 + sizeof auxv;
    s.next = ((s.next - size) & ~15ull) + size; // SP is aligned to 16 bytes
    p->guest->cpu.x[REG_SP] = push(&s, words, size);
}

static void reset_cpu(cpu *c, uint64_t entry)
{
    memset(c->x, 0, sizeof c->x);
    memset(c->v, 0, sizeof c->v);
    set_flags_nzcv(c, 0);
    c->fpcr = c->fpsr = 0;
    c->tpidr = 0;
    c->exclusive_address = EXCLUSIVE_NONE;
    c->shares_memory = false;
    c->pc = entry;
}

static int map_program(struct linux_process *p, int host, const struct elf_image *image, uint64_t size)
{
    struct memory *memory = &p->guest->memory;
    int stack_prot = PROT_READ | PROT_WRITE | (image->executable_stack ? PROT_EXEC : 0);
    int result = memory_clear(memory);
    if (!result)
        result = elf_map(memory, host, image);
    if (!result)
        result = memory_map(memory, GUEST_STACK_TOP - size, size, stack_prot);
    if (!result)
        result = memory_map(memory, GUEST_TRAMPOLINE, GUEST_PAGE, PROT_READ | PROT_WRITE);
    if (!result) {
        memcpy(memory->base + GUEST_TRAMPOLINE, trampoline, sizeof trampoline);
        result = memory_protect(memory, GUEST_TRAMPOLINE, GUEST_PAGE, PROT_READ | PROT_EXEC);
    }
    return result;
}

// Keeps what /proc/self tells about the program.
static void remember(struct linux_process *p, int host, const char *path,
                     const struct exec_arguments *arguments)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    snprintf(p->name, sizeof p->name, "%s", base);
    size_t length = 0;
    for (char **s = arguments->argv; *s; s++)
        length += strlen(*s) + 1;
    char *line = malloc(length + 1), *end = line;
    if (line)
        for (char **s = arguments->argv; *s; s++)
            end = stpcpy(end, *s) + 1;
    free(p->command_line);
    p->command_line = line;
    p->command_line_length = line ? length : 0;
    char name[PATH_MAX];
    if (!files_name(p->files, host, name, sizeof name))
        snprintf(name, sizeof name, "%s", path);
    free(p->files->program);
    p->files->program = strdup(name);
    if (p->files->program_host >= 0)
        close(p->files->program_host);
    p->files->program_host = host;
}

int exec_load(struct linux_process *p, int host, const char *path, const struct exec_arguments *arguments,
              bool *committed, struct error *error)
{
    uint64_t size = stack_size(p), argc = 0, envc = 0, bytes = strlen(path);
    struct elf_image image = {0};
    *committed = false;
    int result = measure(arguments->argv, size / 4, &argc, &bytes);
    if (!result)
        result = measure(arguments->envp, size / 4, &envc, &bytes);
    if (result)
        error_set(error, "its arguments and environment are too long");
    else
        result = elf_read(host, GUEST_STACK_TOP - size - GUEST_STACK_GAP, &image, error);
    uint64_t *words = result ? NULL : malloc((argc + envc + 64) * sizeof *words);
    if (!result && !words) {
        error_set(error, "out of memory");
        result = -ENOMEM;
    }
    struct elf_symbols *symbols = NULL;
    if (!result) {
        *committed = true;
        result = map_program(p, host, &image, size);
        if (result)
            error_set(error, "it does not fit into the memory that it may use");
        symbols = elf_symbols_open(host, image.bias);
    }
    if (result) {
        elf_symbols_close(symbols);
        elf_release(&image);
        free(words);
        close(host);
        return result;
    }
    reset_cpu(&p->guest->cpu, image.entry);
    build_stack(p, &image, path, arguments, argc, envc, words);
    elf_symbols_close(p->symbols);
    p->symbols = symbols;
    p->stack_low = GUEST_STACK_TOP - size;
    p->image_end = image.end;
    p->brk_start = p->brk = (image.end + GUEST_PAGE - 1) & ~(GUEST_PAGE - 1);
    remember(p, host, path, arguments);
    elf_release(&image);
    free(words);
    return 0;
}

// ---- execve ----

static void free_strings(char **strings)
{
    if (!strings)
        return;
    for (char **s = strings; *s; s++)
        free(*s);
    free(strings);
}

// Copies a NULL-terminated array of strings out of the guest; *strings is freed by the caller.
static int copy_strings(struct linux_process *p, uint64_t address, char ***strings)
{
    size_t count = 0, room = 64;
    uint64_t total = 0;
    char *buffer = malloc(STRING_MAX);
    *strings = malloc(room * sizeof **strings);
    int result = buffer && *strings ? 0 : -ENOMEM;
    if (*strings)
        (*strings)[0] = NULL;
    while (!result && address) {
        uint64_t string;
        if (!copy_in(p, address + count * 8, &string, 8)) {
            result = -EFAULT;
        } else if (!string) {
            break;
        } else if (count + 2 > room) {
            char **more = realloc(*strings, (room *= 2) * sizeof **strings);
            *strings = more ? more : *strings;
            result = more ? 0 : -ENOMEM;
        }
        if (!result)
            result = copy_string(p, string, buffer, STRING_MAX);
        if (result)
            break;
        total += strlen(buffer) + 1;
        (*strings)[count] = strdup(buffer);
        if (!(*strings)[count] || count >= ARGUMENTS_MAX || total > STACK_MAX / 4)
            result = (*strings)[count] ? -E2BIG : -ENOMEM;
        (*strings)[++count] = NULL;
    }
    free(buffer);
    return result == -ENAMETOOLONG ? -E2BIG : result;
}

// The interpreter line of a script: 1 and argv is rewritten (Linux, fs/binfmt_script.c), 0 if it is no
// script.
static int rewrite_for_script(int host, const char *path, char ***argv, char interpreter[SCRIPT_LINE])
{
    char line[SCRIPT_LINE + 1] = "";
    ssize_t length = pread(host, line, SCRIPT_LINE, 0);
    if (length < 2 || line[0] != '#' || line[1] != '!')
        return 0;
    char *end = line + strcspn(line, "\n"), *name = line + 2 + strspn(line + 2, " \t");
    if (end == line + SCRIPT_LINE) { // it goes on: what follows is cut off, unless that would cut the name
        if (name + strcspn(name, " \t") == end)
            return -ENOEXEC;
        end--;
    }
    *end = 0;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = 0;
    char *option = name + strcspn(name, " \t");
    if (!*name)
        return -ENOEXEC;
    if (*option) {
        *option++ = 0;
        option += strspn(option, " \t");
    }
    snprintf(interpreter, SCRIPT_LINE, "%s", name);
    size_t count = 0;
    while ((*argv)[count])
        count++;
    size_t first = *option ? 3 : 2; // words in front of the script's own arguments
    char **new = calloc(count + first + 1, sizeof *new);
    if (!new)
        return -ENOMEM;
    new[0] = strdup(name);
    if (*option)
        new[1] = strdup(option);
    new[first - 1] = strdup(path);
    for (size_t i = 1; i < count; i++)
        new[first + i - 1] = (*argv)[i];
    if (count)
        free((*argv)[0]);
    free(*argv);
    *argv = new;
    return new[0] && new[first - 1] && (first == 2 || new[1]) ? 1 : -ENOMEM;
}

// flags: O_NOFOLLOW or 0.
static int open_program(struct linux_process *p, int at, const char *path, int flags)
{
    struct descriptor d;
    int result = files_open(p->files, at, path, O_RDONLY | O_NONBLOCK | flags, 0, &d); // it may be a pipe
    if (result)
        return result;
    struct stat s;
    free(d.path);
    if (d.kind != DESCRIPTOR_FILE || fstat(d.host, &s) || !S_ISREG(s.st_mode) ||
        faccessat(d.host, "", X_OK, AT_EMPTY_PATH | AT_EACCESS))
        result = -EACCES;
    else if (files_is_written(p->files, d.host))
        result = -ETXTBSY;
    if (!result)
        return d.host;
    close(d.host);
    return result;
}

// Opens the program, and its interpreter's interpreter as long as it is a script.
static int open_interpreted(struct linux_process *p, int at, const char *path, int flags, char ***argv,
                            char last[PATH_MAX])
{
    char interpreter[SCRIPT_LINE];
    snprintf(last, PATH_MAX, "%s", path);
    for (int depth = 0; depth <= SCRIPT_DEPTH; depth++) {
        int host = open_program(p, at, last, depth ? 0 : flags);
        if (host < 0)
            return host;
        int result = rewrite_for_script(host, last, argv, interpreter);
        if (!result)
            return host;
        close(host);
        if (result < 0)
            return result;
        snprintf(last, PATH_MAX, "%s", interpreter);
        at = GUEST_AT_FDCWD;
    }
    return -ELOOP;
}

static int64_t execute(struct linux_process *p, int at, const char *path, int flags, uint64_t argv,
                       uint64_t envp)
{
    struct exec_arguments arguments = {NULL, NULL};
    char last[PATH_MAX];
    bool committed = false;
    int result = copy_strings(p, argv, &arguments.argv);
    if (!result)
        result = copy_strings(p, envp, &arguments.envp);
    if (!result && !arguments.argv[0]) { // Linux gives such a program one empty argument
        char **one = calloc(2, sizeof *one);
        if (one && (one[0] = strdup(""))) {
            free(arguments.argv);
            arguments.argv = one;
        } else {
            free(one);
            result = -ENOMEM;
        }
    }
    if (!result) {
        int host = open_interpreted(p, at, path, flags, &arguments.argv, last);
        result = host < 0 ? host : exec_load(p, host, last, &arguments, &committed, NULL);
    }
    free_strings(arguments.argv);
    free_strings(arguments.envp);
    if (result && !committed)
        return result;
    if (result) {
        process_die(p, 9, 0, "the new program of execve could not be loaded");
        return KEEP_REGISTERS;
    }
    descriptors_close_on_exec(p->files);
    signals_after_exec(p);
    process_after_exec(p);
    return KEEP_REGISTERS;
}

int64_t sys_execve(struct linux_process *p, const uint64_t *a)
{
    char path[PATH_MAX];
    int result = copy_string(p, a[0], path, sizeof path);
    return result ? result : execute(p, GUEST_AT_FDCWD, path, 0, a[1], a[2]);
}

int64_t sys_execveat(struct linux_process *p, const uint64_t *a)
{
    char path[PATH_MAX], text[PATH_MAX];
    int result = copy_string(p, a[1], path, sizeof path);
    if (result)
        return result;
    if (a[4] & ~(uint64_t)(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
        return -EINVAL;
    if (*path)
        return execute(p, (int)a[0], path, a[4] & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0, a[2], a[3]);
    if (!(a[4] & AT_EMPTY_PATH))
        return -ENOENT;
    if (!descriptor_get(p->files, a[0]))
        return -EBADF;
    snprintf(text, sizeof text, "/proc/self/fd/%d", (int)a[0]);
    return execute(p, GUEST_AT_FDCWD, text, 0, a[2], a[3]);
}
