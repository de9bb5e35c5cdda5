// SPDX-License-Identifier: MIT
// Weight files: what is written is read back; what is damaged is refused with a message that names the file.
#include "nn_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "../../core/nn/model_file.h"
#include "../../core/base/sha256.h"

static const char *at; // the folder
static char model[300], array[310], beside[310];

struct bytes {
    unsigned char *data;
    size_t size;
};

static struct bytes read_file(const char *path)
{
    struct bytes b = {malloc(1 << 20), 0};
    FILE *file = fopen(path, "re");
    if (file) {
        b.size = fread(b.data, 1, 1 << 20, file);
        fclose(file);
    }
    return b;
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "we");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        nn_die("%s: cannot be written", path);
}

static void create(struct params *p, uint64_t seed)
{
    params_create(p, 64, seed);
    dense_create(p, "dense", 5, 3);
}

// Loading fails, names the file and the reason, and leaves the parameters alone.
static void refused(const char *name, const char *file, const char *reason, const char *architecture)
{
    struct params p;
    struct error error = {0};
    create(&p, 2);
    float before[18];
    memcpy(before, p.data, sizeof before);
    bool loaded = model_load(model, &p, architecture, NULL, &error);
    report(!loaded && strstr(error.text, file) && strstr(error.text, reason) &&
               memcmp(before, p.data, sizeof before) == 0,
           name, loaded ? "it was loaded" : "the message is: %s", error.text);
    params_destroy(&p);
}

// What a 16-bit number stands for, by its definition.
static double half_value(unsigned half)
{
    int exponent = half >> 10 & 31, fraction = half & 0x3ff;
    double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return half & 0x8000 ? -size : size;
}

static void test_halves(void)
{
    unsigned wrong = 0, not_nearest = 0;
    for (unsigned half = 0; half < 0x10000; half++) {
        if ((half & 0x7c00) == 0x7c00)
            continue;
        float value = nn_float_of_half((uint16_t)half);
        wrong += value != half_value(half) || nn_half_of_float(value) != half;
        // Between this number and the next larger one: a quarter, the middle (to the even one), three
        // quarters.
        if ((half & 0x7fff) == 0x7bff)
            continue;
        double next = half_value(half + 1), gap = next - half_value(half);
        not_nearest += nn_half_of_float((float)(value + gap / 4)) != half;
        not_nearest += nn_half_of_float((float)(value + gap / 2)) != half + (half & 1);
        not_nearest += nn_half_of_float((float)(value + gap * 3 / 4)) != half + 1;
    }
    report(wrong == 0, "each 16-bit number is read and written as it is defined", "%u are not", wrong);
    report(not_nearest == 0, "numbers are rounded to the nearest of 16 bits", "%u are not", not_nearest);

    static const float values[5] = {1, -2, 3.5f, 0.333333f, 65504};
    struct error error = {0};
    struct npy n;
    char path[320];
    snprintf(path, sizeof path, "%s/half.npy", at);
    bool good = npy_write_half(path, values, 1, (int[]){5}, NULL, &error) &&
                npy_open_shape(&n, path, 1, (int[]){5}, &error);
    for (int i = 0; good && i < 5; i++)
        good = n.data[i] == nn_float_of_half(nn_half_of_float(values[i]));
    report(good, "an array of 16-bit numbers is read as it was written", "%s", error.text);
    if (good)
        npy_close(&n);
    struct bytes whole = read_file(path);
    report(whole.size == 128 + 2 * 5, "it has two bytes for each", "%zu", whole.size);
    write_file(path, whole.data, whole.size - 1);
    report(!npy_open(&n, path, &error) && strstr(error.text, "truncated"), "cut off it is refused", "%s",
           error.text);
    whole.data[whole.size - 1] = 0x7e;
    write_file(path, whole.data, whole.size);
    report(!npy_open(&n, path, &error) && strstr(error.text, "element 4 is"), "with a NaN it is refused",
           "%s", error.text);
    report(!npy_write_half(path, (float[]){1, 65520}, 1, (int[]){2}, NULL, &error) &&
               strstr(error.text, "element 1 is"),
           "what is too large for 16 bits is not written", "%s", error.text);
    free(whole.data);
}

