// SPDX-License-Identifier: MIT
// Chunks: HEAD, JSON that says how the game was started; FILE, a path, NUL, and what is in that file, for
// each file that the game could have changed; STATE, a machine, if the game does not begin from its start;
// INPUT, the log, piece by piece; REWIND, a number: of what came before only so many frames count.
#include "input_file.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "chunks.h"
#include "frontend/base/clock.h"
#include "frontend/base/host.h"
#include "frontend/base/paths.h"

#define MAGIC "NDINPUT\n"
#define VERSION 1
#define FILES_MOST (64u << 20) // bytes in folders that the game may write in
#define LOG_MOST ((size_t)4 << 30) // bytes: weeks
#define PIECE_SIZE 65536u
#define PIECE_NS 1000000000

enum { CHUNK_HEAD = 1, CHUNK_FILE, CHUNK_STATE, CHUNK_INPUT, CHUNK_REWIND };

// ---- writing ----

struct input_writer {
    char *path;
    struct new_file first; // up to the first piece: only then there is something to replay
    FILE *stream; // then the rest
    bool failed;
    uint64_t base; // number of the frame before the first
    uint8_t *piece; // recorded, not written yet
    size_t size;
    int64_t written_ns;
};

static void add_names(cJSON *to, const char *name, const char *const *names)
{
    cJSON *list = cJSON_AddArrayToObject(to, name);
    for (; names && *names; names++) {
        cJSON_AddItemToArray(list, cJSON_CreateString(*names));
    }
}

static bool write_head(FILE *to, const struct machine_config *config, struct failure *failure)
{
    char sum[65] = "";
    cJSON *head = cJSON_CreateObject();
    cJSON_AddNumberToObject(head, "version", VERSION);
    cJSON_AddStringToObject(head, "made_by", host_version);
    bool good = sha256_file(config->program, sum) ||
                fail(failure, STATUS_USAGE, "cannot read %s: %s", config->program, strerror(errno));
    cJSON_AddStringToObject(head, "program", sum);
    add_names(head, "arguments", config->argv);
    add_names(head, "environment", config->envp);
    if (config->cwd) {
        cJSON_AddStringToObject(head, "folder", config->cwd);
    }
    cJSON_AddNumberToObject(head, "ram", (double)config->ram);
    cJSON_AddBoolToObject(head, "virtual_clock", config->clock == MACHINE_CLOCK_VIRTUAL);
    cJSON *reads = cJSON_AddArrayToObject(head, "reads"), *writes = cJSON_AddArrayToObject(head, "writes");
    for (size_t i = 0; good && i < config->grant_count; i++) {
        const struct machine_grant *grant = &config->grants[i];
        cJSON *part = cJSON_CreateObject();
        cJSON_AddStringToObject(part, "path", grant->guest);
        if (grant->writable) {
            cJSON_AddBoolToObject(part, "folder", path_is_folder(grant->host));
        } else {
            good = sha256_file(grant->host, sum) ||
                   fail(failure, STATUS_USAGE, "cannot read %s: %s", grant->host, strerror(errno));
            cJSON_AddStringToObject(part, "sha256", sum);
        }
        cJSON_AddItemToArray(grant->writable ? writes : reads, part);
    }
    char *text = cJSON_PrintUnformatted(head);
    cJSON_Delete(head);
    good = good && (chunks_add(to, CHUNK_HEAD, text, strlen(text)) ||
                    fail(failure, STATUS_USAGE, "cannot write the recording: %s", strerror(errno)));
    free(text);
    return good;
}

// The file at host as a chunk; it counts towards *total.
static bool write_file(FILE *to, const char *host, const char *guest, size_t *total, struct failure *failure)
{
    FILE *from = fopen(host, "re");
    size_t head = strlen(guest) + 1, size = head, got;
    uint8_t *bytes = memory_resize(NULL, head);
    memcpy(bytes, guest, head);
    do {
        bytes = memory_resize(bytes, size + PIECE_SIZE);
        got = from ? fread(bytes + size, 1, PIECE_SIZE, from) : 0;
        size += got;
    } while (got == PIECE_SIZE && *total + size <= FILES_MOST);
    bool good = from && !ferror(from);
    if (!good) {
        fail(failure, STATUS_USAGE, "cannot read %s: %s", host, strerror(errno));
    }
    *total += size;
    if (good && *total > FILES_MOST) {
        good =
            fail(failure, STATUS_USAGE,
                 "--record-input: a recording holds what is in the folders that the game may write in, and "
                 "with %s that is more than %u MB; move what is not needed elsewhere",
                 host, FILES_MOST >> 20);
    }
    if (good && !chunks_add(to, CHUNK_FILE, bytes, size)) {
        good = fail(failure, STATUS_USAGE, "cannot write the recording: %s", strerror(errno));
    }
    if (from) {
        fclose(from);
    }
    free(bytes);
    return good;
}

