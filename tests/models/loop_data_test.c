// SPDX-License-Identifier: MIT
// Files of loops, and what stands in the shipped ones.
// usage: loop_data_test WORK_FOLDER FILE…
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/isa/isa.h"
#include "../../core/loops/expr/summary.h"
#include "../../models/neuromodel/loop_data.h"

static void ok(const char *name, bool good, const char *detail)
{
    if (good)
        printf("ok loops: %s\n", name);
    else
        printf("not ok loops: %s: %s\n", name, detail);
}

static char work[512];
static struct error error;

static const char *in_work(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", work, name);
    return path;
}

static struct loop_sample sample_of(uint32_t first, uint32_t last)
{
    struct loop_sample s = {.class = LOOP_FILL, .type = LOOP_TYPE_UP, .counter = 3, .counted = true};
    s.body.pc = 0x400000;
    s.body.length = 2;
    s.body.words[0] = first;
    s.body.words[1] = last;
    s.body.x[0] = ~(uint64_t)0;
    s.body.x[31] = 0x7ffffff0;
    s.entries = 2, s.iterations = 12;
    s.trips_count = 2, s.trips[0] = 5, s.trips[1] = 7;
    snprintf(s.program, sizeof s.program, "test");
    return s;
}

static void round_trip(void)
{
    struct loop_data data = {NULL, 0, 0}, again;
    struct loop_sample a = sample_of(0xf8008420, 0x54ffffe1), b = sample_of(0xd503201f, 0x14000000);
    b.stream_count = 3;
    b.streams[0] = (struct loop_stream){.size = 1, .kind = STREAM_STEADY, .step = 320};
    b.streams[1] = (struct loop_stream){.is_store = true, .size = 16, .kind = STREAM_STEADY, .step = -16};
    b.streams[2] = (struct loop_stream){.size = 4, .kind = STREAM_GATHER};
    b.class = LOOP_STRIDED_COPY, b.trips_count = 0, memset(b.trips, 0, sizeof b.trips);
    loop_data_add(&data, &a);
    loop_data_add(&data, &b);
    bool good =
        loop_data_write(in_work("trip"), &data, &error) && loop_data_read(in_work("trip"), &again, &error);
    ok("what is written is read again",
       good && again.count == 2 && !memcmp(&again.samples[0], &a, sizeof a) &&
           !memcmp(&again.samples[1], &b, sizeof b),
       error.text);
    loop_data_free(&data);
    if (good)
        loop_data_free(&again);
}

static void duplicates(void)
{
    struct loop_data data = {NULL, 0, 0};
    const uint32_t pairs[][2] = {
        {0xf8008420, 0x54ffffe1}, // str x0, [x1], #8; b.ne back
        {0xf8008420, 0x54ffffa1}, // by another distance: equal
        {0xf8008420, 0x54ffffe0}, // b.eq: another loop
        {0x90000001, 0xb5ffffe1}, // adrp; cbnz
        {0xd0000021, 0xb5ffff81}, // of another page: equal
        {0x90000001, 0xb4ffffe1}, // cbz: another loop
        {0x90000002, 0xb5ffffe1}, // another register: another loop
        {0x36180001, 0x17ffffff}, // tbz; b
        {0x36180041, 0x17fffff0}, // equal
        {0x36200001, 0x17ffffff}, // another bit: another loop
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct loop_sample s = sample_of(pairs[i][0], pairs[i][1]);
        loop_data_add(&data, &s);
    }
    loop_data_deduplicate(&data);
    ok("bodies that differ in addresses only are one", data.count == 7, "another number");
    ok("entries of equal bodies add up",
       data.count && data.samples[0].entries == 4 && data.samples[0].iterations == 24, "another sum");
    loop_data_free(&data);
}

static void refused(const char *name, const char *text, const char *message)
{
    struct loop_data data;
    FILE *file = fopen(in_work("bad"), "w");
    fputs(text, file);
    fclose(file);
    bool read = loop_data_read(in_work("bad"), &data, &error);
    ok(name, !read && strstr(error.text, message), read ? "was read" : error.text);
    if (read)
        loop_data_free(&data);
}

static void broken_files(void)
{
#define GOOD "FILL UP 3 1 2 12 5,7 test - - 400000 f800842054ffffe1 1,2,3\n"
    refused("an empty file is refused", "", "no loops");
    refused("another file is refused", "dispatch 1\n" GOOD, "no file of loops");
    refused("a file without samples is refused", "loops 1\n", "no loops in it");
    refused("the line is named", "loops 1\n" GOOD "FILL\n", ":3: fields are missing");
    refused("a cut line is refused", "loops 1\nFILL UP 3", "cut off");
    refused("too many fields are refused", "loops 1\nx y " GOOD, "too many");
    refused("no such class", "loops 1\nFILLS UP 3 1 2 12 5,7 test - - 400000 f800842054ffffe1 1\n", "class");
    refused("no such type", "loops 1\nFILL AWAY 3 1 2 12 5,7 test - - 400000 f800842054ffffe1 1\n", "type");
    refused("no such register", "loops 1\nFILL UP 32 1 2 12 5,7 test - - 400000 f800842054ffffe1 1\n",
            "register");
    refused("nine trips", "loops 1\nFILL UP 3 1 2 12 1,2,3,4,5,6,7,8,9 test - - 4 f800842054ffffe1 1\n",
            "trips");
    refused("half a word", "loops 1\nFILL UP 3 1 2 12 5,7 test - - 400000 f80084205 1\n", "words");
    refused("no word", "loops 1\nFILL UP 3 1 2 12 5,7 test - - 400000 zzzzzzzz 1\n", "words");
    refused("a stream that is none", "loops 1\nFILL UP 3 1 2 12 5 t - - 4 f8008420 1 r4+4,x4+4\n", "streams");
    refused("a stream without size", "loops 1\nFILL UP 3 1 2 12 5 t - - 4 f8008420 1 r+4\n", "streams");
    refused("a register too large", "loops 1\nFILL UP 3 1 2 12 5 t - - 4 f8008420 11111111111111111\n",
            "registers");
    struct loop_data data;
    ok("no file is an error", !loop_data_read(in_work("none"), &data, &error) && strstr(error.text, "none"),
       error.text);
}

