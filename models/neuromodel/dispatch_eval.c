// SPDX-License-Identifier: MIT
// The dispatch net beside its rule, its oracle, itself with shuffled weights, and the exhibit: on all words,
// on real code, on what a program executed; and what one answer of each costs.
#include "dispatch_tool.h"

#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/clock.h"
#include "core/isa/isa.h"
#include "core/nn/model_file.h"
#include "elf_code.h"

static const char debian_code[] = "/usr/aarch64-linux-gnu/lib/*.so*";

enum answer { RULE_TOP, RULE, NET, SHUFFLED, EXHIBIT, ORACLE, ANSWERS };
static const char *const answer_names[ANSWERS] = {"top byte", "rule", "net", "shuffled", "135", "oracle"};

static struct {
    struct dispatch_net net, shuffled;
    float exhibit[EXHIBIT_PARAMETERS];
    uint8_t by_top_byte[256]; // the kernel of most allocated words
} nets;

// By hand, from the encoding tables of the Arm manual (C4.1): the main table's bits 28..25, then what a table
// of two classes has to look at.
static enum dispatch_kernel rule(uint32_t word)
{
    if ((word >> 25 & 5) == 4)
        return DISPATCH_LOAD_STORE;
    if ((word >> 25 & 7) == 7)
        return DISPATCH_ARITHMETIC; // SIMD and FP
    if ((word >> 26 & 7) == 5) // branches, exception generation, system
        return word >> 25 == 0x6a ? DISPATCH_SYSTEM : DISPATCH_BRANCH;
    if ((word >> 26 & 7) == 4) // immediate: bits 25..23
        return (word >> 23 & 7) == 4  ? DISPATCH_LOGICAL
               : (word >> 23 & 7) > 5 ? DISPATCH_SHIFT
                                      : DISPATCH_ARITHMETIC;
    if (!(word >> 28 & 1)) // register: shifted and extended
        return word >> 24 & 1 ? DISPATCH_ARITHMETIC : DISPATCH_LOGICAL;
    if (word >> 24 & 1) // three sources
        return DISPATCH_MULTIPLY;
    if ((word >> 21 & 7) != 6) // with carry, conditional
        return DISPATCH_ARITHMETIC;
    if (word >> 30 & 1) // one source
        return DISPATCH_SHIFT;
    return (word >> 11 & 31) == 1   ? DISPATCH_MULTIPLY // two sources
           : (word >> 12 & 15) == 2 ? DISPATCH_SHIFT
                                    : DISPATCH_ARITHMETIC;
}

static enum dispatch_kernel net_answer(const struct dispatch_net *net, uint32_t word)
{
    uint8_t kernel;
    dispatch_predict(net, &word, 1, &kernel);
    return (enum dispatch_kernel)kernel;
}

static enum dispatch_kernel answer(enum answer which, uint32_t word, uint64_t pc)
{
    op ignored;
    switch (which) {
    case RULE_TOP: return (enum dispatch_kernel)nets.by_top_byte[word >> 24];
    case RULE: return rule(word);
    case NET: return net_answer(&nets.net, word);
    case SHUFFLED: return net_answer(&nets.shuffled, word);
    case EXHIBIT: return exhibit_predict(nets.exhibit, word, pc);
    case ORACLE:
    case ANSWERS: break;
    }
    return (enum dispatch_kernel)isa_info[isa_decode(word, 0, &ignored)].group;
}

// ---- what is counted ----

struct tally {
    uint64_t n, right[ANSWERS];
};

static void add(struct tally *t, const bool right[ANSWERS], uint64_t weight)
{
    t->n += weight;
    for (unsigned a = 0; a < ANSWERS; a++)
        t->right[a] += right[a] ? weight : 0;
}

static void print_tally(const char *name, const struct tally *t)
{
    printf("%-34s %12" PRIu64, name, t->n);
    for (unsigned a = 0; a < ANSWERS; a++) {
        double share = t->n ? 100.0 * (double)t->right[a] / (double)t->n : 0;
        // never rounded up to 100
        if (t->n && t->right[a] == t->n)
            printf(" %9s", "100");
        else
            printf(" %9.4f", share > 99.9999 ? 99.9999 : share);
    }
    printf("\n");
}

static void print_header(const char *title, const char *unit)
{
    printf("\n%-34s %12s", title, unit);
    for (unsigned a = 0; a < ANSWERS; a++)
        printf(" %9s", answer_names[a]);
    printf("\n");
}