// What lies at host, a file or a folder with all that is below it.
static bool write_files(FILE *to, const char *host, const char *guest, size_t *total, struct failure *failure)
{
    struct stat info;
    if (lstat(host, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return !S_ISREG(info.st_mode) || write_file(to, host, guest, total, failure);
    }
    struct dirent **entries;
    int count = scandir(host, &entries, NULL, alphasort);
    bool good =
        count >= 0 || fail(failure, STATUS_USAGE, "cannot read the folder %s: %s", host, strerror(errno));
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (good && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            char *below = text_format("%s/%s", host, name), *seen = text_format("%s/%s", guest, name);
            good = write_files(to, below, seen, total, failure);
            free(below);
            free(seen);
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return good;
}

struct input_writer *input_writer_open(const char *path, const struct machine_config *config,
                                       struct failure *failure)
{
    struct input_writer *w = memory_resize(NULL, sizeof *w);
    *w = (struct input_writer){.written_ns = clock_now_ns()};
    struct stat info;
    if (strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode))) {
        fail(failure, STATUS_USAGE, "--record-input needs the name of a file, not %s", path);
        free(w);
        return NULL;
    }
    if (!new_file_open(&w->first, path)) {
        fail(failure, STATUS_USAGE, "cannot write %s: %s", path, strerror(errno));
        free(w);
        return NULL;
    }
    w->path = text_copy(path);
    w->stream = w->first.stream;
    size_t total = 0;
    bool good = chunks_begin(w->stream, MAGIC) && write_head(w->stream, config, failure);
    for (size_t i = 0; good && i < config->grant_count; i++) {
        const struct machine_grant *grant = &config->grants[i];
        good = !grant->writable || write_files(w->stream, grant->host, grant->guest, &total, failure);
    }
    if (!good) {
        new_file_discard(&w->first);
        free(w->path);
        free(w);
        return NULL;
    }
    return w;
}

// The file appears under its name.
static bool show(struct input_writer *w)
{
    bool good = new_file_commit(&w->first);
    w->stream = good ? fopen(w->path, "ae") : NULL;
    return w->stream;
}

bool input_writer_begin(struct input_writer *w, machine *m, const struct machine_bytes *state)
{
    struct machine_stats stats;
    machine_get_stats(m, &stats);
    w->base = stats.frames;
    w->failed = state && !chunks_add(w->stream, CHUNK_STATE, state->data, state->size);
    return !w->failed;
}

static bool write_piece(struct input_writer *w)
{
    w->failed = !chunks_add(w->stream, CHUNK_INPUT, w->piece, w->size) || fflush(w->stream) != 0 ||
                (w->first.stream && !show(w));
    w->size = 0;
    w->written_ns = clock_now_ns();
    return !w->failed;
}

void input_writer_add(struct input_writer *w, const void *log, size_t size)
{
    if (size && !w->failed) {
        w->piece = memory_resize(w->piece, w->size + size);
        memcpy(w->piece + w->size, log, size);
        w->size += size;
    }
}

// What the machine has recorded goes to the piece.
static void gather(struct input_writer *w, machine *m)
{
    uint8_t *bytes;
    size_t size;
    machine_take_input(m, &bytes, &size);
    input_writer_add(w, bytes, size);
    free(bytes);
}

bool input_writer_take(struct input_writer *w, machine *m)
{
    gather(w, m);
    return w->failed || (w->size < PIECE_SIZE && clock_now_ns() - w->written_ns < PIECE_NS) || write_piece(w);
}

bool input_writer_rewind(struct input_writer *w, machine *m, uint32_t frame)
{
    uint64_t frames = frame - w->base;
    gather(w, m);
    if (w->failed) {
        return true;
    }
    w->failed = !write_piece(w) || !chunks_add(w->stream, CHUNK_REWIND, &frames, sizeof frames) ||
                fflush(w->stream) != 0;
    return !w->failed;
}

