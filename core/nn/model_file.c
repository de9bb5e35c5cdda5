// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "model_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

#include "core/base/sha256.h"

#define LARGEST_EXACT ((uint64_t)1 << 53) // integer in a JSON number

static char *path_of(const char *base, const char *ending)
{
    char *path;
    if (asprintf(&path, "%s%s", base, ending) < 0)
        nn_die("no memory for a path");
    return path;
}

cJSON *json_read(const char *path, struct error *error)
{
    enum { LIMIT = 1 << 20 };
    FILE *file = fopen(path, "re");
    if (!file) {
        error_set(error, "%s: cannot be opened: %s", path, strerror(errno));
        return NULL;
    }
    struct stat s;
    size_t most = fstat(fileno(file), &s) == 0 && s.st_size < LIMIT ? (size_t)s.st_size : LIMIT;
    char *text = malloc(most + 1);
    if (!text)
        nn_die("no memory for %zu bytes", most);
    size_t size = fread(text, 1, most, file);
    text[size] = '\0';
    fclose(file);
    cJSON *json = cJSON_Parse(text);
    free(text);
    if (!cJSON_IsObject(json)) {
        cJSON_Delete(json);
        error_set(error, "%s: not a JSON object (truncated?)", path);
        return NULL;
    }
    return json;
}

bool json_write(const char *path, const cJSON *json, struct error *error)
{
    char *text = cJSON_Print(json);
    if (!text)
        nn_die("no memory for a JSON text");
    size_t size = strlen(text);
    text[size] = '\n'; // in place of the NUL
    bool good = nn_write_file(path, text, size + 1, error);
    cJSON_free(text);
    return good;
}

bool model_save(const char *base, const struct params *p, const struct model_info *info, struct error *error)
{
    if (info->seed > LARGEST_EXACT)
        return error_set(error, "%s: seed %llu does not fit into a JSON number", base,
                         (unsigned long long)info->seed);
    char *array = path_of(base, ".npy"), *beside = path_of(base, ".json"), hash[65];
    bool good =
        (info->half ? npy_write_half : npy_write)(array, p->data, 1, (int[]){(int)p->count}, hash, error);
    if (good) {
        cJSON *json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "name", info->name);
        cJSON_AddStringToObject(json, "architecture", info->architecture);
        cJSON_AddNumberToObject(json, "count", (double)p->count);
        cJSON_AddStringToObject(json, "data", info->data);
        cJSON_AddStringToObject(json, "split", info->split);
        cJSON_AddNumberToObject(json, "seed", (double)info->seed);
        if (info->metrics)
            cJSON_AddItemToObject(json, "metrics", cJSON_Duplicate(info->metrics, true));
        cJSON_AddStringToObject(json, "commit", info->commit);
        cJSON_AddStringToObject(json, "sha256", hash);
        good = json_write(beside, json, error);
        cJSON_Delete(json);
    }
    free(array);
    free(beside);
    return good;
}

bool npy_check_hash(const struct npy *n, const char *path, const cJSON *json, struct error *error)
{
    char hash[65];
    sha256_bytes(n->mapping, n->mapped, hash);
    const char *expected = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "sha256"));
    if (expected && strcmp(expected, hash) == 0)
        return true;
    return error_set(error, "%s: damaged, or of another training than the JSON beside it: SHA-256 %s, not %s",
                     path, hash, expected ? expected : "given there");
}

static bool check(const cJSON *json, const char *path, const struct params *p, const char *architecture,
                  struct error *error)
{
    const cJSON *count = cJSON_GetObjectItemCaseSensitive(json, "count");
    const char *is = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "architecture"));
    if (!is || strcmp(is, architecture) != 0)
        return error_set(error, "%s: describes another net: %s (expected: %s)", path, is ? is : "nothing",
                         architecture);
    if (!cJSON_IsNumber(count) || count->valuedouble != (double)p->count)
        return error_set(error, "%s: describes %.0f parameters, not %zu", path,
                         cJSON_IsNumber(count) ? count->valuedouble : 0, p->count);
    return true;
}

bool model_load(const char *base, struct params *p, const char *architecture, cJSON **json,
                struct error *error)
{
    char *array = path_of(base, ".npy"), *beside = path_of(base, ".json");
    struct npy n = {0};
    cJSON *parsed = json_read(beside, error);
    bool good = parsed && check(parsed, beside, p, architecture, error) &&
                npy_open_shape(&n, array, 1, (int[]){(int)p->count}, error) &&
                npy_check_hash(&n, array, parsed, error);
    if (good)
        memcpy(p->data, n.data, p->count * sizeof(float));
    npy_close(&n);
    if (good && json)
        *json = parsed;
    else
        cJSON_Delete(parsed);
    free(array);
    free(beside);
    return good;
}
