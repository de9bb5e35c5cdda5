// SPDX-License-Identifier: MIT
// Standard input, output and error of a program that may have been started without.
#ifndef FRONTEND_STREAMS_H
#define FRONTEND_STREAMS_H

#include <stdbool.h>

// Comes before any file is opened: a stream that is closed would else be the next file, and what is printed
// would get into that. Its place is taken by one that fails to be read or written as a closed one does, and
// that execve closes, which tells it from one that was open.
void streams_hold(void);

// What has been printed is written; false, with errno, if some of it could not be.
bool streams_end(void);

#endif
