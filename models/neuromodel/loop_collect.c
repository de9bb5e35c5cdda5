// SPDX-License-Identifier: MIT
// neuromodel collect: the innermost loops of a real program's run, with what they really were entered with
// and how often they went round. What a loop is comes from its code, or, where that does not show it, from a
// table made by reading the program's source.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/loops/propose/loop_code.h"
#include "frontend/base/paths.h"
#include "loop_image.h"
#include "loop_tool.h"

enum { SHOWN = 60 };

// "doom" of "build/guest/doom.aarch64"
static void program_name(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(name, size, "%s", slash ? slash + 1 : path);
    name[strcspn(name, ".")] = '\0';
}

// ---- the table ----

struct known_loop {
    char program[16], function[48];
    unsigned offset; // of the loop's header in it
    enum loop_class class;
};

struct known_loops {
    struct known_loop *loops;
    size_t count;
};

static bool parse_known(const char *line, struct known_loop *k)
{
    char class[32];
    unsigned c = 0;
    if (sscanf(line, "%15s %47s %x %31s", k->program, k->function, &k->offset, class) != 4)
        return false;
    while (c < LOOP_CLASSES && strcmp(loop_class_words[c], class) != 0)
        c++;
    k->class = (enum loop_class)c;
    return c < LOOP_CLASSES;
}

// Lines PROGRAM FUNCTION OFFSET CLASS, and what else is for people; # begins a comment.
static bool read_known(const char *path, struct known_loops *known, struct error *error)
{
    char line[512];
    FILE *file = fopen(path, "r");
    if (!file)
        return error_set(error, "cannot read %s: %s", path, strerror(errno));
    bool good = true;
    for (unsigned number = 1; good && fgets(line, sizeof line, file); number++) {
        struct known_loop *bigger, k;
        if (*line == '#' || *line == '\n')
            continue;
        good = parse_known(line, &k);
        if (!good)
            error_set(error, "%s:%u: not PROGRAM FUNCTION OFFSET CLASS", path, number);
        else if ((bigger = realloc(known->loops, (known->count + 1) * sizeof *bigger))) {
            known->loops = bigger;
            known->loops[known->count++] = k;
        }
    }
    fclose(file);
    return good;
}

static enum loop_class known_class(const struct known_loops *known, const char *program,
                                   const struct seen_loop *loop)
{
    for (size_t i = 0; i < known->count; i++) {
        const struct known_loop *k = &known->loops[i];
        if (k->offset == loop->offset && strcmp(k->function, loop->function) == 0 &&
            strcmp(k->program, program) == 0)
            return k->class;
    }
    return LOOP_CLASSES;
}

// ---- for people ----

struct row {
    const struct seen_loop *loop;
    struct loop_sample sample;
    enum label_verdict verdict;
    uint64_t instructions; // in all iterations, as far as paths do not differ
};

static int by_instructions(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return (x->instructions < y->instructions) - (x->instructions > y->instructions);
}

// Where the loop reads and writes.
static void find_streams(struct loop_sample *s)
{
    struct code_body code;
    code_read(&s->body, &code);
    for (unsigned i = 0; i < code.length; i++) {
        const struct code_insn *insn = &code.insn[i];
        const struct form *address = &code.fact[i].address;
        if ((insn->kind != CODE_LOAD && insn->kind != CODE_STORE) || code.fact[i].slot ||
            !(code.back >> i & 1))
            continue;
        struct loop_stream *stream = &s->streams[s->stream_count++];
        stream->is_store = insn->kind == CODE_STORE;
        stream->size = (uint8_t)code_bytes(insn);
        stream->kind = code_form_step(&code, address, s->body.x, &stream->step) ? STREAM_STEADY
                       : address->loads                                         ? STREAM_GATHER
                                                                                : STREAM_OTHER;
    }
}

static bool is_innermost(const struct row *r)
{
    return r->verdict != LABEL_NO_LOOP && r->verdict != LABEL_TOO_LONG;
}