// Where published dispatch nets went wrong, and what belongs together.
static const struct hard_case {
    const char *name;
    const char *prefixes; // of names in the instruction tables, separated by spaces
    uint32_t mask, match; // of the word
} hard_cases[] = {
    {"MOVZ MOVK MOVN", "movz_ movk_ movn_", 0, 0},
    {"ADD SUB CMP (register)", "add_w add_x adds_w adds_x sub_w sub_x subs_w subs_x", 0x1f000000, 0x0b000000},
    {"ADD SUB CMP (immediate)", "add_w add_x adds_w adds_x sub_w sub_x subs_w subs_x", 0x1f000000,
     0x11000000},
    {"B BL backward", "b bl", 0x7e000000, 0x16000000},
    {"B BL forward", "b bl", 0x7e000000, 0x14000000},
    {"B.cond CBZ CBNZ", "b_ cbz_ cbnz_", 0, 0},
    {"TBZ TBNZ", "tbz tbnz", 0, 0},
    {"BR BLR RET", "br blr ret", 0xfe000000, 0xd6000000},
    {"ADRP", "adrp", 0, 0},
    {"ADR", "adr", 0x9f000000, 0x10000000},
    {"AND ORR EOR ANDS (immediate)", "and_ orr_ eor_ ands_", 0x1f800000, 0x12000000},
    {"AND ORR EOR BIC (register)", "and_ orr_ eor_ ands_ bic_ orn_ eon_ bics_", 0x1f000000, 0x0a000000},
    {"CSEL CCMP ADC", "csel_ csinc_ csinv_ csneg_ ccmp_ ccmn_ adc_ adcs_ sbc_ sbcs_", 0x1e000000, 0x1a000000},
    {"MADD MSUB MULH", "madd_ msub_ smaddl smsubl umaddl umsubl smulh umulh", 0x1f000000, 0x1b000000},
    {"UDIV SDIV", "udiv_ sdiv_", 0, 0},
    {"LSLV LSRV ASRV RORV", "lslv_ lsrv_ asrv_ rorv_", 0, 0},
    {"REV RBIT CLZ CLS", "rev rbit clz cls", 0x1fe00000, 0x1ac00000},
    {"UBFM SBFM BFM EXTR", "ubfm_ sbfm_ bfm_ extr_", 0, 0},
    {"CRC32", "crc32", 0, 0},
    {"system", "svc brk hint clrex dsb dmb isb dc_ ic_ mrs_ msr_", 0, 0},
    {"loads, stores (general)", "", 0x0e000000, 0x08000000},
    {"loads, stores (SIMD and FP)", "", 0x0e000000, 0x0c000000},
    {"SIMD and FP data processing", "", 0x0e000000, 0x0e000000},
};
enum { HARD_CASES = sizeof hard_cases / sizeof hard_cases[0] };

static bool is_case(const struct hard_case *c, uint32_t word, const char *name)
{
    if ((word & c->mask) != c->match)
        return false;
    if (c->prefixes[0] == '\0')
        return true;
    for (const char *p = c->prefixes; *p; p += strspn(p, " ")) {
        size_t length = strcspn(p, " ");
        if (strncmp(name, p, length) == 0)
            return true;
        p += length;
    }
    return false;
}

struct report {
    struct tally by_kernel[DISPATCH_KERNELS], by_case[HARD_CASES], all, distinct;
};

static void judge(struct report *r, uint32_t word, uint64_t pc, uint64_t weight)
{
    op ignored;
    enum insn id = isa_decode(word, 0, &ignored);
    if (id == INSN_UNDEFINED)
        return;
    bool right[ANSWERS];
    for (unsigned a = 0; a < ANSWERS; a++)
        right[a] = (int)answer((enum answer)a, word, pc) == (int)isa_info[id].group;
    add(&r->all, right, weight);
    add(&r->distinct, right, 1);
    add(&r->by_kernel[isa_info[id].group], right, weight);
    for (unsigned c = 0; c < HARD_CASES; c++)
        if (is_case(&hard_cases[c], word, isa_texts[id].name))
            add(&r->by_case[c], right, weight);
}

static void print_report(const struct report *r, const char *title, const char *unit)
{
    print_header(title, unit);
    for (unsigned k = 0; k < DISPATCH_KERNELS; k++)
        print_tally(dispatch_kernel_names[k], &r->by_kernel[k]);
    print_tally("all", &r->all);
    print_tally("all, each word once", &r->distinct);
    print_header("hard cases", unit);
    for (unsigned c = 0; c < HARD_CASES; c++)
        if (r->by_case[c].n)
            print_tally(hard_cases[c].name, &r->by_case[c]);
}

// ---- the three kinds of words ----

