// SPDX-License-Identifier: MIT
// The texts of /proc that the guest sees: what they tell is the guest's own, never the host program's.
#ifndef CORE_PROC_TEXTS_H
#define CORE_PROC_TEXTS_H

#include <stddef.h>
#include <stdio.h>

struct linux_process;

struct proc_text {
    const char *path; // canonical, below /proc or /proc/self
    void (*write)(struct linux_process *p, FILE *out);
};
extern const struct proc_text proc_texts[];
extern const size_t proc_text_count;

#endif
