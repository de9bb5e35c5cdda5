// SPDX-License-Identifier: MIT
// Which features of a word decide its kernel: looks through every bit and every field test there could be.
//
// A top byte whose words all belong to one kernel needs no feature. For the others ("mixed"), a set of
// features is exact if no two allocated words of different kernels agree in top byte and in all features. The
// search takes two words that a set still confuses; one of the features that tell these two apart must be
// added; so trying each of them finds every smallest set.
#include "dispatch_tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/isa/isa.h"

enum {
    CELL_LSB = 10, // bits 9..0 never decide: checked below
    CELL_BITS = 24 - CELL_LSB,
    CELLS = 1 << CELL_BITS,
    WIDEST = 6, // of the fields that are tried
    MOST_FEATURES = DISPATCH_FEATURES,
};

// Two cells of one top byte and of different kernels, by bits 23..10.
struct pair {
    uint16_t a, b;
};

struct search {
    uint8_t (*kernels)[CELLS]; // [256]: bit k: the cell has words of kernel k
    unsigned mixed[256], mixed_count;
    struct pair *near; // pairs that differ in one bit
    size_t near_count, near_room;
    struct dispatch_feature chosen[MOST_FEATURES];
    unsigned wanted;
    unsigned found; // sets of that size
    struct dispatch_feature first[MOST_FEATURES]; // the first of them
    bool bits_only;
};

static bool holds(const struct dispatch_feature *f, uint32_t cell)
{
    return (cell >> (f->lsb - CELL_LSB) & ((1u << f->width) - 1)) == f->value;
}

static bool separates(const struct dispatch_feature *features, unsigned count, struct pair p)
{
    for (unsigned i = 0; i < count; i++)
        if (holds(&features[i], p.a) != holds(&features[i], p.b))
            return true;
    return false;
}

// Whether all pairs are told apart; if not, *left is one that is not.
static bool sufficient(const struct search *s, const struct dispatch_feature *features, unsigned count,
                       struct pair *left)
{
    for (size_t i = 0; i < s->near_count; i++) {
        if (!separates(features, count, s->near[i])) {
            *left = s->near[i];
            return false;
        }
    }
    for (unsigned m = 0; m < s->mixed_count; m++) {
        int first[1 << MOST_FEATURES];
        memset(first, -1, sizeof first[0] << count);
        const uint8_t *kernels = s->kernels[s->mixed[m]];
        for (unsigned cell = 0; cell < CELLS; cell++) {
            if (!kernels[cell])
                continue;
            unsigned seen = 0;
            for (unsigned i = 0; i < count; i++)
                seen |= (unsigned)holds(&features[i], cell) << i;
            if (first[seen] < 0)
                first[seen] = (int)cell;
            if (kernels[first[seen]] != kernels[cell]) {
                *left = (struct pair){(uint16_t)first[seen], (uint16_t)cell};
                return false;
            }
        }
    }
    return true;
}

static void try_sets(struct search *s, unsigned count)
{
    struct pair left;
    if (sufficient(s, s->chosen, count, &left)) {
        if (s->found++ == 0)
            memcpy(s->first, s->chosen, sizeof s->first);
        return;
    }
    if (count == s->wanted)
        return;
    for (uint8_t width = 1; width <= (s->bits_only ? 1 : WIDEST); width++) {
        for (uint8_t lsb = CELL_LSB; lsb + width <= 24; lsb++) {
            uint32_t mask = (1u << width) - 1;
            uint32_t values[2] = {left.a >> (lsb - CELL_LSB) & mask, left.b >> (lsb - CELL_LSB) & mask};
            if (values[0] == values[1])
                continue;
            for (unsigned i = 0; i < 2; i++) {
                if (width == 1 && values[i] == 0)
                    continue;
                s->chosen[count] = (struct dispatch_feature){lsb, width, values[i]};
                try_sets(s, count + 1);
            }
        }
    }
}

static void print_feature(const struct dispatch_feature *f)
{
    if (f->width == 1) {
        printf("bit %u", f->lsb);
        return;
    }
    printf("%u:%u = ", f->lsb + f->width - 1, f->lsb);
    for (unsigned i = f->width; i > 0; i--)
        putchar('0' + (int)(f->value >> (i - 1) & 1));
}

static void print_features(const struct dispatch_feature *features, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        fputs(i ? ", " : "", stdout);
        print_feature(&features[i]);
    }
}

