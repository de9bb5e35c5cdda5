// SPDX-License-Identifier: MIT
// The file: a first line, then one sample a line, fields separated by blanks:
//
//   CLASS TYPE COUNTER COUNTED ENTRIES ITERATIONS TRIPS PROGRAM COMPILER FUNCTION PC WORDS REGISTERS
//   [STREAMS]
//
// TRIPS are decimal and separated by commas, WORDS eight hex digits each, REGISTERS hex and separated by
// commas, of which those that are left out behind the last are 0. An empty name is "-". STREAMS, of real
// programs, are separated by commas: "r1+320" reads bytes with stride 320, "w4+0" writes the same word again
// and again, "r1[]" looks up what another load says, "r1?" goes nobody knows where.
#include "loop_data.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/loops/propose/loop_code.h"
#include "frontend/base/paths.h"

static const char first_line[] = "loops 1";

const char *const loop_class_words[LOOP_CLASSES] = {
#define LOOP_CLASS(identifier, name) #identifier,
#include "core/loops/propose/loop_classes.def"
#undef LOOP_CLASS
};
static const char *const type_words[LOOP_TYPES] = {"NONE", "UP", "DOWN", "DATA"};

enum { FIELDS = 13, LINE_MAX_LENGTH = 4096 };

// ---- reading ----

static bool parse_number(const char *text, int base, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, base);
    return *text != '-' && *text != '+' && end != text && *end == '\0' && errno == 0 && *value <= most;
}

static bool parse_word(const char *text, const char *const *words, unsigned count, unsigned *value)
{
    for (*value = 0; *value < count; (*value)++)
        if (strcmp(text, words[*value]) == 0)
            return true;
    return false;
}

static bool parse_name(const char *text, char *name, size_t size)
{
    if (strcmp(text, "-") == 0)
        text = "";
    return (size_t)snprintf(name, size, "%s", text) < size;
}

// Numbers separated by commas; false if there are none or more than most.
static bool parse_list(char *text, int base, uint64_t *values, unsigned most, unsigned *count)
{
    *count = 0;
    for (char *next; text; text = next) {
        if ((next = strchr(text, ',')))
            *next++ = '\0';
        if (*count == most || !parse_number(text, base, UINT64_MAX, &values[*count]))
            return false;
        ++*count;
    }
    return true;
}

static bool parse_words(const char *text, struct loop_body *body)
{
    size_t digits = strlen(text);
    if (digits == 0 || digits % 8 != 0 || digits / 8 > LOOP_BODY_MAX ||
        strspn(text, "0123456789abcdef") != digits)
        return false;
    body->length = (uint32_t)(digits / 8);
    for (unsigned i = 0; i < body->length; i++) {
        char one[9] = "";
        memcpy(one, text + 8 * i, 8);
        body->words[i] = (uint32_t)strtoul(one, NULL, 16);
    }
    return true;
}

static bool parse_stream(const char *text, struct loop_stream *stream)
{
    char *end;
    unsigned long size = *text ? strtoul(text + 1, &end, 10) : 0;
    stream->is_store = *text == 'w';
    stream->size = (uint8_t)size;
    if ((*text != 'r' && *text != 'w') || size == 0 || size > 64)
        return false;
    stream->kind = *end == '[' ? STREAM_GATHER : *end == '?' ? STREAM_OTHER : STREAM_STEADY;
    if (stream->kind != STREAM_STEADY)
        return strcmp(end, stream->kind == STREAM_GATHER ? "[]" : "?") == 0;
    bool down = *end == '-';
    uint64_t step;
    if ((*end != '+' && !down) || !parse_number(end + 1, 10, INT64_MAX, &step))
        return false;
    stream->step = down ? -(int64_t)step : (int64_t)step;
    return true;
}

static bool parse_streams(char *text, struct loop_sample *s)
{
    for (char *next; text; text = next) {
        if ((next = strchr(text, ',')))
            *next++ = '\0';
        if (s->stream_count == LOOP_BODY_MAX || !parse_stream(text, &s->streams[s->stream_count++]))
            return false;
    }
    return true;
}