static void print_rows(const struct row *rows, size_t count)
{
    static const char *const types[LOOP_TYPES] = {"none", "up", "down", "data"};
    uint64_t all = 0, good = 0;
    size_t samples = 0, innermost = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_innermost(&rows[i]))
            continue;
        innermost++;
        all += rows[i].instructions;
        good += rows[i].verdict == LABEL_GOOD ? rows[i].instructions : 0;
        samples += rows[i].verdict == LABEL_GOOD;
    }
    printf("%zu innermost loops, %zu of them samples, with %.1f %% of the instructions in such loops\n",
           innermost, samples, all ? 100.0 * (double)good / (double)all : 0);
    for (size_t i = 0, shown = 0; i < count && shown < SHOWN; i++) {
        if (!is_innermost(&rows[i]))
            continue;
        shown++;
        const struct row *r = &rows[i];
        bool known = r->verdict == LABEL_GOOD;
        printf("%5.2f %% %9llu x %7.1f  %s+%x  %s %s x%u ", 100.0 * (double)r->instructions / (double)all,
               (unsigned long long)r->loop->entries, (double)r->loop->iterations / (double)r->loop->entries,
               r->loop->function, r->loop->offset,
               known ? loop_class_words[r->sample.class] : label_verdict_names[r->verdict],
               known ? types[r->sample.type] : "", known ? r->sample.counter : 31);
        for (unsigned k = 0; k < r->sample.stream_count; k++) {
            char text[LOOP_STREAM_TEXT];
            printf(" %s", loop_stream_text(&r->sample.streams[k], text));
        }
        printf("\n");
    }
}

// ---- the command ----

// What the file has already, if it is there; false if that cannot be read, or the file not be written, which
// is to show before the run.
static bool open_samples(const char *out, struct loop_data *data, struct error *error)
{
    struct stat info;
    if (!new_file_try(out))
        return error_set(error, "cannot write %s: %s", out, strerror(errno));
    return stat(out, &info) != 0 || !S_ISREG(info.st_mode) || loop_data_read(out, data, error);
}

static bool add_samples(const char *out, struct loop_data *data, const struct row *rows, size_t count,
                        struct error *error)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].verdict == LABEL_GOOD && !loop_data_add(data, &rows[i].sample))
            return error_set(error, "no memory");
    loop_data_deduplicate(data);
    return loop_data_write(out, data, error);
}

int loop_collect(const struct tool_options *options)
{
    struct error error = {.text = "no memory"};
    char path[1024], name[16];
    const char *out = options->out ? options->out : "loops-collected.txt";
    struct known_loops known = {NULL, 0};
    struct seen_loops seen = {NULL, 0};
    struct loop_image image = {NULL, 0};
    struct loop_data data = {NULL, 0, 0};
    const struct run_options run = {
        .argv = (const char *const *)options->files, .folder = ".", .most = 1000000000000};
    if (options->file_count == 0) {
        fprintf(stderr, "neuromodel: collect: which program?\n");
        return 1;
    }
    program_name(options->files[0], name, sizeof name);
    bool good = open_samples(out, &data, &error) &&
                read_known(tool_path(path, sizeof path, options->data, "loops-known.txt"), &known, &error) &&
                loop_image_read(options->files[0], &image, &error) && loop_run(&run, &seen, &error);
    struct row *rows = calloc(seen.count + 1, sizeof *rows);
    size_t count = 0;
    good = good && rows;
    for (size_t i = 0; good && i < seen.count; i++) {
        const struct seen_loop *loop = &seen.loops[i];
        if (!*loop->function)
            continue;
        struct row *r = &rows[count++];
        r->loop = loop;
        r->instructions = loop->iterations * ((loop->branch - loop->header) / 4 + 1);
        r->verdict = loop_image_sample(&image, loop, known_class(&known, name, loop), &r->sample);
        if (is_innermost(r))
            find_streams(&r->sample);
        snprintf(r->sample.program, sizeof r->sample.program, "%s", name);
        snprintf(r->sample.compiler, sizeof r->sample.compiler, "%s", name);
    }
    if (good) {
        qsort(rows, count, sizeof *rows, by_instructions);
        print_rows(rows, count);
        good = add_samples(out, &data, rows, count, &error);
    }
    free(rows);
    free(image.words);
    free(seen.loops);
    free(known.loops);
    loop_data_free(&data);
    return good ? 0 : tool_fail(&error);
}
