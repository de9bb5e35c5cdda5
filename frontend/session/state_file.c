// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "frontend/base/host.h"
#include "frontend/base/paths.h"
#include "frontend/command/wad.h"

#define MAGIC "NDOOMST\n"
#define FORMAT 1u // of what follows, up to the machine's bytes
#define TICS_PER_SECOND 35u

// The file begins so, then come the machine's bytes.
struct head {
    char magic[8];
    uint32_t format, size; // of head
    uint64_t checksum; // XXH3 of all that follows in head
    uint64_t machine_size; // of the machine's bytes
    struct state_identity identity;
    struct state_summary summary;
};

static uint64_t checksum_of(const struct head *head)
{
    const size_t start = offsetof(struct head, machine_size);
    return XXH3_64bits((const char *)head + start, sizeof *head - start);
}

static bool hash_file(const char *path, char hash[65], struct failure *failure)
{
    return sha256_file(path, hash) ||
           fail(failure, STATUS_USAGE, "cannot read %s: %s", path, strerror(errno));
}

bool state_identity_read(struct state_identity *identity, const char *program, const struct text_list *wads,
                         struct failure *failure)
{
    memset(identity, 0, sizeof *identity);
    if (wads->count > STATE_WADS) {
        return fail(failure, STATUS_USAGE, "a state belongs to at most %d WADs, and these are %zu",
                    STATE_WADS, wads->count);
    }
    identity->wad_count = (uint32_t)wads->count;
    for (size_t i = 0; i < wads->count; i++) {
        char *name = identity->wads[i].name;
        snprintf(name, sizeof identity->wads[i].name, "%s", path_name(wads->items[i]));
        for (; *name; name++) {
            *name = (unsigned char)*name < ' ' || *name == 127 ? '?' : *name;
        }
        if (!hash_file(wads->items[i], identity->wads[i].sha256, failure)) {
            return false;
        }
    }
    return hash_file(program, identity->program, failure);
}

void state_summary_of(struct state_summary *summary, const machine *m, const char *first_wad)
{
    struct device_info info = {0};
    memset(summary, 0, sizeof *summary);
    machine_get_device_info(m, &info);
    snprintf(summary->version, sizeof summary->version, "%s (%s)", host_version, host_git);
    if (info.game_state == DEVICE_GAME_DEMO_SCREEN || !info.map) { // or before that is drawn
        snprintf(summary->level, sizeof summary->level, "title");
    } else if (info.game_state == DEVICE_GAME_LEVEL && wad_has_lump(first_wad, "MAP01")) {
        snprintf(summary->level, sizeof summary->level, "MAP%02u", info.map);
    } else if (info.game_state == DEVICE_GAME_LEVEL) {
        snprintf(summary->level, sizeof summary->level, "E%uM%u", info.episode, info.map);
    }
    summary->frame = info.frame;
    summary->gametic = info.gametic;
    summary->seconds = info.gametic / TICS_PER_SECOND;
    summary->saved_at = time(NULL);
}

// ---- writing ----

bool state_file_write(const char *path, const struct state_identity *identity,
                      const struct state_summary *summary, const struct machine_bytes *bytes,
                      struct failure *failure)
{
    struct head *head = memory_zeroed(sizeof *head);
    memcpy(head->magic, MAGIC, sizeof head->magic);
    head->format = FORMAT;
    head->size = sizeof *head;
    head->machine_size = bytes->size;
    head->identity = *identity;
    head->summary = *summary;
    head->checksum = checksum_of(head);
    struct new_file file;
    bool good = new_file_open(&file, path);
    if (good) {
        fwrite(head, sizeof *head, 1, file.stream);
        fwrite(bytes->data, 1, bytes->size, file.stream);
        good = new_file_commit_durably(&file);
    }
    if (!good) {
        fail(failure, STATUS_USAGE, "cannot write the state %s: %s", path, strerror(errno));
    }
    free(head);
    return good;
}

// ---- reading ----

static bool damaged(const char *path, const char *what, struct failure *failure)
{
    return fail(failure, STATUS_USAGE, "the state %s is damaged: %s", path, what);
}

// A text that ends within size, and can be shown on a terminal.
static bool is_text(const char *text, size_t size)
{
    size_t length = strnlen(text, size);
    bool good = length < size;
    for (size_t i = 0; i < length; i++) {
        good &= (unsigned char)text[i] >= ' ' && text[i] != 127;
    }
    return good;
}

static bool is_identity(const struct state_identity *identity)
{
    bool good = is_text(identity->program, sizeof identity->program) && identity->wad_count <= STATE_WADS;
    for (uint32_t i = 0; good && i < identity->wad_count; i++) {
        good = is_text(identity->wads[i].name, sizeof identity->wads[i].name) &&
               is_text(identity->wads[i].sha256, sizeof identity->wads[i].sha256);
    }
    return good;
}