// NULL, or what is wrong with the line, which is changed.
static const char *parse_sample(char *line, struct loop_sample *s)
{
    char *field[FIELDS + 1], *save = NULL;
    unsigned fields = 0, value, registers;
    uint64_t number;
    memset(s, 0, sizeof *s);
    for (char *f = strtok_r(line, " ", &save); f; f = strtok_r(NULL, " ", &save)) {
        if (fields == FIELDS + 1)
            return "too many fields";
        field[fields++] = f;
    }
    if (fields < FIELDS)
        return "fields are missing";
    if (!parse_word(field[0], loop_class_words, LOOP_CLASSES, &value))
        return "no such class";
    s->class = (enum loop_class)value;
    if (!parse_word(field[1], type_words, LOOP_TYPES, &value))
        return "no such type";
    s->type = (enum loop_type)value;
    if (!parse_number(field[2], 10, 31, &number))
        return "the counter is no register";
    s->counter = (unsigned)number;
    if (!parse_number(field[3], 10, 1, &number))
        return "counted is neither 0 nor 1";
    s->counted = number;
    if (!parse_number(field[4], 10, UINT64_MAX, &s->entries) ||
        !parse_number(field[5], 10, UINT64_MAX, &s->iterations))
        return "entries or iterations are no number";
    if (strcmp(field[6], "-") != 0 && !parse_list(field[6], 10, s->trips, LOOP_TRIPS_MAX, &s->trips_count))
        return "the trips are no list of at most 8 numbers";
    if (!parse_name(field[7], s->program, sizeof s->program) ||
        !parse_name(field[8], s->compiler, sizeof s->compiler) ||
        !parse_name(field[9], s->function, sizeof s->function))
        return "a name is too long";
    if (!parse_number(field[10], 16, UINT32_MAX, &number))
        return "the pc is no hex number";
    s->body.pc = (uint32_t)number;
    if (!parse_words(field[11], &s->body))
        return "the body is not 1 to 32 words of 8 hex digits";
    if (!parse_list(field[12], 16, s->body.x, 32, &registers))
        return "the registers are no list of at most 32 hex numbers";
    if (fields > FIELDS && !parse_streams(field[FIELDS], s))
        return "the streams are no list of at most 32 accesses";
    return NULL;
}

static bool read_lines(FILE *file, const char *path, struct loop_data *data, struct error *error)
{
    char line[LINE_MAX_LENGTH];
    for (unsigned number = 1; fgets(line, sizeof line, file); number++) {
        size_t length = strlen(line);
        if (length == 0 || line[length - 1] != '\n')
            return error_set(error, "%s:%u: the line is cut off, too long or not text", path, number);
        line[length - 1] = '\0';
        if (number == 1) {
            if (strcmp(line, first_line) != 0)
                return error_set(error, "%s: no file of loops: its first line is not '%s'", path, first_line);
            continue;
        }
        struct loop_sample sample;
        const char *wrong = parse_sample(line, &sample);
        if (wrong)
            return error_set(error, "%s:%u: %s", path, number, wrong);
        if (!loop_data_add(data, &sample))
            return error_set(error, "%s:%u: no memory", path, number);
    }
    if (ferror(file))
        return error_set(error, "%s: %s", path, strerror(errno));
    if (data->count == 0)
        return error_set(error, "%s: no loops in it", path);
    return true;
}

bool loop_data_read(const char *path, struct loop_data *data, struct error *error)
{
    *data = (struct loop_data){NULL, 0, 0};
    FILE *file = fopen(path, "r");
    if (!file)
        return error_set(error, "cannot read %s: %s", path, strerror(errno));
    bool good = read_lines(file, path, data, error);
    fclose(file);
    if (!good)
        loop_data_free(data);
    return good;
}

// ---- writing ----

const char *loop_stream_text(const struct loop_stream *stream, char text[LOOP_STREAM_TEXT])
{
    int n = snprintf(text, LOOP_STREAM_TEXT, "%c%u", stream->is_store ? 'w' : 'r', stream->size);
    if (stream->kind == STREAM_STEADY)
        snprintf(text + n, LOOP_STREAM_TEXT - n, "%+" PRId64, stream->step);
    else
        snprintf(text + n, LOOP_STREAM_TEXT - n, "%s", stream->kind == STREAM_GATHER ? "[]" : "?");
    return text;
}

