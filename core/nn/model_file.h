// SPDX-License-Identifier: MIT
// A model on disk: BASE.npy, one flat array of all parameters, and BASE.json, which says what it is and where
// it comes from. Loading checks one against the other.
#ifndef NN_MODEL_FILE_H
#define NN_MODEL_FILE_H

#include "layers.h"
#include "npy.h"

struct cJSON;

struct model_info {
    const char *name; // "dispatch-10279"
    const char *architecture; // layers, in a line or two
    const char *data; // the recipe that makes the training data
    const char *split; // how it is divided into train, validation, test
    uint64_t seed;
    const char *commit; // of the sources that trained it
    const struct cJSON *metrics; // an object, written as it is; stays the caller's
    bool half; // numbers of 16 bits in the file
};

// Writes both files, each whole or not at all, the JSON last; what stands in the JSON is checked by loading.
bool model_save(const char *base, const struct params *p, const struct model_info *info, struct error *error);

// Fills p, whose tensors have been created. Refuses, and says why, if a file is missing or damaged, if count
// or architecture in the JSON are not those expected, or if the SHA-256 of the array is not the one in
// the JSON. p is then unchanged. json: NULL, or where the parsed JSON goes: the caller's, cJSON_Delete.
bool model_load(const char *base, struct params *p, const char *architecture, struct cJSON **json,
                struct error *error);

// A JSON object in a file, read (NULL: *error; the caller's, cJSON_Delete) and written whole or not at all.
struct cJSON *json_read(const char *path, struct error *error);
bool json_write(const char *path, const struct cJSON *json, struct error *error);

// Whether the file mapped in n (path names it in messages) has the SHA-256 that json tells.
bool npy_check_hash(const struct npy *n, const char *path, const struct cJSON *json, struct error *error);

#endif
