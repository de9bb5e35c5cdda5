// SPDX-License-Identifier: MIT
#include "sort.h"

struct pass {
    uint64_t carry, exchanges, equal;
    uint64_t done; // iterations
};

// Whole rows of elements, forwards. Before each element the greatest so far is what is carried: found within
// a row by looking back one element, then two, four and so on.
#define ROWS(type)                                                                                           \
    EACH_WIDTH static struct pass rows_of_##type(uint8_t *near, uint64_t count, uint64_t flip,               \
                                                 uint64_t first)                                             \
    {                                                                                                        \
        typedef type row __attribute__((vector_size(64)));                                                   \
        enum { N = sizeof(row) / sizeof(type) };                                                             \
        row back[N], shifted, ahead, most, before, less, exchanges = {0}, equal = {0}, number;               \
        struct pass pass = {.done = 0};                                                                      \
        type carry = (type)first;                                                                            \
        for (unsigned k = 0; k < N; k++)                                                                     \
            number[k] = (type)k;                                                                             \
        for (unsigned by = 1; by < N; by *= 2)                                                               \
            back[by] = number - ((row)(number >= by) & by);                                                  \
        for (; pass.done + N <= count; pass.done += N, near += sizeof(row)) {                                \
            memcpy(&ahead, near + sizeof(type), sizeof ahead);                                               \
            most = ahead ^= (type)flip;                                                                      \
            for (unsigned by = 1; by < N; by *= 2) {                                                         \
                shifted = __builtin_shuffle(most, back[by]);                                                 \
                less = (row)(most < shifted);                                                                \
                most = (shifted & less) | (most & ~less);                                                    \
            }                                                                                                \
            less = (row)(most < carry);                                                                      \
            most = (carry & less) | (most & ~less);                                                          \
            before = __builtin_shuffle(most, back[1]);                                                       \
            before[0] = carry;                                                                               \
            carry = most[N - 1];                                                                             \
            less = (row)(ahead < before);                                                                    \
            exchanges -= less;                                                                               \
            equal -= (row)(ahead == before);                                                                 \
            ahead = ((ahead & less) | (before & ~less)) ^ (type)flip;                                        \
            memcpy(near, &ahead, sizeof ahead);                                                              \
        }                                                                                                    \
        pass.carry = carry;                                                                                  \
        for (unsigned k = 0; k < N; k++) {                                                                   \
            pass.exchanges += exchanges[k];                                                                  \
            pass.equal += equal[k];                                                                          \
        }                                                                                                    \
        return pass;                                                                                         \
    }
ROWS(uint32_t)
ROWS(uint64_t)
#undef ROWS

#define PASS(type)                                                                                           \
    do {                                                                                                     \
        typedef type element __attribute__((aligned(1), may_alias));                                         \
        const type flip = (type)s->flip;                                                                     \
        type carry = (type)((s->carried ? (type)x[s->reg] : *(const element *)near) ^ flip);                 \
        if (step == sizeof(type) && sizeof(type) >= sizeof(uint32_t)) {                                      \
            pass =                                                                                           \
                (sizeof(type) == 4 ? rows_of_uint32_t : rows_of_uint64_t)(near, e->count, s->flip, carry);   \
            carry = (type)pass.carry;                                                                        \
            near += pass.done * sizeof(type);                                                                \
        }                                                                                                    \
        for (uint64_t left = e->count - pass.done; left; left--, near += step) {                             \
            type ahead = (type)(*(const element *)(near + step) ^ flip);                                     \
            pass.exchanges += ahead < carry;                                                                 \
            pass.equal += ahead == carry;                                                                    \
            *(element *)near = (type)((ahead < carry ? ahead : carry) ^ flip);                               \
            carry = ahead < carry ? carry : ahead;                                                           \
        }                                                                                                    \
        last = (type)(carry ^ flip);                                                                         \
        if (s->stores_ahead)                                                                                 \
            *(element *)near = (type)last;                                                                   \
    } while (0)

uint64_t sort_run(const struct kernel *k, const struct entry *e, uint64_t *x)
{
    const struct sort *s = k->sort;
    uint8_t *near = e->memory->base + strip_tag(quantity_of(e, s->near));
    const int64_t step = (int64_t)s->step.constant;
    struct pass pass = {.done = 0};
    uint64_t last;
    switch (s->size) {
    case 1: PASS(uint8_t); break;
    case 2: PASS(uint16_t); break;
    case 4: PASS(uint32_t); break;
    default: PASS(uint64_t);
    }
    if (s->carried)
        x[s->reg] = last;
    const uint64_t exchanges = pass.exchanges + (s->if_equal ? pass.equal : 0);
    return exchanges * s->length_exchanged + (e->count - exchanges) * s->length_kept;
}
