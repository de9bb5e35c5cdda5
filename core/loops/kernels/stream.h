// SPDX-License-Identifier: MIT
// Fills and plain copies: kernel.streams.
#ifndef CORE_LOOPS_STREAM_H
#define CORE_LOOPS_STREAM_H

#include "kernel.h"

kernel_function stream_fill; // stores the streams' values
kernel_function stream_copy; // copies the one stream

#endif