bool input_writer_close(struct input_writer *w)
{
    bool good = !w->failed && (!w->size || write_piece(w));
    if (w->first.stream) {
        new_file_discard(&w->first);
    } else if (w->stream) {
        good &= fclose(w->stream) == 0;
    }
    free(w->piece);
    free(w->path);
    free(w);
    return good;
}

// ---- reading ----

// What is wrong with the file, or NULL. Each takes what it reads into f, which frees it.
typedef const char *reading(struct input_file *f, const struct chunk *chunk);

static const char senseless[] = "it makes no sense";

// Absolute, without empty parts, "." and "..".
static bool is_plain_path(const char *path)
{
    if (*path != '/' || strlen(path) > 4000) {
        return false;
    }
    for (const char *part = path; part; part = strchr(part + 1, '/')) {
        size_t length = strcspn(part + 1, "/");
        if (length == 0 || strncmp(part + 1, "..", length) == 0) {
            return false;
        }
    }
    return true;
}

static bool read_names(const cJSON *list, struct text_list *names)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item)) {
            return false;
        }
        text_list_add(names, text_copy(item->valuestring));
    }
    return cJSON_IsArray(list);
}

static bool read_sum(const cJSON *item, char sum[65])
{
    if (!cJSON_IsString(item) || strlen(item->valuestring) != 64) {
        return false;
    }
    memcpy(sum, item->valuestring, 65);
    return true;
}

static struct input_part *add_part(struct input_part **parts, size_t *count, const char *guest)
{
    *parts = memory_resize(*parts, (*count + 1) * sizeof **parts);
    struct input_part *part = &(*parts)[(*count)++];
    *part = (struct input_part){.guest = text_copy(guest)};
    return part;
}

static bool read_parts(const cJSON *list, bool written, struct input_part **parts, size_t *count)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        const cJSON *path = cJSON_GetObjectItem(item, "path");
        if (!cJSON_IsString(path) || !is_plain_path(path->valuestring)) {
            return false;
        }
        struct input_part *part = add_part(parts, count, path->valuestring);
        part->folder = cJSON_IsTrue(cJSON_GetObjectItem(item, "folder"));
        if (!written && !read_sum(cJSON_GetObjectItem(item, "sha256"), part->sha256)) {
            return false;
        }
    }
    return cJSON_IsArray(list);
}

static const char *read_head(struct input_file *f, const struct chunk *chunk)
{
    cJSON *head = cJSON_ParseWithLength((const char *)chunk->bytes, chunk->size);
    const cJSON *version = cJSON_GetObjectItem(head, "version");
    const cJSON *cwd = cJSON_GetObjectItem(head, "folder"), *ram = cJSON_GetObjectItem(head, "ram");
    const char *wrong = NULL;
    if (cJSON_IsNumber(version) && version->valuedouble > VERSION) {
        wrong = "a newer neurodoom has made it";
    } else if (!read_sum(cJSON_GetObjectItem(head, "program"), f->program) ||
               !read_names(cJSON_GetObjectItem(head, "arguments"), &f->arguments) ||
               !read_names(cJSON_GetObjectItem(head, "environment"), &f->environment) ||
               !read_parts(cJSON_GetObjectItem(head, "reads"), false, &f->reads, &f->read_count) ||
               !read_parts(cJSON_GetObjectItem(head, "writes"), true, &f->writes, &f->write_count) ||
               !cJSON_IsNumber(version) || !f->arguments.count || !cJSON_IsNumber(ram) ||
               !(ram->valuedouble >= 1 << 20 && ram->valuedouble <= 1ll << 32)) {
        wrong = senseless;
    } else {
        f->cwd = cJSON_IsString(cwd) ? text_copy(cwd->valuestring) : NULL;
        f->ram = (uint64_t)ram->valuedouble;
        f->virtual_clock = cJSON_IsTrue(cJSON_GetObjectItem(head, "virtual_clock"));
    }
    cJSON_Delete(head);
    return wrong;
}

