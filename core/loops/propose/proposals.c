// SPDX-License-Identifier: MIT
#include "proposals.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include <cjson/cJSON.h>

#include "core/base/cache_file.h"
#include "core/nn/model_file.h"

enum {
    PROPOSALS_ENTRY = 1, // of the object that holds them all
    PROPOSALS_MAX = 8192,
    BATCH = 64,
};

struct proposal {
    uint64_t code; // hash
    struct loop_guess guess;
};

struct proposals {
    char folder[512];
    char tuned[512]; // folder of nets that were tuned from those, and go before them; "" if there are none
    struct error refused; // why such nets are not used, until proposals_refused has told
    uint64_t identity; // of the nets
    struct loop_nets *nets; // NULL before they are asked
    bool nets_failed, are_new;
    struct cache_file *cache; // NULL: nothing is kept
    _Atomic size_t count; // what is below it does not change
    struct proposal list[PROPOSALS_MAX];
};

enum { NETS = 3 };
static const char *const names[NETS] = {"loop-detector", "pattern-recognizer", "iteration-predictor"};

// Of the nets' descriptions, which hold the hashes of their weights; 0 if one is missing.
static uint64_t identity_of(const char *folder, struct error *error)
{
    uint64_t hash = 1;
    for (unsigned i = 0; i < NETS; i++) {
        char path[600], text[16384];
        snprintf(path, sizeof path, "%s/%s.json", folder, names[i]);
        FILE *f = fopen(path, "rb");
        if (!f) {
            error_set(error, "there is no net %s", path);
            return 0;
        }
        size_t length = fread(text, 1, sizeof text, f);
        fclose(f);
        hash = XXH3_64bits_withSeed(text, length, hash);
    }
    return hash;
}

struct proposals *proposals_create(const char *folder, struct error *error)
{
    struct proposals *p = calloc(1, sizeof *p);
    if (!p) {
        error_set(error, "no memory for proposals");
        return NULL;
    }
    snprintf(p->folder, sizeof p->folder, "%s", folder);
    p->identity = identity_of(folder, error);
    if (!p->identity) {
        free(p);
        return NULL;
    }
    return p;
}

static cJSON *description(const char *folder, unsigned net)
{
    char path[600];
    struct error error;
    snprintf(path, sizeof path, "%s/%s.json", folder, names[net]);
    return json_read(path, &error);
}

// Whether the nets in folder, as they describe themselves, were tuned from those that are given.
static bool is_tuned(const struct proposals *p, const char *folder)
{
    bool same = true;
    for (unsigned i = 0; i < NETS && same; i++) {
        cJSON *tuned = description(folder, i), *given = description(p->folder, i);
        const char *from = cJSON_GetStringValue(
            cJSON_GetObjectItem(cJSON_GetObjectItem(tuned, "metrics"), "shipped_sha256"));
        const char *hash = cJSON_GetStringValue(cJSON_GetObjectItem(given, "sha256"));
        same = from && hash && strcmp(from, hash) == 0;
        cJSON_Delete(tuned);
        cJSON_Delete(given);
    }
    return same;
}

static void refuse_tuned(struct proposals *p, const char *folder, const char *why)
{
    error_set(&p->refused, "the loop nets in %s are not used: %s; tune them again, or remove them", folder,
              why);
    p->tuned[0] = '\0';
}

bool proposals_refused(struct proposals *p, struct error *why)
{
    *why = p->refused;
    p->refused.text[0] = '\0';
    return why->text[0];
}

static void add(struct proposals *p, uint64_t code, const struct loop_guess *guess)
{
    size_t count = atomic_load(&p->count);
    if (count == PROPOSALS_MAX)
        return;
    p->list[count] = (struct proposal){code, *guess};
    atomic_store_explicit(&p->count, count + 1, memory_order_release);
}

void proposals_keep(struct proposals *p, const char *folder, const char *prepared, struct error *error)
{
    uint64_t tuned = identity_of(folder, NULL);
    if (tuned && is_tuned(p, folder)) {
        snprintf(p->tuned, sizeof p->tuned, "%s", folder);
        p->identity = tuned;
    } else if (tuned) {
        refuse_tuned(p, folder, "they were tuned from others");
    }
    p->cache = cache_file_open(folder, prepared, 0, p->identity, error);
    for (size_t i = 0; p->cache && i < cache_file_count(p->cache); i++) {
        const struct cached_object *o = cache_file_get(p->cache, i);
        const void *bytes = o->entry == PROPOSALS_ENTRY ? cache_file_read(p->cache, i) : NULL;
        const struct proposal *list = bytes;
        for (size_t k = 0; list && k < o->size / sizeof *list; k++)
            if ((unsigned)list[k].guess.class < LOOP_CLASSES)
                add(p, list[k].code, &list[k].guess);
    }
}

static uint64_t code_of(const struct loop_body *body)
{
    return XXH3_64bits(body->words, body->length * sizeof body->words[0]);
}

const struct loop_guess *proposals_find(const struct proposals *p, const struct loop_body *body)
{
    uint64_t code = code_of(body);
    size_t count = atomic_load_explicit(&p->count, memory_order_acquire);
    for (size_t i = 0; i < count; i++)
        if (p->list[i].code == code)
            return &p->list[i].guess;
    return NULL;
}

static void load_nets(struct proposals *p, struct error *error)
{
    if (p->tuned[0] && !(p->nets = loop_nets_load(p->tuned, error))) {
        refuse_tuned(p, p->tuned, error->text);
        cache_file_close(p->cache, error); // which is for what the tuned ones say
        p->cache = NULL;
    }
    if (!p->nets)
        p->nets = loop_nets_load(p->folder, error);
    p->nets_failed = !p->nets;
}

bool proposals_ask(struct proposals *p, const struct loop_body *bodies, unsigned count, struct error *error)
{
    struct loop_guess guesses[BATCH];
    if (!p->nets && !p->nets_failed) {
        load_nets(p, error);
    } else if (p->nets_failed) {
        error->text[0] = '\0';
    }
    if (!p->nets)
        return false;
    for (unsigned at = 0; at < count; at += BATCH) {
        unsigned n = count - at < BATCH ? count - at : BATCH;
        loop_nets_propose(p->nets, bodies + at, n, guesses);
        for (unsigned i = 0; i < n; i++)
            add(p, code_of(&bodies[at + i]), &guesses[i]);
    }
    p->are_new = true;
    return true;
}

bool proposals_are_new(const struct proposals *p)
{
    return p->are_new;
}

static void save(struct proposals *p)
{
    size_t size = p->count * sizeof p->list[0];
    unsigned char *bytes = malloc(size);
    if (!bytes)
        return;
    for (size_t i = 0; i < cache_file_count(p->cache); i++)
        cache_file_drop(p->cache, i);
    memcpy(bytes, p->list, size);
    cache_file_add(p->cache, &(struct cached_object){.entry = PROPOSALS_ENTRY, .bytes = bytes, .size = size});
}

bool proposals_destroy(struct proposals *p, struct error *error)
{
    if (!p)
        return true;
    if (p->cache && p->are_new)
        save(p);
    bool kept = cache_file_close(p->cache, error);
    if (p->nets)
        loop_nets_free(p->nets);
    free(p);
    return kept;
}
