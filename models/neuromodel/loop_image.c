// SPDX-License-Identifier: MIT
#include "loop_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_pc(const void *a, const void *b)
{
    const struct code_word *x = a, *y = b;
    return (x->pc > y->pc) - (x->pc < y->pc);
}

bool loop_image_read(const char *path, struct loop_image *image, struct error *error)
{
    *image = (struct loop_image){NULL, 0};
    if (!elf_code_append(path, &image->words, &image->count, error)) {
        free(image->words);
        *image = (struct loop_image){NULL, 0};
        return false;
    }
    qsort(image->words, image->count, sizeof *image->words, by_pc);
    return true;
}

bool loop_image_copy(const struct loop_image *image, uint32_t pc, uint32_t *words, unsigned count)
{
    size_t low = 0, high = image->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (image->words[middle].pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (count > image->count - low || image->words[low].pc != pc ||
        image->words[low + count - 1].pc != pc + 4 * (count - 1))
        return false;
    for (unsigned i = 0; i < count; i++)
        words[i] = image->words[low + i].word;
    return true;
}

enum label_verdict loop_image_sample(const struct loop_image *image, const struct seen_loop *loop,
                                     enum loop_class said, struct loop_sample *sample)
{
    uint32_t words[SHAPE_LENGTH_MOST];
    unsigned length = (loop->branch - loop->header) / 4 + 1;
    unsigned kept = length < LOOP_BODY_MAX ? length : LOOP_BODY_MAX;
    *sample = (struct loop_sample){.class = said};
    if (length > SHAPE_LENGTH_MOST)
        return LABEL_TOO_LONG;
    if (!loop_image_copy(image, loop->header, words, length))
        return LABEL_NO_LOOP;
    sample->body.pc = loop->header + 4 * (length - kept);
    sample->body.length = kept;
    memcpy(sample->body.words, words + length - kept, kept * sizeof *words);
    memcpy(sample->body.x, loop->x, sizeof sample->body.x);
    sample->entries = loop->entries;
    sample->iterations = loop->iterations;
    sample->trips_count = loop->entries < LOOP_TRIPS_MAX ? (unsigned)loop->entries : LOOP_TRIPS_MAX;
    memcpy(sample->trips, loop->trips, sizeof sample->trips);
    snprintf(sample->function, sizeof sample->function, "%s", loop->function);
    return loop_label(sample, loop->header, words, length);
}
