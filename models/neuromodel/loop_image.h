// SPDX-License-Identifier: MIT
// A program's code by address, and samples of its loops.
#ifndef MODELS_LOOP_IMAGE_H
#define MODELS_LOOP_IMAGE_H

#include "elf_code.h"
#include "loop_label.h"
#include "loop_run.h"

struct loop_image {
    struct code_word *words; // by address
    size_t count;
};

// False with a message in error. free(image->words).
bool loop_image_read(const char *path, struct loop_image *image, struct error *error);

// The words from pc on; false if they are not all code.
bool loop_image_copy(const struct loop_image *image, uint32_t pc, uint32_t *words, unsigned count);

// A sample of a loop that was seen, with its class from said, or LOOP_CLASSES if nobody has said anything;
// names but the function's are left empty. Only with LABEL_GOOD it is complete.
enum label_verdict loop_image_sample(const struct loop_image *image, const struct seen_loop *loop,
                                     enum loop_class said, struct loop_sample *sample);

#endif
