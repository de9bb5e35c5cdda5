// SPDX-License-Identifier: MIT
// machine_trace_loop: which pixels the loops of draws.c write, which is known from what they are.
//
//   trace_test PROGRAM ENGINE LIBRARY-FOLDER MODELS-FOLDER
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

enum { WIDTH = 320, HEIGHT = 200, FRAMES = 400, LOOKED_AT = 5 };

static const char *const names[] = {"rise", "wipe", "skip"};
static machine *m;
static const char *traced; // the function whose loop is
static uint32_t header;
static unsigned right, untraced, wrong;

static bool is_written(unsigned y, unsigned x, uint32_t frame)
{
    switch (traced[0]) {
    case 'r': return x == 20 && y <= (frame - 1) % HEIGHT;
    case 'w': return y > 0;
    default: return y == 5 && x % 3 != 0;
    }
}

static void present(void *user, const struct machine_frame *frame)
{
    (void)user;
    unsigned differ = 0;
    for (unsigned i = 0; traced && frame->traced && i < WIDTH * HEIGHT; i++)
        differ += (frame->traced[i] != 0) != is_written(i / WIDTH, i % WIDTH, frame->number);
    if (!frame->traced)
        untraced++;
    else if (!traced || frame->traced_loop != header || differ)
        wrong++;
    else
        right++;
    machine_request_stop(m);
}

static void run(unsigned frames)
{
    for (unsigned seen = right + untraced + wrong; right + untraced + wrong < seen + frames;) {
        if (machine_run(m, UINT64_MAX) != MACHINE_RUNNING) {
            printf("not ok the program has ended\n");
            exit(1);
        }
    }
}

// The header of the loop in the function, or 0.
static uint32_t find_loop(const char *function)
{
    struct machine_loop loops[64];
    size_t count = machine_list_loops(m, loops, 64);
    for (size_t i = 0; i < count; i++)
        if (strcmp(loops[i].function, function) == 0)
            return (uint32_t)loops[i].header;
    return 0;
}

static bool trace(const char *function)
{
    header = 0;
    for (unsigned i = 0; !header && i < FRAMES; i++) {
        run(1);
        header = find_loop(function);
    }
    right = untraced = wrong = 0;
    traced = function;
    machine_trace_loop(m, header);
    run(LOOKED_AT + 2); // the first one may be begun, or the loop not decoded yet
    bool good = header && right >= LOOKED_AT && !wrong;
    printf("%s %s: %u frames as they have to be, %u without a word, %u wrong\n", good ? "ok" : "not ok",
           function, right, untraced, wrong);
    machine_trace_loop(m, 0);
    run(1); // it may be begun
    traced = NULL;
    right = untraced = wrong = 0;
    run(LOOKED_AT);
    if (untraced != LOOKED_AT)
        printf("not ok %s: traced when that is over\n", function);
    return good && untraced == LOOKED_AT;
}

int main(int argc, char **argv)
{
    struct error error;
    enum machine_engine engine;
    if (argc < 5 || !machine_engine_by_name(argv[2], &engine))
        return 2;
    const char *const arguments[] = {"draws", NULL}, *const environment[] = {NULL};
    const struct machine_config config = {.program = argv[1],
                                          .argv = arguments,
                                          .envp = environment,
                                          .device = true,
                                          .deterministic = true,
                                          .clock = MACHINE_CLOCK_VIRTUAL,
                                          .engine = engine,
                                          .library_folder = argv[3],
                                          .loop_models = argv[4], // an oracle stands for them
                                          .loops = true,
                                          .present = present};
    m = machine_create(&config, &error);
    if (!m) {
        printf("not ok %s\n", error.text);
        return 1;
    }
    bool good = true;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        good &= trace(names[i]);
    machine_destroy(m);
    return good ? 0 : 1;
}
