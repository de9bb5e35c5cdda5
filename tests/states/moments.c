// SPDX-License-Identifier: MIT
// Returning to moments: what a machine does from there on is what it did before.
//
//   moments doom BUILD ENGINE LOOPS SEED FRAMES MIB DEMO-ARGUMENT…
//   moments program FILE ENGINE SEED STEPS
//   moments damage BUILD ENGINE SEED COUNT DEMO-ARGUMENT…
//
// doom: a demo with a moment at each frame; now and then it returns to one that is kept, or another machine
// that takes its place does, and frames, sound and counts have to be those of the first time. program: the
// same for any program, in pieces of random length; what is compared is all of its memory and registers when
// it returns, and what it writes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "core/core.h"
#include "core/state/guest.h"

static uint64_t random_state;

static uint64_t pick(uint64_t below)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

static _Noreturn void fail(const char *what, uint64_t where)
{
    printf("%s (%llu)\n", what, (unsigned long long)where);
    exit(1);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static machine *create(const struct machine_config *config)
{
    struct error error;
    machine *m = machine_create(config, &error);
    if (!m) {
        printf("%s\n", error.text);
        exit(1);
    }
    return m;
}

static enum machine_engine engine_of(const char *name)
{
    enum machine_engine engine;
    if (!machine_engine_by_name(name, &engine))
        fail("no such engine", 0);
    return engine;
}

static uint64_t add(machine *m)
{
    struct error error;
    uint64_t moment = machine_add_moment(m, &error);
    if (!moment) {
        printf("no moment: %s\n", error.text);
        exit(1);
    }
    return moment;
}

static void return_to(machine *m, uint64_t moment)
{
    struct error error;
    if (!machine_return_to(m, moment, &error)) {
        printf("no way back to %llu: %s\n", (unsigned long long)moment, error.text);
        exit(1);
    }
}

static void keep(machine *m, size_t limit)
{
    struct error error;
    if (!machine_keep_moments(m, limit, &error)) {
        printf("%s\n", error.text);
        exit(1);
    }
}

// ---- doom ----

// What is to be the same each time that a frame comes.
struct seen {
    uint64_t picture, sound, instructions, system_calls;
};

#define FRAMES_MOST 10000u
static struct seen seen[FRAMES_MOST];
static uint64_t sound_hash;
static uint32_t shown;
static machine *doom;

static void present(void *user, const struct machine_frame *frame)
{
    (void)user;
    if (frame->number >= FRAMES_MOST) { // a damaged count
        machine_request_stop(doom);
        return;
    }
    struct seen s = {.sound = sound_hash};
    s.picture = XXH3_64bits_withSeed(frame->indices, 64000, XXH3_64bits(frame->palette, 768));
    shown = frame->number;
    if (seen[shown].picture && (seen[shown].picture != s.picture || seen[shown].sound != s.sound))
        fail("another picture or sound than the first time, frame", shown);
    seen[shown].picture = s.picture;
    seen[shown].sound = s.sound;
    sound_hash = 0;
    machine_request_stop(doom);
}

static void hear(void *user, const int16_t (*samples)[2], size_t count)
{
    (void)user;
    sound_hash = XXH3_64bits_withSeed(samples, count * 4, sound_hash + 1);
}

static void count(void)
{
    struct machine_stats n;
    machine_get_stats(doom, &n);
    struct seen *s = &seen[shown];
    uint64_t instructions = n.retired + n.credited;
    if (n.frames != shown)
        fail("frames are counted wrongly", shown);
    if (s->instructions && (s->instructions != instructions || s->system_calls != n.system_calls))
        fail("other counts than the first time, frame", shown);
    s->instructions = instructions;
    s->system_calls = n.system_calls;
}

static char home[] = "/tmp/moments.XXXXXX";

// A machine that is about to play; the arguments follow the program's name, which is put in place.
static machine *start_doom(const char *build, const char *engine, bool loops, char **arguments)
{
    static const struct machine_grant grants[] = {
        {.host = "/usr/share/games/doom", .guest = "/usr/share/games/doom"},
        {.host = home, .guest = "/saves", .writable = true},
    };
    static const char *const environment[] = {"HOME=/saves", "NEURODOOM_SAVEDIR=/saves", NULL};
    static char program[4096];
    snprintf(program, sizeof program, "%s/guest/doom.aarch64", build);
    arguments[0] = (char *)"doom";
    const struct machine_config config = {
        .program = program,
        .argv = (const char *const *)arguments,
        .envp = environment,
        .cwd = "/saves",
        .grants = grants,
        .grant_count = 2,
        .device = true,
        .deterministic = true,
        .clock = MACHINE_CLOCK_VIRTUAL,
        .engine = engine_of(engine),
        .library_folder = build,
        .loop_models = loops ? "models/weights" : NULL,
        .loops = loops,
        .present = present,
        .audio = hear,
    };
    return create(&config);
}

static void remove_home(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", home);
    if (system(command))
        printf("%s stays\n", home);
}

static void make_home(void)
{
    if (!mkdtemp(home))
        fail("no folder", 0);
    atexit(remove_home);
}

// A state beside the moments, which stay when it is loaded.
static void put_away(struct machine_bytes *slot, uint32_t *frame)
{
    struct error error;
    free(slot->data);
    if (!machine_save(doom, slot, &error))
        fail(error.text, shown);
    *frame = shown;
}

static void take_out(const struct machine_bytes *slot, uint32_t frame)
{
    struct error error;
    if (!machine_load(doom, slot->data, slot->size, &error))
        fail(error.text, shown);
    sound_hash = 0;
    shown = frame;
    count();
}

// Another machine takes the place of this one, and goes back to the moment.
static void return_elsewhere(char **argument, size_t limit, uint64_t first, uint64_t to)
{
    struct machine_bytes state, moments;
    struct error error;
    add(doom);
    if (!machine_save(doom, &state, &error) || !machine_save_moments(doom, first, &moments, &error))
        fail(error.text, shown);
    machine_destroy(doom);
    doom = start_doom(argument[0], argument[1], !strcmp(argument[2], "on"), argument + 5);
    if (!machine_load(doom, state.data, state.size, &error))
        fail(error.text, shown);
    keep(doom, limit);
    if (!machine_load_moments(doom, moments.data, moments.size, &error))
        fail(error.text, shown);
    free(state.data);
    free(moments.data);
    return_to(doom, to);
}

static int play_doom(char **argument)
{
    random_state = strtoull(argument[3], NULL, 10);
    uint32_t frames = (uint32_t)atoi(argument[4]);
    size_t limit = (size_t)atoi(argument[5]) << 20;
    make_home();
    doom = start_doom(argument[0], argument[1], !strcmp(argument[2], "on"), argument + 5);
    keep(doom, limit);
    struct machine_bytes slot = {NULL, 0};
    uint32_t slot_frame = 0;
    static uint32_t frame_of[FRAMES_MOST * 8]; // by moment
    uint64_t moments = 0, returns = 0, machines = 1, bytes = 0;
    double total = 0, worst = 0;
    while (shown < frames && machine_run(doom, UINT64_MAX) == MACHINE_RUNNING) {
        count();
        double start = now_ms();
        uint64_t moment = add(doom);
        double took = now_ms() - start;
        if (moment >= FRAMES_MOST * 8)
            break;
        frame_of[moment] = shown;
        if (moments++) {
            total += took;
            worst = took > worst ? took : worst;
        }
        struct machine_moments kept;
        machine_get_moments(doom, &kept);
        if (kept.bytes > limit + (8u << 20))
            fail("more bytes than allowed", kept.bytes);
        bytes = kept.bytes;
        if (pick(80) == 0)
            put_away(&slot, &slot_frame);
        else if (slot.data && pick(80) == 0)
            take_out(&slot, slot_frame);
        if (pick(40) == 0) {
            uint64_t back = pick(10) ? 9 : kept.last - kept.first + 1; // far now and then
            uint64_t to = kept.last - pick(kept.last - kept.first < back ? kept.last - kept.first + 1 : back);
            if (pick(2))
                machine_run(doom, 1000 + pick(2000000)); // from within a frame
            if (pick(3)) {
                return_to(doom, to);
            } else {
                return_elsewhere(argument, limit, pick(2) ? kept.first : to, to);
                machines++;
            }
            sound_hash = 0;
            shown = frame_of[to];
            count();
            returns++;
        }
    }
    struct machine_moments kept;
    machine_get_moments(doom, &kept);
    printf("%u frames, %llu moments, %llu returns, %llu machines; a moment takes %.2f ms, at most %.2f; the "
           "last %llu take "
           "%.1f MiB\n",
           shown, (unsigned long long)moments, (unsigned long long)returns, (unsigned long long)machines,
           total / (double)(moments ? moments : 1), worst, (unsigned long long)(kept.last - kept.first + 1),
           (double)bytes / (1 << 20));
    free(slot.data);
    machine_destroy(doom);
    return shown < frames;
}

// ---- damage ----

#define CHECKED 24u // where the part begins that the checksum in front of it is for

#define PROCESS 8000u // bytes or so: registers, what system calls have left, open files

// The last mapping that a program may have (page, count, offset and flags).
static uint8_t *last_mapping(uint8_t *data, size_t size)
{
    const uint32_t last = GUEST_MMAP_END / GUEST_PAGE - 1,
                   there[] = {last, 1, 0, MEMORY_MAPPED | PROT_READ | PROT_EXEC};
    uint8_t *at = memmem(data, size, there, sizeof there);
    if (!at)
        fail("nothing is mapped at page", last);
    return at;
}

// Where to change something: in one of the parts that are small but matter, or anywhere.
static size_t pick_place(size_t size, size_t mappings_end)
{
    const size_t mappings = 24 * sizeof(uint32_t[4]), process = PROCESS < size ? PROCESS : size;
    switch (pick(4)) {
    case 0: return CHECKED + pick(size - CHECKED);
    case 1:
        if (mappings_end <= size)
            return mappings_end - 1 - pick(mappings);
        // fallthrough
    default: return CHECKED + pick(process - CHECKED);
    }
}

// Changes a few bytes, or what may be a number or an address.
static void damage(uint8_t *data, size_t size, size_t mappings_end)
{
    static const uint64_t numbers[] = {0,           1,          0xfff,      0x1001,           GUEST_MMAP_MIN,
                                       GUEST_SPACE, 0x7fffffff, 0xffffffff, 0x00ffffffffffff, 1ull << 55,
                                       INT64_MAX,   UINT64_MAX};
    for (uint64_t i = 1 + pick(4); i > 0; i--) {
        size_t at = pick_place(size, mappings_end);
        switch (pick(5)) {
        case 0: data[at] = (uint8_t)pick(256); break;
        case 1: data[at] ^= (uint8_t)(1u << pick(8)); break;
        case 2: data[at] = pick(2) ? 255 : 0; break;
        case 3: memset(data + at, pick(2) ? 255 : 0, size - at < 8 ? size - at : 8); break;
        default:
            at &= ~(size_t)(pick(2) ? 3 : 7);
            if (at >= CHECKED && size - at >= sizeof *numbers)
                memcpy(data + at, &numbers[pick(sizeof numbers / sizeof *numbers)], pick(2) ? 4 : 8);
        }
    }
}

static void seal(uint8_t *data, size_t size)
{
    uint64_t checksum = XXH3_64bits(data + CHECKED, size - CHECKED);
    memcpy(data + CHECKED - 8, &checksum, sizeof checksum);
}

// Moves the last mapping that a program may have up by a few pages.
static void displace(uint8_t *data, size_t size)
{
    const uint32_t above = GUEST_MMAP_END / GUEST_PAGE - 1 + 8;
    memcpy(last_mapping(data, size), &above, sizeof above);
}

static int load_damaged(char **argument)
{
    random_state = strtoull(argument[2], NULL, 10);
    unsigned count = (unsigned)atoi(argument[3]), loaded = 0, ended = 0;
    struct machine_bytes good;
    struct error error;
    make_home();
    doom = start_doom(argument[0], argument[1], false, argument + 3);
    while (shown < 60)
        if (machine_run(doom, UINT64_MAX) != MACHINE_RUNNING)
            fail("the game ends by itself, frame", shown);
    if (!machine_save(doom, &good, &error) || !machine_load(doom, good.data, good.size, &error))
        fail(error.text, 0);
    uint8_t *bytes = malloc(good.size);
    memcpy(bytes, good.data, good.size);
    const size_t mappings_end = (size_t)(last_mapping(bytes, good.size) - bytes) + sizeof(uint32_t[4]);
    displace(bytes, good.size);
    seal(bytes, good.size);
    if (machine_load(doom, bytes, good.size, &error) || machine_run(doom, 300000) != MACHINE_RUNNING)
        fail("a mapping beyond the last page is accepted, or ends the game", 0);
    for (unsigned i = 0; i < count; i++) {
        memcpy(bytes, good.data, good.size);
        size_t size = pick(20) ? good.size : CHECKED + pick(good.size - CHECKED);
        damage(bytes, size, mappings_end);
        seal(bytes, size);
        if (!machine_load(doom, bytes, size, &error))
            continue;
        loaded++;
        memset(seen, 0, sizeof seen);
        enum machine_state state = MACHINE_RUNNING;
        for (int k = 0; k < 10 && state == MACHINE_RUNNING; k++)
            state = machine_run(doom, 300000);
        if (state == MACHINE_RUNNING && machine_load(doom, good.data, good.size, &error))
            continue;
        ended++;
        machine_destroy(doom);
        doom = start_doom(argument[0], argument[1], false, argument + 3);
        machine_run(doom, 100000);
    }
    printf("%u of %u were loaded, %u ended the guest\n", loaded, count, ended);
    free(bytes);
    free(good.data);
    machine_destroy(doom);
    return loaded == 0; // of what is refused at once nothing has been seen
}

// ---- any program ----

// A machine like m, which goes, in m's place.
static machine *replace(machine *m, const struct machine_config *config)
{
    struct machine_bytes bytes;
    struct error error;
    if (!machine_save(m, &bytes, &error))
        fail(error.text, 0);
    machine_destroy(m);
    struct machine_config other = *config;
    other.engine = pick(2) ? machine_default_engine() : MACHINE_ENGINE_INTERP;
    m = create(&other);
    if (pick(2))
        machine_run(m, pick(20000000)); // it is somewhere else
    if (!machine_load(m, bytes.data, bytes.size, &error))
        fail(error.text, 0);
    free(bytes.data);
    return m;
}

// All that a moment has to bring back.
struct picture {
    uint8_t *flags; // of all pages
    uint8_t *bytes; // of the mapped ones
    cpu cpu;
    uint64_t retired;
    size_t written; // so far
};

static char *text; // that the program has written
static size_t written, length;
static bool mute; // what is written does not count

static void write_out(void *user, int fd, const char *bytes, size_t size)
{
    (void)user;
    if (fd != 1 || mute)
        return;
    text = realloc(text, written + size > length ? written + size : length);
    size_t known = length - written < size ? length - written : size;
    if (memcmp(text + written, bytes, known))
        fail("the program writes something else than the first time, at", written);
    memcpy(text + written, bytes, size);
    written += size;
    length = written > length ? written : length;
}

#define PAGES (GUEST_SPACE / GUEST_PAGE)

static uint8_t *map(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static bool may_read(uint8_t flags)
{
    return flags & MEMORY_MAPPED && flags & PROT_READ;
}

static struct picture take(machine *m)
{
    const struct guest *g = (const struct guest *)m;
    struct picture p = {
        .flags = map(PAGES), .bytes = map(GUEST_SPACE), .cpu = g->cpu, .retired = g->stats.retired};
    p.written = written;
    for (uint64_t i = 0; i < PAGES; i++) {
        p.flags[i] = g->memory.pages[i] & (uint8_t)~MEMORY_CODE;
        if (may_read(p.flags[i]))
            memcpy(p.bytes + i * GUEST_PAGE, g->memory.base + i * GUEST_PAGE, GUEST_PAGE);
    }
    return p;
}

static void drop(struct picture *p)
{
    munmap(p->flags, PAGES);
    munmap(p->bytes, GUEST_SPACE);
}

static void compare(machine *m, const struct picture *p)
{
    const struct guest *g = (const struct guest *)m;
    for (uint64_t i = 0; i < PAGES; i++) {
        if (p->flags[i] != (g->memory.pages[i] & (uint8_t)~MEMORY_CODE))
            fail("a page is mapped otherwise, at", i * GUEST_PAGE);
        if (may_read(p->flags[i]) &&
            memcmp(p->bytes + i * GUEST_PAGE, g->memory.base + i * GUEST_PAGE, GUEST_PAGE))
            fail("a page holds something else, at", i * GUEST_PAGE);
    }
    if (memcmp(p->cpu.x, g->cpu.x, sizeof(uint64_t) * 32) || memcmp(p->cpu.v, g->cpu.v, sizeof p->cpu.v) ||
        p->cpu.pc != g->cpu.pc || get_nzcv(&p->cpu) != get_nzcv(&g->cpu) || p->cpu.fpcr != g->cpu.fpcr ||
        p->cpu.fpsr != g->cpu.fpsr || p->cpu.tpidr != g->cpu.tpidr || p->retired != g->stats.retired)
        fail("registers differ, at pc", g->cpu.pc);
}

#define KEPT 8u

static int run_program(char **argument)
{
    char own[4096];
    random_state = strtoull(argument[2], NULL, 10);
    if (!realpath(argument[0], own))
        fail("no such program", 0);
    make_home();
    const struct machine_grant grants[] = {{.host = own, .guest = own},
                                           {.host = home, .guest = "/tmp", .writable = true}};
    const char *const arguments[] = {own, argument[2], NULL}, *const environment[] = {NULL};
    const struct machine_config config = {
        .program = own,
        .argv = arguments,
        .envp = environment,
        .cwd = "/tmp",
        .grants = grants,
        .grant_count = 2,
        .deterministic = true,
        .clock = MACHINE_CLOCK_VIRTUAL,
        .engine = engine_of(argument[1]),
        .output = write_out,
    };
    machine *m = create(&config);
    struct picture pictures[KEPT];
    uint64_t first = 1, last = 0, returns = 0, loads = 0; // moments of which there are pictures
    long steps = atol(argument[3]);
    keep(m, 256u << 20);
    enum machine_state state = machine_run(m, 200000); // it has begun
    while (state == MACHINE_RUNNING && steps-- > 0) {
        state = machine_run(m, 1000 + pick(1u << (8 + pick(12))));
        if (state == MACHINE_RUNNING && last >= first && pick(3) == 0) {
            uint64_t to = last - pick(last - first + 1);
            return_to(m, to);
            compare(m, &pictures[to % KEPT]);
            written = pictures[to % KEPT].written;
            for (; last > to; last--)
                drop(&pictures[last % KEPT]);
            returns++;
        } else if (state == MACHINE_RUNNING && pick(30) == 0) {
            struct picture before = take(m);
            mute = true;
            m = replace(m, &config);
            mute = false;
            compare(m, &before);
            drop(&before);
            for (; last >= first; first++)
                drop(&pictures[first % KEPT]);
            first = 1, last = 0;
            keep(m, 256u << 20);
            loads++;
        } else if (state == MACHINE_RUNNING) {
            uint64_t moment = add(m);
            if (moment - first >= KEPT)
                drop(&pictures[first++ % KEPT]);
            pictures[moment % KEPT] = take(m);
            last = moment;
        }
    }
    printf("%llu returns, %llu times loaded, status %d, %zu bytes written\n", (unsigned long long)returns,
           (unsigned long long)loads, machine_exit_status(m), length);
    fwrite(text, 1, length, stderr);
    int status = state == MACHINE_RUNNING ? 0 : machine_exit_status(m);
    machine_destroy(m);
    return status;
}

int main(int argc, char **argv)
{
    if (argc > 8 && !strcmp(argv[1], "doom"))
        return play_doom(argv + 2);
    if (argc == 6 && !strcmp(argv[1], "program"))
        return run_program(argv + 2);
    if (argc > 6 && !strcmp(argv[1], "damage"))
        return load_damaged(argv + 2);
    return 2;
}