// The kernels of every cell; false if bits 9..0 decide somewhere.
static bool fill_cells(struct search *s)
{
    bool single = true;
    op ignored;
    for (uint32_t bucket = 0; bucket < 2048; bucket++) {
        uint32_t mask = words_relevant_bits(bucket) | (0x1fffffu & ~0u << CELL_LSB), low = 0;
        do {
            uint32_t word = bucket << 21 | low;
            enum insn id = isa_decode(word, 0, &ignored);
            if (id != INSN_UNDEFINED) {
                uint8_t *cell = &s->kernels[word >> 24][word >> CELL_LSB & (CELLS - 1)];
                *cell |= (uint8_t)(1u << isa_info[id].group);
                single &= (*cell & (*cell - 1)) == 0;
            }
            low = (low - mask) & mask;
        } while (low != 0);
    }
    return single;
}

static bool find_pairs(struct search *s)
{
    for (unsigned top = 0; top < 256; top++) {
        uint8_t all = 0;
        for (unsigned cell = 0; cell < CELLS; cell++)
            all |= s->kernels[top][cell];
        if ((all & (all - 1)) == 0)
            continue;
        s->mixed[s->mixed_count++] = top;
        printf("  %02x  ", top);
        for (unsigned k = 0, named = 0; k < DISPATCH_KERNELS; k++)
            if (all >> k & 1)
                printf("%s%s", named++ ? ", " : "", dispatch_kernel_names[k]);
        printf("\n");
        for (unsigned cell = 0; cell < CELLS; cell++) {
            for (unsigned bit = 0; bit < CELL_BITS; bit++) {
                unsigned other = cell | 1u << bit;
                if (other == cell || !s->kernels[top][cell] || !s->kernels[top][other] ||
                    s->kernels[top][cell] == s->kernels[top][other])
                    continue;
                if (s->near_count == s->near_room) {
                    size_t room = s->near_room ? 2 * s->near_room : 4096;
                    struct pair *bigger = realloc(s->near, room * sizeof *bigger);
                    if (!bigger)
                        return false;
                    s->near = bigger;
                    s->near_room = room;
                }
                s->near[s->near_count++] = (struct pair){(uint16_t)cell, (uint16_t)other};
            }
        }
    }
    return true;
}

static void search_smallest(struct search *s, bool bits_only)
{
    s->bits_only = bits_only;
    s->found = 0;
    for (s->wanted = 1; s->wanted <= MOST_FEATURES && !s->found; s->wanted++)
        try_sets(s, 0);
    printf("\nfewest %s: %u; the first set found: ", bits_only ? "single bits" : "bits or field tests",
           s->wanted - 1);
    print_features(s->first, s->wanted - 1);
    printf("\n");
}

// The features in use: whether they suffice, and what each contributes.
static bool report_chosen(const struct search *s)
{
    struct dispatch_feature inside[DISPATCH_FEATURES], without[DISPATCH_FEATURES];
    unsigned count = 0;
    for (unsigned i = 0; i < DISPATCH_FEATURES; i++)
        if (dispatch_features[i].lsb >= CELL_LSB)
            inside[count++] = dispatch_features[i];
    struct pair left;
    bool exact = sufficient(s, inside, count, &left);
    printf("\nthe net's features: ");
    print_features(dispatch_features, DISPATCH_FEATURES);
    printf("\n%s\n", exact ? "top byte and features decide the kernel of every allocated word"
                           : "NOT exact: two words of different kernels agree in all of them");
    printf("not exact without: ");
    for (unsigned i = 0, named = 0; i < count; i++) {
        unsigned kept = 0;
        for (unsigned j = 0; j < count; j++)
            if (j != i)
                without[kept++] = inside[j];
        if (!sufficient(s, without, kept, &left)) {
            fputs(named++ ? ", " : "", stdout);
            print_feature(&inside[i]);
        }
    }
    printf("\n");
    return exact;
}

int dispatch_generate(const struct tool_options *options)
{
    (void)options;
    struct search s = {.kernels = calloc(256, sizeof *s.kernels)};
    bool memory = s.kernels != NULL, exact = false;
    if (memory) {
        if (!fill_cells(&s))
            printf("bits 9..0 decide a kernel: this search does not look there\n");
        printf("top bytes with allocated words of several kernels:\n");
        memory = find_pairs(&s);
    }
    if (memory) {
        search_smallest(&s, true);
        search_smallest(&s, false);
        exact = report_chosen(&s);
    } else {
        fprintf(stderr, "neuromodel: no memory for the search\n");
    }
    free(s.near);
    free(s.kernels);
    return exact ? 0 : 1;
}