// ---- the trip counts that were met, against those that follow from the registers ----

static uint64_t value_of(const struct linear *l, const uint64_t *x)
{
    uint64_t sum = l->constant;
    for (unsigned i = 0; i < l->count; i++)
        sum += (uint64_t)l->factor[i] * x[l->var[i]];
    return sum;
}

static bool of_registers(const struct linear *l)
{
    for (unsigned i = 0; i < l->count; i++)
        if (l->var[i] > 31)
            return false;
    return l->valid;
}

// How often the loop goes round until the exit is taken, at most most times.
static uint64_t trips_to(const struct loop_exit *e, const uint64_t *x, uint64_t most)
{
    uint64_t counter = value_of(&e->start, x), step = value_of(&e->step, x), limit = value_of(&e->limit, x);
    for (uint64_t i = 1; i < most; i++, counter += step) {
        uint64_t a = e->swapped ? limit : counter, b = e->swapped ? counter : limit;
        if (e->bits == 32)
            a = (uint32_t)a, b = (uint32_t)b;
        int64_t sa = e->bits == 32 ? (int32_t)a : (int64_t)a, sb = e->bits == 32 ? (int32_t)b : (int64_t)b;
        bool on = false;
        switch (e->compare) {
        case NODE_EQ: on = (a == b) == e->is_equal; break;
        case NODE_ULT: on = a < b; break;
        case NODE_ULE: on = a <= b; break;
        case NODE_SLT: on = sa < sb; break;
        case NODE_SLE: on = sa <= sb; break;
        }
        if (!on)
            return i;
    }
    return most;
}

// False if the sample's count cannot be foretold.
static bool foretell(const struct loop_sample *s, uint64_t *trips)
{
    static struct loop_summary summary;
    const char *reason;
    *trips = 1 << 22;
    if (!s->counted || s->trips_count == 0 ||
        !loop_summarize(&summary, s->body.pc, s->body.words, s->body.length, &reason) ||
        summary.exit_count == 0)
        return false;
    for (unsigned i = 0; i < summary.exit_count; i++) {
        const struct loop_exit *e = &summary.exits[i];
        if (!e->counted || !of_registers(&e->start) || !of_registers(&e->step) || !of_registers(&e->limit))
            return false;
        *trips = trips_to(e, s->body.x, *trips);
    }
    return true;
}

// DOOM's SHA1_Update goes round the block that it fills by code that jumps into the loop and out of it, so
// that its entries cannot be told apart: the one count in all data that does not follow from the registers.
static bool is_left_in_the_middle(const struct loop_sample *s)
{
    return strcmp(s->program, "doom") == 0 && s->body.pc == 0x410dac;
}

static void shipped(const char *path)
{
    struct loop_data data;
    char name[128], detail[256] = "";
    const char *slash = strrchr(path, '/');
    unsigned foretold = 0, wrong = 0, classes[LOOP_CLASSES] = {0};
    if (!loop_data_read(path, &data, &error)) {
        ok(path, false, error.text);
        return;
    }
    size_t count = data.count;
    for (size_t i = 0; i < count; i++) {
        const struct loop_sample *s = &data.samples[i];
        uint64_t trips;
        classes[s->class]++;
        if (is_left_in_the_middle(s) || !foretell(s, &trips))
            continue;
        foretold++;
        if (trips != s->trips[0]) {
            wrong++;
            snprintf(detail, sizeof detail, "%s %s %s went round %llu times, not %llu", s->program,
                     s->compiler, s->function, (unsigned long long)s->trips[0], (unsigned long long)trips);
        }
    }
    snprintf(name, sizeof name, "%s: %u trip counts are those that follow from the registers",
             slash ? slash + 1 : path, foretold);
    if (wrong)
        printf("%u of them wrong\n", wrong);
    ok(name, foretold > 0 && wrong == 0, detail);
    loop_data_deduplicate(&data);
    snprintf(name, sizeof name, "%s has no loop twice", slash ? slash + 1 : path);
    ok(name, data.count == count, "some are equal");
    loop_data_free(&data);
}

int main(int argc, char **argv)
{
    snprintf(work, sizeof work, "%s", argv[1]);
    round_trip();
    duplicates();
    broken_files();
    for (int i = 2; i < argc; i++)
        shipped(argv[i]);
    return 0;
}
