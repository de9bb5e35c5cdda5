// SPDX-License-Identifier: MIT
// What the program tells: on standard error down to the chosen level, and all of it in a log file.
#ifndef FRONTEND_LOG_H
#define FRONTEND_LOG_H

#include <stddef.h>
#include <stdio.h>

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

// Whose name stands before each message, "neurodoom" if nothing else is said; before there are other threads.
void log_set_program(const char *name);

// Least important level to be shown on standard error. What the guest prints counts as LOG_INFO.
void log_set_level(enum log_level level);

// Starts the log file afresh (the last run's is kept as path.old). Without one, or when it cannot be
// written, messages go to standard error only.
void log_open(const char *path);
void log_close(void);

// One message of one or more lines, without newline at the end. Any thread.
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Figures that somebody reads from standard output leave no room there for anything else: from now on that
// goes to standard error. Before there are other threads.
void log_leave_stdout(void);
// Where results that people read are printed.
FILE *log_result(void);

// What the guest writes to its descriptor fd (1 or 2), passed on as it is. Any thread.
void log_guest(int fd, const char *text, size_t length);

#endif