// All allocated words. The exhibit looks at bits and a pc that no list is short of, so it is sampled.
static void judge_all(const struct word_census *census, uint64_t seed)
{
    enum { SAMPLES = 1 << 22 };
    struct tally t = {.n = census->allocated, .right = {[ORACLE] = census->allocated}};
    for (uint32_t v = 0; v < DISPATCH_VECTORS; v++) {
        // The rules see bits that are features, so a word of the vector stands for all.
        uint32_t word = v >> DISPATCH_FEATURES << 24;
        for (unsigned f = 0; f < DISPATCH_FEATURES; f++)
            if (dispatch_features[f].width == 1 && v >> f & 1)
                word |= 1u << dispatch_features[f].lsb;
        uint8_t named[2];
        dispatch_predict_vectors(&nets.net, &v, 1, &named[0], NULL);
        dispatch_predict_vectors(&nets.shuffled, &v, 1, &named[1], NULL);
        const uint32_t *count = census->count[v];
        t.right[RULE_TOP] += count[answer(RULE_TOP, word, 0)];
        t.right[RULE] += count[rule(word)];
        t.right[NET] += count[named[0]];
        t.right[SHUFFLED] += count[named[1]];
    }
    uint64_t sampled = 0, right = 0, state = seed;
    op ignored;
    while (sampled < SAMPLES) {
        state += 0x9e3779b97f4a7c15u;
        uint64_t mixed = rng_mix(state);
        enum insn id = isa_decode((uint32_t)mixed, 0, &ignored);
        if (id == INSN_UNDEFINED)
            continue;
        sampled++;
        right += (int)answer(EXHIBIT, (uint32_t)mixed, mixed >> 32 & ~3u) == (int)isa_info[id].group;
    }
    t.right[EXHIBIT] = (uint64_t)((double)right / SAMPLES * (double)t.n);
    print_header("all allocated words", "words");
    print_tally("(135: a sample of 4194304)", &t);
}

static int by_word(const void *a, const void *b)
{
    const struct code_word *x = a, *y = b;
    return x->word != y->word ? (x->word < y->word ? -1 : 1) : (x->pc > y->pc) - (x->pc < y->pc);
}

static void judge_code(struct code_word *words, size_t count, const char *title)
{
    static struct report report;
    memset(&report, 0, sizeof report);
    qsort(words, count, sizeof words[0], by_word);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && words[next].word == words[i].word; next++)
            ;
        judge(&report, words[i].word, words[i].pc, next - i);
    }
    print_report(&report, title, "words");
}

static bool judge_profile(const char *path, struct error *error)
{
    static struct report report;
    memset(&report, 0, sizeof report);
    FILE *file = fopen(path, "r");
    if (!file)
        return error_set(error, "cannot read the profile %s", path);
    char line[256];
    bool good = true;
    while (good && fgets(line, sizeof line, file)) {
        uint32_t word;
        uint64_t count;
        good = sscanf(line, "%" SCNx32 " %" SCNu64, &word, &count) == 2;
        if (good)
            judge(&report, word, 0, count);
    }
    fclose(file);
    if (!good)
        return error_set(error, "%s: not a line of WORD COUNT: %s", path, line);
    print_report(&report, path, "executed");
    return true;
}

// ---- costs ----

static double ns_each(double start, size_t count, unsigned rounds)
{
    return (clock_seconds() - start) * 1e9 / ((double)count * rounds);
}

static void print_costs(const struct code_word *code, size_t count)
{
    enum { ROUNDS = 5 };
    if (count > 1 << 18)
        count = 1 << 18;
    uint32_t *words = malloc((count + 1) * sizeof *words);
    uint8_t *kernels = malloc(count + 1), *table = malloc(DISPATCH_VECTORS);
    if (words && kernels && table) {
        for (uint32_t v = 0; v < DISPATCH_VECTORS; v++)
            dispatch_predict_vectors(&nets.net, &v, 1, &table[v], NULL);
        for (size_t i = 0; i < count; i++)
            words[i] = code[i].word;
        printf("\ncost of one answer, in ns:\n");
        double start = clock_seconds();
        for (unsigned r = 0; r < ROUNDS; r++)
            for (size_t i = 0; i < count; i++)
                kernels[i] = table[dispatch_vector(words[i])];
        printf("  %-44s %7.1f\n", "net, baked into a table of its inputs", ns_each(start, count, ROUNDS));
        start = clock_seconds();
        for (unsigned r = 0; r < ROUNDS; r++)
            dispatch_predict(&nets.net, words, count, kernels);
        printf("  %-44s %7.1f\n", "net, a batch", ns_each(start, count, ROUNDS));
        static const enum answer timed[] = {NET, EXHIBIT, RULE, ORACLE};
        static const char *const names[] = {"net, one word", "135, one word", "rule",
                                            "oracle: the decoder, with all operands"};
        for (unsigned t = 0; t < sizeof timed / sizeof timed[0]; t++) {
            start = clock_seconds();
            for (unsigned r = 0; r < ROUNDS; r++)
                for (size_t i = 0; i < count; i++)
                    kernels[i] = (uint8_t)answer(timed[t], words[i], 0);
            printf("  %-44s %7.1f\n", names[t], ns_each(start, count, ROUNDS));
        }
    }
    free(words);
    free(kernels);
    free(table);
}

