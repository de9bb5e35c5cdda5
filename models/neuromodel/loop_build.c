// SPDX-License-Identifier: MIT
#include "loop_build.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GCC "aarch64-linux-gnu-gcc"
#define CLANG "clang-19 --target=aarch64-linux-gnu"
// Loops stay loops and one instruction handles one element.
#define GCC_SCALAR "-fno-tree-vectorize -fno-tree-loop-distribute-patterns "
#define CLANG_SCALAR "-fno-vectorize -fno-slp-vectorize -fno-builtin "

const struct build_configuration build_configurations[] = {
    {"gcc-O0", GCC, "-O0"},
    {"gcc-Og", GCC, "-Og"},
    {"gcc-O1", GCC, "-O1"},
    {"gcc-O2", GCC, "-O2"},
    {"gcc-O3", GCC, "-O3"},
    {"gcc-Os", GCC, "-Os"},
    {"gcc-O2-plain", GCC, "-O2 -fno-strict-aliasing " GCC_SCALAR},
    {"gcc-O2-a53", GCC, "-O2 -mtune=cortex-a53 " GCC_SCALAR},
    {"gcc-O3-scalar", GCC, "-O3 -mtune=cortex-a72 " GCC_SCALAR},
    {"gcc-O2-unroll", GCC, "-O2 -funroll-loops --param max-unroll-times=2 " GCC_SCALAR},
    {"clang-O0", CLANG, "-O0"},
    {"clang-O1", CLANG, "-O1"},
    {"clang-O2", CLANG, "-O2"},
    {"clang-O3", CLANG, "-O3"},
    {"clang-Os", CLANG, "-Os"},
    {"clang-Oz", CLANG, "-Oz " CLANG_SCALAR},
    {"clang-O2-plain", CLANG, "-O2 -fno-strict-aliasing -fno-unroll-loops " CLANG_SCALAR},
    {"clang-O2-a53", CLANG, "-O2 -mtune=cortex-a53 -fno-unroll-loops " CLANG_SCALAR},
};
const unsigned build_configuration_count = sizeof build_configurations / sizeof build_configurations[0];

static const char common_options[] =
    "-std=gnu11 -w -fwrapv -fno-pic -fno-stack-protector -fno-asynchronous-unwind-tables";

static const char *const template_files[] = {"common.txt",  "fill.txt",   "copy.txt",  "map.txt",
                                             "texture.txt", "reduce.txt", "scan.txt",  "walk.txt",
                                             "sort.txt",    "wait.txt",   "other.txt", "none.txt"};

// A shell command; -1 if it cannot be started. The words of the command are our own.
__attribute__((format(printf, 1, 2))) static int start(const char *format, ...)
{
    char *command;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&command, format, arguments);
    va_end(arguments);
    if (length < 0)
        return -1;
    fflush(NULL);
    int process = fork();
    if (process == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    free(command);
    return process;
}