static void write_sample(FILE *file, const struct loop_sample *s)
{
    fprintf(file, "%s %s %u %d %" PRIu64 " %" PRIu64 " ", loop_class_words[s->class], type_words[s->type],
            s->counter, s->counted, s->entries, s->iterations);
    if (s->trips_count == 0)
        fputc('-', file);
    for (unsigned i = 0; i < s->trips_count; i++)
        fprintf(file, "%s%" PRIu64, i ? "," : "", s->trips[i]);
    fprintf(file, " %s %s %s %" PRIx32 " ", *s->program ? s->program : "-", *s->compiler ? s->compiler : "-",
            *s->function ? s->function : "-", s->body.pc);
    for (unsigned i = 0; i < s->body.length; i++)
        fprintf(file, "%08" PRIx32, s->body.words[i]);
    unsigned last = 31;
    while (last > 0 && s->body.x[last] == 0)
        last--;
    for (unsigned i = 0; i <= last; i++)
        fprintf(file, "%c%" PRIx64, i ? ',' : ' ', s->body.x[i]);
    for (unsigned i = 0; i < s->stream_count; i++) {
        char text[LOOP_STREAM_TEXT];
        fprintf(file, "%c%s", i ? ',' : ' ', loop_stream_text(&s->streams[i], text));
    }
    fputc('\n', file);
}

bool loop_data_write(const char *path, const struct loop_data *data, struct error *error)
{
    struct new_file file;
    bool good = new_file_open(&file, path);
    if (good) {
        fprintf(file.stream, "%s\n", first_line);
        for (size_t i = 0; i < data->count; i++)
            write_sample(file.stream, &data->samples[i]);
        good = new_file_commit(&file);
    }
    return good || error_set(error, "cannot write %s: %s", path, strerror(errno));
}

// ---- in memory ----

bool loop_data_add(struct loop_data *data, const struct loop_sample *sample)
{
    if (data->count == data->room) {
        size_t room = data->room ? 2 * data->room : 256;
        struct loop_sample *bigger = realloc(data->samples, room * sizeof *bigger);
        if (!bigger)
            return false;
        data->samples = bigger;
        data->room = room;
    }
    data->samples[data->count++] = *sample;
    return true;
}

void loop_data_free(struct loop_data *data)
{
    free(data->samples);
    *data = (struct loop_data){NULL, 0, 0};
}

// The word without what depends on where it stands or leads to.
static uint32_t without_address(uint32_t word)
{
    struct code_insn insn;
    code_decode(word, &insn);
    return code_without_address(word, &insn);
}

static bool same_body(const struct loop_body *a, const struct loop_body *b)
{
    if (a->length != b->length)
        return false;
    for (unsigned i = 0; i < a->length; i++)
        if (without_address(a->words[i]) != without_address(b->words[i]))
            return false;
    return true;
}

static uint64_t hash_body(const struct loop_body *body)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (unsigned i = 0; i < body->length; i++)
        hash = (hash ^ without_address(body->words[i])) * 0x100000001b3u, hash ^= hash >> 29;
    return hash;
}

void loop_data_deduplicate(struct loop_data *data)
{
    size_t slots = 16, kept = 0;
    while (slots < 2 * data->count)
        slots *= 2;
    size_t *table = calloc(slots, sizeof *table); // 0 = free, else index of a kept sample + 1
    for (size_t i = 0; i < data->count; i++) {
        struct loop_sample *sample = &data->samples[i], *first = NULL;
        size_t slot = 0;
        if (table) {
            slot = hash_body(&sample->body) & (slots - 1);
            while (table[slot] && !same_body(&data->samples[table[slot] - 1].body, &sample->body))
                slot = (slot + 1) & (slots - 1);
            first = table[slot] ? &data->samples[table[slot] - 1] : NULL;
        } else { // no memory: slowly
            for (size_t k = 0; k < kept && !first; k++)
                if (same_body(&data->samples[k].body, &sample->body))
                    first = &data->samples[k];
        }
        if (first) {
            first->entries += sample->entries;
            first->iterations += sample->iterations;
            continue;
        }
        data->samples[kept++] = *sample;
        if (table)
            table[slot] = kept;
    }
    free(table);
    data->count = kept;
}