static bool check_head(const struct head *head, size_t got, const char *path, struct failure *failure)
{
    if (got < offsetof(struct head, checksum) || memcmp(head->magic, MAGIC, sizeof head->magic) != 0) {
        return fail(failure, STATUS_USAGE, "%s is no saved state", path);
    }
    if (head->format != FORMAT || head->size != sizeof *head) {
        return fail(failure, STATUS_USAGE,
                    "the state %s was saved by %s version of this program, which keeps states otherwise",
                    path, head->format > FORMAT ? "a newer" : "another");
    }
    if (got < sizeof *head) {
        return damaged(path, "it ends too soon", failure);
    }
    if (head->checksum != checksum_of(head) || !is_identity(&head->identity) ||
        !is_text(head->summary.version, sizeof head->summary.version) ||
        !is_text(head->summary.level, sizeof head->summary.level)) {
        return damaged(path, "its beginning is not what was written", failure);
    }
    return true;
}

// Opens a regular file; a pipe would make this wait.
static FILE *open_file(const char *path, uint64_t *size, struct failure *failure)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info) != 0) {
        fail(failure, STATUS_USAGE, "cannot read the state %s: %s", path, strerror(errno));
    } else if (!S_ISREG(info.st_mode)) {
        fail(failure, STATUS_USAGE, "%s is no saved state: it is no regular file", path);
    } else {
        *size = (uint64_t)info.st_size;
        return fdopen(fd, "rb");
    }
    if (fd >= 0) {
        close(fd);
    }
    return NULL;
}

// The file behind its beginning, which is in *head.
static FILE *open_state(const char *path, struct head *head, struct failure *failure)
{
    uint64_t size;
    memset(head, 0, sizeof *head);
    FILE *file = open_file(path, &size, failure);
    if (!file) {
        return NULL;
    }
    if (check_head(head, fread(head, 1, sizeof *head, file), path, failure) &&
        (head->machine_size == size - sizeof *head || damaged(path, "it ends too soon", failure))) {
        return file;
    }
    fclose(file);
    return NULL;
}

bool state_file_look(const char *path, struct state_identity *identity, struct state_summary *summary,
                     struct failure *failure)
{
    struct head *head = memory_resize(NULL, sizeof *head);
    FILE *file = open_state(path, head, failure);
    if (file && identity) {
        *identity = head->identity;
    }
    if (file && summary) {
        *summary = head->summary;
    }
    if (file) {
        fclose(file);
    }
    free(head);
    return file != NULL;
}

static bool belongs(const struct head *head, const struct state_identity *identity, const char *path,
                    struct failure *failure)
{
    if (strcmp(head->identity.program, identity->program) != 0) {
        return fail(failure, STATUS_USAGE,
                    "the state %s is that of another build of the DOOM engine (version %s of this program)",
                    path, head->summary.version);
    }
    if (head->identity.wad_count != identity->wad_count) {
        return fail(failure, STATUS_USAGE, "the state %s was saved with %u WADs (%s%s), not with %u", path,
                    head->identity.wad_count, head->identity.wad_count ? head->identity.wads[0].name : "none",
                    head->identity.wad_count > 1 ? ", …" : "", identity->wad_count);
    }
    for (uint32_t i = 0; i < identity->wad_count; i++) {
        if (strcmp(head->identity.wads[i].sha256, identity->wads[i].sha256) != 0) {
            return fail(failure, STATUS_USAGE,
                        "the state %s was saved with %s, whose contents are not those of %s", path,
                        head->identity.wads[i].name, identity->wads[i].name);
        }
    }
    return true;
}

bool state_file_read(const char *path, const struct state_identity *identity, struct state_summary *summary,
                     struct machine_bytes *bytes, struct failure *failure)
{
    struct head *head = memory_resize(NULL, sizeof *head);
    FILE *file = open_state(path, head, failure);
    bool good = file && belongs(head, identity, path, failure);
    *bytes = (struct machine_bytes){NULL, 0};
    if (good) {
        *bytes = (struct machine_bytes){malloc(head->machine_size + 1), head->machine_size};
        good = bytes->data && fread(bytes->data, 1, bytes->size, file) == bytes->size;
        if (!good) {
            damaged(path, "it cannot be read to its end", failure);
            free(bytes->data);
            bytes->data = NULL;
        }
    }
    if (good && summary) {
        *summary = head->summary;
    }
    if (file) {
        fclose(file);
    }
    free(head);
    return good;
}
