// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "model_file.h"
#include "npy.h"

enum { VALUES, MEANS, SQUARES, BEST, ROWS };

static char *json_path(const char *base)
{
    char *path;
    if (asprintf(&path, "%s.json", base) < 0)
        nn_die("no memory for a path");
    return path;
}

static char *array_path(const char *base, double step)
{
    char *path;
    if (asprintf(&path, "%s.%.0f.npy", base, step) < 0)
        nn_die("no memory for a path");
    return path;
}

// The numbers that say which training this is: a checkpoint goes on only with all of them equal.
static int identity(const struct training *t, uint64_t seed, const struct params *p,
                    const struct optimizer *o, const char *names[], double values[])
{
    int n = 0;
#define SAME(name, value) (names[n] = name, values[n++] = (double)(value))
    SAME("count", p->count);
    SAME("seed", seed);
    SAME("epochs", t->epochs);
    SAME("steps_per_epoch", t->steps);
    SAME("rate", t->rate);
    SAME("floor", t->floor);
    SAME("warmup", t->warmup);
    SAME("decay", o->decay);
    SAME("decoupled", o->decoupled);
    SAME("clip", o->clip);
#undef SAME
    return n;
}

enum { IDENTITY = 10 };

static bool number(const cJSON *json, const char *name, double *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    if (cJSON_IsNumber(item))
        *value = item->valuedouble;
    return cJSON_IsNumber(item);
}

// A whole one, from 0 to most.
static bool whole_number(const cJSON *json, const char *name, uint64_t most, uint64_t *value)
{
    double read = -1;
    if (!number(json, name, &read) || !(read >= 0 && read <= (double)most) || read != floor(read))
        return false;
    *value = (uint64_t)read;
    return true;
}

// With all its digits: cJSON would print 15 of 17.
static void add_number(cJSON *json, const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    cJSON_AddRawToObject(json, name, text);
}

bool checkpoint_exists(const char *base)
{
    char *path = json_path(base);
    bool exists = access(path, F_OK) == 0;
    free(path);
    return exists;
}

// The step of the checkpoint that stands at base, or -1.
static double step_on_disk(const char *path)
{
    cJSON *json = access(path, F_OK) == 0 ? json_read(path, NULL) : NULL;
    double step = -1;
    number(json, "step", &step);
    cJSON_Delete(json);
    return step;
}

bool checkpoint_write(const struct training *t, uint64_t seed, const struct checkpoint *c,
                      const struct params *p, const struct optimizer *o, const float *best,
                      struct error *error)
{
    size_t count = p->count;
    float *rows = malloc(ROWS * count * sizeof *rows);
    if (!rows)
        nn_die("no memory for a checkpoint of %zu parameters", count);
    memcpy(rows + VALUES * count, p->data, count * sizeof *rows);
    memcpy(rows + MEANS * count, o->m, count * sizeof *rows);
    memcpy(rows + SQUARES * count, o->v, count * sizeof *rows);
    memcpy(rows + BEST * count, best, count * sizeof *rows);
    char *path = json_path(t->checkpoint), *array = array_path(t->checkpoint, (double)c->step), hash[65];
    double old = step_on_disk(path);
    bool good = npy_write(array, rows, 2, (int[]){ROWS, (int)count}, hash, error);
    free(rows);

    cJSON *json = cJSON_CreateObject();
    const char *names[IDENTITY];
    double values[IDENTITY];
    for (int i = 0, n = identity(t, seed, p, o, names, values); i < n; i++)
        add_number(json, names[i], values[i]);
    add_number(json, "step", (double)c->step);
    add_number(json, "loss_sum", c->loss_sum);
    add_number(json, "best_epoch", (double)c->best_epoch);
    if (c->best_epoch)
        add_number(json, "best", c->best);
    cJSON_AddStringToObject(json, "sha256", hash);
    good = good && json_write(path, json, error);
    cJSON_Delete(json);
    if (good && old >= 0 && old != (double)c->step) {
        free(array);
        array = array_path(t->checkpoint, old);
        unlink(array);
    }
    free(path);
    free(array);
    return good;
}

static bool same_training(const cJSON *json, const char *path, const struct training *t, uint64_t seed,
                          const struct params *p, const struct optimizer *o, struct error *error)
{
    const char *names[IDENTITY];
    double values[IDENTITY], value = 0;
    for (int i = 0, n = identity(t, seed, p, o, names, values); i < n; i++)
        if (!number(json, names[i], &value) || value != values[i])
            return error_set(
                error, "%s: a checkpoint of another training (its %s is not %g). Remove it, or train as then",
                path, names[i], values[i]);
    return true;
}

bool checkpoint_read(const struct training *t, uint64_t seed, struct checkpoint *c, struct params *p,
                     struct optimizer *o, float *best, struct error *error)
{
    size_t count = p->count;
    char *path = json_path(t->checkpoint), *array = NULL;
    struct npy n = {0};
    cJSON *json = json_read(path, error);
    *c = (struct checkpoint){.best = INFINITY};
    bool good = json && same_training(json, path, t, seed, p, o, error);
    if (good && (!whole_number(json, "step", t->epochs * t->steps, &c->step) ||
                 !number(json, "loss_sum", &c->loss_sum) ||
                 !whole_number(json, "best_epoch", c->step / t->steps, &c->best_epoch) ||
                 (c->best_epoch && !number(json, "best", &c->best))))
        good = error_set(error, "%s: damaged: step, loss_sum, best or best_epoch is missing or out of range",
                         path);
    if (good) {
        array = array_path(t->checkpoint, (double)c->step);
        good = npy_open_shape(&n, array, 2, (int[]){ROWS, (int)count}, error) &&
               npy_check_hash(&n, array, json, error);
    }
    if (good) {
        memcpy(p->data, n.data + VALUES * count, count * sizeof(float));
        memcpy(o->m, n.data + MEANS * count, count * sizeof(float));
        memcpy(o->v, n.data + SQUARES * count, count * sizeof(float));
        memcpy(best, n.data + BEST * count, count * sizeof(float));
        o->step = c->step;
    }
    npy_close(&n);
    cJSON_Delete(json);
    free(array);
    free(path);
    return good;
}

void checkpoint_remove(const char *base)
{
    char *path = json_path(base);
    double step = step_on_disk(path);
    unlink(path);
    free(path);
    if (step >= 0) {
        path = array_path(base, step);
        unlink(path);
        free(path);
    }
}
