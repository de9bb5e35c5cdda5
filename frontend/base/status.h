// SPDX-License-Identifier: MIT
// Exit statuses, and the failure that a function hands up with one of them.
#ifndef FRONTEND_STATUS_H
#define FRONTEND_STATUS_H

enum status {
    STATUS_OK = 0,
    STATUS_USAGE = 1, // command line or configuration
    STATUS_NO_WAD = 2,
    STATUS_NO_DISPLAY = 3,
    STATUS_FAULT = 4, // the guest did something impossible
    STATUS_DIFFERS = 5, // a replaced loop and the plain one, under --verify; the sides of --bench or --split
    STATUS_ENGINE = 6, // the engine ended with an error of its own
    STATUS_SLOWER = 7, // --compare: the later report
    STATUS_INTERRUPTED = 130,
};

// What happened, what was tried, what to do. text is NULL while all is well, and on the heap otherwise.
struct failure {
    enum status status;
    char *text; // several lines, no newline at the end
};

// Fills failure and returns false, for the use `return fail(failure, …)`.
_Bool fail(struct failure *failure, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Prints the failure on standard error, frees its text, and returns its status.
int failure_report(struct failure *failure);

#endif
