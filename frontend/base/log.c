// SPDX-License-Identifier: MIT
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum log_level shown = LOG_INFO;
static FILE *file;
static const char *program = "neurodoom";
static bool stdout_taken;

void log_set_program(const char *name)
{
    program = name;
}

void log_set_level(enum log_level level)
{
    pthread_mutex_lock(&lock);
    shown = level;
    pthread_mutex_unlock(&lock);
}

void log_open(const char *path)
{
    char *old = text_format("%s.old", path);
    rename(path, old);
    free(old);
    pthread_mutex_lock(&lock);
    file = fopen(path, "we");
    if (file) {
        setvbuf(file, NULL, _IOLBF, 0);
    }
    pthread_mutex_unlock(&lock);
}

void log_close(void)
{
    pthread_mutex_lock(&lock);
    if (file) {
        fclose(file);
        file = NULL;
    }
    pthread_mutex_unlock(&lock);
}

void log_line(enum log_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_format_list(format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&lock);
    if (level <= shown) {
        fprintf(stderr, "%s: %s\n", program, text);
    }
    if (file) {
        fprintf(file, "%s: %s\n", program, text);
    }
    pthread_mutex_unlock(&lock);
    free(text);
}

void log_leave_stdout(void)
{
    stdout_taken = true;
}

FILE *log_result(void)
{
    return stdout_taken ? stderr : stdout;
}

void log_guest(int fd, const char *text, size_t length)
{
    pthread_mutex_lock(&lock);
    if (shown >= LOG_INFO) {
        FILE *stream = fd == 2 ? stderr : log_result();
        fwrite(text, 1, length, stream);
        fflush(stream);
    }
    if (file) {
        fwrite(text, 1, length, file);
    }
    pthread_mutex_unlock(&lock);
}