static void test_arrays(void)
{
    static const float values[6] = {1, -2, 3.5f, 0, 1e-40f, -1e30f};
    struct error error = {0};
    struct npy n;
    char path[320];
    snprintf(path, sizeof path, "%s/array.npy", at);
    bool good = npy_write(path, values, 2, (int[]){2, 3}, NULL, &error) &&
                npy_open_shape(&n, path, 2, (int[]){2, 3}, &error);
    report(good && memcmp(n.data, values, sizeof values) == 0, "an array is read as it was written", "%s",
           error.text);
    if (good)
        npy_close(&n);
    report(!npy_open_shape(&n, path, 1, (int[]){6}, &error) && strstr(error.text, "(2, 3), not (6,)"),
           "an array of another shape is refused", "%s", error.text);

    struct bytes whole = read_file(path);
    size_t taken = 0;
    for (size_t size = 0; size < whole.size; size++) {
        write_file(path, whole.data, size);
        taken += npy_open(&n, path, &error) || !strstr(error.text, path);
    }
    report(taken == 0, "an array cut off anywhere is refused", "%zu of %zu lengths are taken", taken,
           whole.size);
    unsigned char *longer = malloc(whole.size + 1);
    memcpy(longer, whole.data, whole.size);
    longer[whole.size] = 0;
    write_file(path, longer, whole.size + 1);
    report(!npy_open(&n, path, &error) && strstr(error.text, "too long"),
           "an array with something behind is refused", "%s", error.text);

    // Every single-byte change of the header is refused or still means the same kind of array.
    size_t crashes = 0;
    for (size_t i = 0; i < 128; i++)
        for (int change = 1; change < 256; change += 50) {
            memcpy(longer, whole.data, whole.size);
            longer[i] ^= (unsigned char)change;
            write_file(path, longer, whole.size);
            if (npy_open(&n, path, &error)) {
                crashes += n.count != 6;
                npy_close(&n);
            }
        }
    report(crashes == 0, "a changed header cannot announce more than there is", "%zu do", crashes);

    memcpy(longer, whole.data, whole.size);
    memcpy(strstr((char *)longer + 10, "<f4"), "<f8", 3);
    write_file(path, longer, whole.size);
    report(!npy_open(&n, path, &error) && strstr(error.text, "'<f8', not '<f4'"),
           "other element types are refused", "%s", error.text);
    memcpy(longer, whole.data, whole.size);
    memcpy(strstr((char *)longer + 10, "False"), "True ", 5);
    write_file(path, longer, whole.size);
    report(!npy_open(&n, path, &error) && strstr(error.text, "row-major"), "column-major order is refused",
           "%s", error.text);

    float bad[6] = {0, 0, 0, NAN, 0, 0};
    memcpy(longer, whole.data, whole.size);
    memcpy(longer + whole.size - sizeof bad, bad, sizeof bad);
    write_file(path, longer, whole.size);
    report(!npy_open(&n, path, &error) && strstr(error.text, "element 3 is"), "NaN is refused when reading",
           "%s", error.text);
    write_file(path, whole.data, whole.size);
    report(!npy_write(path, bad, 1, (int[]){6}, NULL, &error) && strstr(error.text, "element 3 is") &&
               npy_open_shape(&n, path, 2, (int[]){2, 3}, &error),
           "NaN is refused when writing, and the old file stays", "%s", error.text);
    npy_close(&n);

    char nowhere[330];
    snprintf(nowhere, sizeof nowhere, "%s/none/array.npy", at);
    report(!npy_write(nowhere, values, 1, (int[]){6}, NULL, &error) && strstr(error.text, nowhere),
           "a folder that is not there is reported", "%s", error.text);
    free(whole.data);
    free(longer);
}

static void test_models(void)
{
    struct params p, q;
    struct error error = {0};
    create(&p, 1);
    create(&q, 2);
    cJSON *metrics = cJSON_CreateObject(), *json = NULL;
    cJSON_AddNumberToObject(metrics, "accuracy", 0.75);
    struct model_info info = {"test", "dense 5-3", "none", "none", 77, "0123abc", metrics, false};
    bool good = model_save(model, &p, &info, &error) && model_load(model, &q, "dense 5-3", &json, &error);
    const cJSON *read = cJSON_GetObjectItem(json, "metrics"), *seed = cJSON_GetObjectItem(json, "seed");
    report(good && memcmp(p.data, q.data, 18 * sizeof(float)) == 0 && seed && seed->valuedouble == 77 &&
               read && cJSON_GetObjectItem(read, "accuracy")->valuedouble == 0.75,
           "a model is read as it was written", "%s", error.text);
    cJSON_Delete(json);
    cJSON_Delete(metrics);

    struct bytes weights = read_file(array), description = read_file(beside);
    refused("a model of another architecture is refused", beside, "describes another net", "dense 5-4");

    weights.data[weights.size - 3] ^= 1;
    write_file(array, weights.data, weights.size);
    refused("one changed bit in the weights is refused", array, "SHA-256", "dense 5-3");
    weights.data[weights.size - 3] ^= 1;
    write_file(array, weights.data, weights.size - 8);
    refused("truncated weights are refused", array, "truncated", "dense 5-3");
    unlink(array);
    refused("missing weights are refused", array, "No such file", "dense 5-3");
    write_file(array, weights.data, weights.size);

    write_file(beside, description.data, description.size / 2);
    refused("a truncated JSON is refused", beside, "not a JSON object", "dense 5-3");
    char *count = memmem(description.data, description.size, "18", 2);
    *count = '2';
    write_file(beside, description.data, description.size);
    refused("a JSON with another count is refused", beside, "describes 28 parameters, not 18", "dense 5-3");
    unlink(beside);
    refused("a missing JSON is refused", beside, "No such file", "dense 5-3");
    free(weights.data);
    free(description.data);
    params_destroy(&p);
    params_destroy(&q);
}

static void test_hash(void)
{
    static const struct {
        const char *text, *hash;
    } known[] = {
        // FIPS 180-4's examples
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    };
    bool good = true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char hash[65];
        sha256_bytes(known[i].text, strlen(known[i].text), hash);
        good &= strcmp(hash, known[i].hash) == 0;
    }
    report(good, "SHA-256 of the standard's examples", "other hashes");
}

void test_files(const char *folder)
{
    at = folder;
    snprintf(model, sizeof model, "%s/model", folder);
    snprintf(array, sizeof array, "%s.npy", model);
    snprintf(beside, sizeof beside, "%s.json", model);
    test_hash();
    test_halves();
    test_arrays();
    test_models();
}