// ---- the command ----

// The net's own weights in another order, within each layer's array.
static void shuffle_weights(float *parameters, uint64_t seed)
{
    static const int bounds[] = {
        0,
        DISPATCH_AT_WEIGHT1,
        DISPATCH_AT_BIAS1,
        DISPATCH_AT_WEIGHT2,
        DISPATCH_AT_BIAS2,
        DISPATCH_AT_WEIGHT3,
        DISPATCH_AT_BIAS3,
        DISPATCH_PARAMETERS,
    };
    struct rng random = {seed};
    for (unsigned part = 0; part + 1 < sizeof bounds / sizeof bounds[0]; part++) {
        float *p = parameters + bounds[part];
        for (uint32_t left = (uint32_t)(bounds[part + 1] - bounds[part]); left > 1; left--) {
            uint32_t other = rng_below(&random, left);
            float kept = p[left - 1];
            p[left - 1] = p[other];
            p[other] = kept;
        }
    }
}

static bool load_nets(const struct tool_options *options, const struct word_census *census,
                      struct error *error)
{
    char base[1024];
    struct dispatch_model model;
    if (!exhibit_load(tool_path(base, sizeof base, options->folder, EXHIBIT_NAME), nets.exhibit, error) ||
        !dispatch_load(tool_path(base, sizeof base, options->folder, DISPATCH_NAME), &nets.net, error))
        return false;
    dispatch_model_create(&model, 0);
    bool loaded = model_load(base, &model.params, dispatch_architecture, NULL, error);
    if (loaded) {
        shuffle_weights(model.params.data, options->seed);
        dispatch_prepare(&nets.shuffled, model.params.data);
    }
    dispatch_model_destroy(&model);
    for (unsigned top = 0; top < 256; top++) {
        uint64_t words[DISPATCH_KERNELS] = {0};
        for (uint32_t f = 0; f < 1u << DISPATCH_FEATURES; f++)
            for (unsigned k = 0; k < DISPATCH_KERNELS; k++)
                words[k] += census->count[top << DISPATCH_FEATURES | f][k];
        for (uint8_t k = 1; k < DISPATCH_KERNELS; k++)
            if (words[k] > words[nets.by_top_byte[top]])
                nets.by_top_byte[top] = k;
    }
    return loaded;
}

// What was named on the command line, or the shared libraries of Debian's cross packages.
static bool read_code(const struct tool_options *options, struct code_word **words, size_t *count,
                      struct error *error)
{
    for (int i = 0; i < options->file_count; i++)
        if (!elf_code_append(options->files[i], words, count, error))
            return false;
    if (options->file_count)
        return true;
    glob_t found;
    if (glob(debian_code, 0, NULL, &found) != 0) {
        printf("\nno files named, and none at %s\n", debian_code);
        return true;
    }
    size_t used = 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct stat status;
        struct error not_elf; // linker scripts are called .so too
        if (lstat(found.gl_pathv[i], &status) == 0 && S_ISREG(status.st_mode))
            used += elf_code_append(found.gl_pathv[i], words, count, &not_elf);
    }
    printf("\ncode of the %zu libraries at %s\n", used, debian_code);
    globfree(&found);
    return true;
}

int dispatch_eval(const struct tool_options *options)
{
    struct error error;
    struct word_census census;
    if (!words_count(&census, WORDS_REPRESENTED, options->threads, NULL, &error))
        return tool_fail(&error);
    struct code_word *words = NULL;
    size_t count = 0;
    bool good = load_nets(options, &census, &error);
    if (good) {
        printf("right answers in %%; shuffled: the net's weights in another order, seed %" PRIu64 "\n",
               options->seed);
        judge_all(&census, options->seed);
        good = read_code(options, &words, &count, &error);
    }
    if (good && count) {
        print_costs(words, count);
        judge_code(words, count, "code, by kernel");
    }
    if (good && options->profile)
        good = judge_profile(options->profile, &error);
    free(words);
    words_free(&census);
    return good ? 0 : tool_fail(&error);
}
