// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "bench.h"
#include "frontend/base/text.h"
#include "frontend/record/report.h"

// A report of --bench.
static cJSON *read_report(const char *path, struct failure *failure)
{
    errno = 0;
    FILE *stream = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    if (!stream || getdelim(&text, &size, '\0', stream) < 0) {
        fail(failure, STATUS_USAGE, "--compare: cannot read %s: %s", path,
             errno ? strerror(errno) : "it is empty");
    }
    if (stream) {
        fclose(stream);
    }
    cJSON *root = text && !failure->text ? cJSON_Parse(text) : NULL;
    free(text);
    const char *schema = cJSON_GetStringValue(cJSON_GetObjectItem(root, "schema"));
    if (!failure->text && (!schema || strcmp(schema, REPORT_SCHEMA) != 0)) {
        fail(failure, STATUS_USAGE, "--compare: %s is no report of --bench that this version writes", path);
    }
    return root;
}

// The CPU seconds of the passes of a variant, behind their first turns; returns how many, and *values on the
// heap.
static size_t passes(const cJSON *variant, double **values)
{
    const cJSON *runs = cJSON_GetObjectItem(variant, "runs"), *run;
    size_t count = 0;
    *values = memory_resize(NULL, ((size_t)cJSON_GetArraySize(runs) + 1) * sizeof **values);
    cJSON_ArrayForEach(run, runs)
    {
        const cJSON *cpu = cJSON_GetObjectItem(run, "cpu_s"), *start = cJSON_GetObjectItem(run, "start_s");
        if (cJSON_IsNumber(cpu) && cJSON_IsNumber(start) && cpu->valuedouble > start->valuedouble) {
            (*values)[count++] = cpu->valuedouble - start->valuedouble;
        }
    }
    return count;
}

static const cJSON *variant_called(const cJSON *root, const char *name)
{
    const cJSON *variant;
    cJSON_ArrayForEach(variant, cJSON_GetObjectItem(root, "variants"))
    {
        const char *other = cJSON_GetStringValue(cJSON_GetObjectItem(variant, "name"));
        if (other && strcmp(other, name) == 0) {
            return variant;
        }
    }
    return NULL;
}

// Prints how the later one did. Returns whether it was slower.
static bool compare_variants(const char *name, const cJSON *earlier, const cJSON *later)
{
    double *before, *after;
    size_t before_count = passes(earlier, &before), after_count = passes(later, &after);
    struct interval i;
    bool enough = interval_of_groups(after, after_count, before, before_count, 1, &i);
    if (!enough) {
        printf("%s: too few runs to compare (%zu and %zu)\n", name, before_count, after_count);
    } else {
        printf("%s: %.4f times the CPU time (%.4f to %.4f): %s\n", name, i.ratio, i.low, i.high,
               !interval_tells(&i) ? "no difference found"
               : i.ratio > 1       ? "slower"
                                   : "faster");
    }
    free(before);
    free(after);
    return enough && i.low > 1;
}

// What was run: "demo1 of freedoom1.wad, demo2 of freedoom1.wad", on the heap.
static char *works_of(const cJSON *content)
{
    char *text = text_copy("");
    const cJSON *work;
    cJSON_ArrayForEach(work, cJSON_GetObjectItem(content, "works"))
    {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(work, "name"));
        char *longer = text_format("%s%s%s", text, *text ? ", " : "", name ? name : "?");
        free(text);
        text = longer;
    }
    return text;
}

// Times of different work are no times to compare.
static bool same_work(const cJSON *earlier, const cJSON *later, struct failure *failure)
{
    static const char *const parts[] = {"name", "sha256", "tics"};
    const cJSON *before = cJSON_GetObjectItem(earlier, "content"),
                *after = cJSON_GetObjectItem(later, "content");
    const cJSON *a = cJSON_GetObjectItem(before, "works"), *b = cJSON_GetObjectItem(after, "works");
    int count = cJSON_GetArraySize(a);
    if (!count || !cJSON_GetArraySize(b)) {
        return fail(failure, STATUS_USAGE,
                    "--compare: the %s file names no demos: the summary of one run (--json) cannot be "
                    "compared, report.json of --bench can",
                    count ? "later" : "earlier");
    }
    bool same = count == cJSON_GetArraySize(b);
    for (int i = 0; same && i < count; i++) {
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            same &= cJSON_Compare(cJSON_GetObjectItem(cJSON_GetArrayItem(a, i), parts[k]),
                                  cJSON_GetObjectItem(cJSON_GetArrayItem(b, i), parts[k]), true);
        }
    }
    if (!same) {
        char *one = works_of(before), *other = works_of(after);
        fail(failure, STATUS_USAGE,
             "--compare: the reports are not of the same demos, by name, tics and the WAD's SHA-256: %s; %s",
             one, other);
        free(one);
        free(other);
    }
    return same;
}

// What makes the same work take another time.
static void warn(const cJSON *earlier, const cJSON *later)
{
    static const struct {
        const char *object, *name, *what;
    } parts[] = {
        {"machine", "cpu", "the processors are not the same"},
        {"machine", "kernel", "the kernels are not the same"},
        {"machine", "governor", "the processors' governors are not the same"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(report_text_at(cJSON_GetObjectItem(earlier, parts[i].object), parts[i].name),
                   report_text_at(cJSON_GetObjectItem(later, parts[i].object), parts[i].name)) != 0) {
            printf("warning: %s\n", parts[i].what);
        }
    }
}

int bench_compare(const struct options *options)
{
    struct failure failure = {0};
    const cJSON *variant;
    cJSON *earlier = read_report(options->bench.earlier, &failure), *later = NULL;
    bool slower = false, any = false;
    if (!failure.text) {
        later = read_report(options->bench.later, &failure);
    }
    if (!failure.text && same_work(earlier, later, &failure)) {
        warn(earlier, later);
        cJSON_ArrayForEach(variant, cJSON_GetObjectItem(later, "variants"))
        {
            const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(variant, "name"));
            const cJSON *before = name ? variant_called(earlier, name) : NULL;
            if (before) {
                any = true;
                slower |= compare_variants(name, before, variant);
            }
        }
    }
    if (!failure.text && !any) {
        fail(&failure, STATUS_USAGE, "--compare: the two reports have no variant of the same name");
    }
    cJSON_Delete(earlier);
    cJSON_Delete(later);
    return failure.text ? failure_report(&failure) : slower ? STATUS_SLOWER : STATUS_OK;
}