bool build_wait(int process)
{
    int status;
    while (process > 0 && waitpid(process, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return process > 0 && status == 0;
}

bool build_begin(struct builder *b, const char *sources, struct error *error)
{
    *b = (struct builder){.sources = sources};
    // The programs see their path, so its length moves their stacks, and with these what is sampled: the seed
    // set's were in a folder of 17 characters.
    if (!scratch_make(&b->scratch))
        return error_set(error, "no temporary folder in $TMPDIR or /tmp: %s", strerror(errno));
    if (strchr(sources, '\'') || strchr(b->scratch.path, '\''))
        return error_set(error, "a quote in the name of %s or of %s", sources, b->scratch.path);
    for (size_t i = 0; i < sizeof template_files / sizeof template_files[0]; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", sources, template_files[i]);
        if (!templates_read(&b->templates, path, error))
            return false;
    }
    if (build_wait(start(GCC " -O1 %s -c '%s/runtime.c' -o '%s/runtime.o'", common_options, sources,
                         b->scratch.path)))
        return true;
    return error_set(error, "cannot compile runtime.c with " GCC " (Debian: gcc-aarch64-linux-gnu)");
}

void build_end(struct builder *b)
{
    scratch_remove(&b->scratch);
    templates_free(&b->templates);
}

static const struct template *choose(const struct template_set *set, enum loop_class class, struct rng *r)
{
    uint32_t all = 0;
    for (size_t i = 0; i < set->count; i++)
        if (set->templates[i].class == class)
            all += set->templates[i].weight;
    uint32_t left = rng_below(r, all);
    for (size_t i = 0; i < set->count; i++) {
        const struct template *t = &set->templates[i];
        if (t->class == class && left < t->weight)
            return t;
        left -= t->class == class ? t->weight : 0;
    }
    return NULL;
}

static bool write_functions(const struct builder *b, struct rng *r, unsigned functions, FILE *source,
                            FILE *calls, struct error *error)
{
    // All of them, and once more those whose loops the compilers make more alike, or that there are more
    // kinds of.
    static const enum loop_class classes[] = {
        LOOP_FILL,      LOOP_COPY,      LOOP_STRIDED_COPY, LOOP_COLUMN,  LOOP_SPAN,
        LOOP_MAP,       LOOP_SCAN,      LOOP_REDUCTION,    LOOP_COMPARE, LOOP_POLL,
        LOOP_COUNTDOWN, LOOP_LIST_WALK, LOOP_SEARCH,       LOOP_OTHER,   LOOP_NONE,
        LOOP_SCAN,      LOOP_SORT_PASS, LOOP_COMPARE,      LOOP_POLL,    LOOP_LIST_WALK,
        LOOP_SEARCH,    LOOP_SORT_PASS, LOOP_OTHER,        LOOP_MAP,     LOOP_OTHER};
    fprintf(source, "#include \"runtime.h\"\n");
    fprintf(calls, "#include \"calls.h\"\n");
    for (unsigned i = 0; i < functions; i++) {
        enum loop_class class = classes[i % (sizeof classes / sizeof classes[0])];
        const struct template *t = choose(&b->templates, class, r);
        struct template_function f;
        char name[48];
        snprintf(name, sizeof name, "%s_%u", loop_class_words[class], i);
        for (char *c = name; *c; c++)
            *c = (char)tolower(*c);
        if (!t)
            return error_set(error, "no template of %s", loop_class_words[class]);
        if (!template_expand(t, name, r, &f, error))
            return false;
        fprintf(source, "%s\n", f.text);
        fprintf(calls,
                "%s\nstatic void call_%u(void)\n{\n    int n = count();\n    u64 v = value();\n"
                "    void *a = buffer(0), *b = buffer(1), *c = buffer(2);\n"
                "    (void)n, (void)v, (void)a, (void)b, (void)c;\n    %s}\n",
                f.prototype, i, f.call);
        free(f.text), free(f.prototype), free(f.call);
    }
    fprintf(calls, "void (*const calls[])(void) = {");
    for (unsigned i = 0; i < functions; i++)
        fprintf(calls, "call_%u, ", i);
    fprintf(calls, "};\nconst unsigned function_count = %u;\nconst u64 program_seed = %luu;\n", functions,
            (unsigned long)rng_next(r));
    return true;
}

bool build_program(struct builder *b, uint64_t seed, unsigned functions, struct error *error)
{
    char path[300];
    struct rng r = {seed};
    snprintf(path, sizeof path, "%s/functions.c", b->scratch.path);
    FILE *source = fopen(path, "w");
    snprintf(path, sizeof path, "%s/calls.c", b->scratch.path);
    FILE *calls = fopen(path, "w");
    bool good = false;
    if (!source || !calls)
        error_set(error, "cannot write %s: %s", path, strerror(errno));
    else
        good = write_functions(b, &r, functions, source, calls, error);
    if (source)
        good &= fclose(source) == 0;
    if (calls)
        good &= fclose(calls) == 0;
    if (!good)
        return false;
    if (build_wait(start(GCC " -O1 %s -I '%s' -c '%s/calls.c' -o '%s/calls.o'", common_options, b->sources,
                         b->scratch.path, b->scratch.path)))
        return true;
    return error_set(error, "the calls of generated functions do not compile");
}

int build_start(const struct builder *b, unsigned configuration)
{
    const struct build_configuration *c = &build_configurations[configuration];
    return start("cd '%s' && %s %s %s -I '%s' -c functions.c -o %s.o && " GCC
                 " -static -nostdlib -Wl,--build-id=none -o %s %s.o calls.o runtime.o -lgcc",
                 b->scratch.path, c->compiler, common_options, c->options, b->sources, c->name, c->name,
                 c->name);
}

const char *build_path(const struct builder *b, unsigned configuration, char *text, size_t size)
{
    snprintf(text, size, "%s/%s", b->scratch.path, build_configurations[configuration].name);
    return text;
}

const char *build_compiler_version(unsigned configuration, char *text, size_t size)
{
    char command[128];
    snprintf(command, sizeof command, "%s --version 2>/dev/null",
             build_configurations[configuration].compiler);
    FILE *pipe = popen(command, "r");
    *text = '\0';
    if (!pipe)
        return text;
    if (!fgets(text, (int)size, pipe))
        *text = '\0';
    text[strcspn(text, "\n")] = '\0';
    while (fgetc(pipe) != EOF)
        ;
    pclose(pipe);
    return text;
}

bool build_class_of(const char *function, enum loop_class *class)
{
    for (unsigned i = 0; i < LOOP_CLASSES; i++) {
        size_t length = strlen(loop_class_words[i]);
        if (strncasecmp(function, loop_class_words[i], length) == 0 && function[length] == '_' &&
            isdigit((unsigned char)function[length + 1])) {
            *class = (enum loop_class)i;
            return true;
        }
    }
    return false;
}