static const char *read_kept_file(struct input_file *f, const struct chunk *chunk)
{
    const char *guest = (const char *)chunk->bytes;
    size_t head = strlen(guest) + 1; // there is a NUL behind the chunk
    bool within = false;
    for (size_t i = 0; i < f->write_count; i++) {
        const struct input_part *place = &f->writes[i];
        within |= place->folder ? path_is_at_or_below(guest, place->guest) && strcmp(guest, place->guest) != 0
                                : strcmp(guest, place->guest) == 0;
    }
    if (head > chunk->size || !within || !is_plain_path(guest) || chunk->size > FILES_MOST - f->kept) {
        return senseless;
    }
    f->kept += chunk->size;
    struct input_part *file = add_part(&f->files, &f->file_count, guest);
    file->size = chunk->size - head;
    file->bytes = memory_resize(NULL, file->size + 1);
    memcpy(file->bytes, chunk->bytes + head, file->size);
    return NULL;
}

static const char *read_state(struct input_file *f, const struct chunk *chunk)
{
    if (f->state.data) {
        return senseless;
    }
    f->state = (struct machine_bytes){memory_resize(NULL, chunk->size + 1), chunk->size};
    memcpy(f->state.data, chunk->bytes, chunk->size);
    return NULL;
}

static const char *read_piece(struct input_file *f, const struct chunk *chunk)
{
    if (chunk->size > LOG_MOST - f->extent.size) {
        return senseless;
    }
    f->log = memory_resize(f->log, f->extent.size + chunk->size + 1);
    memcpy(f->log + f->extent.size, chunk->bytes, chunk->size);
    f->extent.size += chunk->size;
    return NULL;
}

static const char *read_rewind(struct input_file *f, const struct chunk *chunk)
{
    uint64_t frames;
    if (chunk->size != sizeof frames) {
        return senseless;
    }
    memcpy(&frames, chunk->bytes, sizeof frames);
    bool good = machine_measure_input(f->log, f->extent.size, frames, &f->extent);
    return good && f->extent.frames == frames ? NULL : senseless;
}

// What is wrong with the file, or NULL.
static const char *read_all(struct input_file *f, FILE *from)
{
    static reading *const readers[] = {[CHUNK_HEAD] = read_head,
                                       [CHUNK_FILE] = read_kept_file,
                                       [CHUNK_STATE] = read_state,
                                       [CHUNK_INPUT] = read_piece,
                                       [CHUNK_REWIND] = read_rewind};
    enum { KINDS = sizeof readers / sizeof *readers };
    if (chunks_open(from, MAGIC) != CHUNK_READ) {
        return "it is no recording of input";
    }
    struct chunk chunk;
    enum chunk_result result;
    uint32_t before = 0;
    while ((result = chunks_next(from, &chunk)) == CHUNK_READ) {
        bool fits = chunk.kind < KINDS && readers[chunk.kind] &&
                    (before ? chunk.kind >= before && chunk.kind != CHUNK_HEAD : chunk.kind == CHUNK_HEAD);
        const char *wrong = fits ? readers[chunk.kind](f, &chunk) : senseless;
        before = chunk.kind < CHUNK_INPUT ? chunk.kind : CHUNK_INPUT;
        free(chunk.bytes);
        if (wrong) {
            return wrong;
        }
    }
    f->cut = result == CHUNK_CUT;
    if (result == CHUNK_DAMAGED) {
        return "it is damaged";
    }
    if (!machine_measure_input(f->log, f->extent.size, UINT64_MAX, &f->extent) && !f->cut) {
        return senseless;
    }
    return !f->extent.frames ? "it ends before the first frame" : NULL;
}

struct input_file *input_file_read(const char *path, struct failure *failure)
{
    FILE *from = fopen(path, "re");
    if (!from) {
        fail(failure, STATUS_USAGE, "--replay-input: cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    struct input_file *f = memory_zeroed(sizeof *f);
    const char *wrong = read_all(f, from);
    fclose(from);
    if (wrong) {
        fail(failure, STATUS_USAGE, "--replay-input: %s cannot be replayed: %s", path, wrong);
        input_file_free(f);
        return NULL;
    }
    return f;
}

static void free_parts(struct input_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(parts[i].guest);
        free(parts[i].bytes);
    }
    free(parts);
}

void input_file_free(struct input_file *f)
{
    if (!f) {
        return;
    }
    text_list_free(&f->arguments);
    text_list_free(&f->environment);
    free_parts(f->reads, f->read_count);
    free_parts(f->writes, f->write_count);
    free_parts(f->files, f->file_count);
    free(f->cwd);
    free(f->log);
    free(f->state.data);
    free(f);
}
