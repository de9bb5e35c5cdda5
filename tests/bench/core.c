// SPDX-License-Identifier: MIT
// core [ROUNDS]: what small processors are compared by, for tests/bench/peers: a linked list that is
// searched, reversed and sorted, products of matrices, a state machine that reads numbers, and a CRC of all
// that comes of it. The idea is CoreMark's; the code is not, and neither are its figures.
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 64, SIDE = 24, TEXT = 1024, ROUNDS = 6000 };

// CRC-16 with the polynomial x^16 + x^15 + x^2 + 1, bit by bit.
static uint16_t crc16(uint16_t crc, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++, value >>= 8) {
        crc ^= value & 0xff;
        for (unsigned bit = 0; bit < 8; bit++)
            crc = (uint16_t)(crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1);
    }
    return crc;
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

// ---- a list ----

struct item {
    struct item *next;
    int16_t value, place;
};

typedef int compare_items(const struct item *a, const struct item *b);

static int by_value(const struct item *a, const struct item *b)
{
    return a->value != b->value ? a->value - b->value : a->place - b->place;
}

static int by_place(const struct item *a, const struct item *b)
{
    return a->place - b->place;
}

static struct item *find(struct item *list, int16_t value)
{
    while (list && list->value != value)
        list = list->next;
    return list;
}

static struct item *reverse(struct item *list)
{
    struct item *reversed = NULL;
    while (list) {
        struct item *next = list->next;
        list->next = reversed;
        reversed = list;
        list = next;
    }
    return reversed;
}

static struct item *merge(struct item *a, struct item *b, compare_items *compare)
{
    struct item *merged = NULL, **end = &merged;
    while (a && b) {
        struct item **first = compare(a, b) <= 0 ? &a : &b;
        *end = *first;
        end = &(*first)->next;
        *first = (*first)->next;
    }
    *end = a ? a : b;
    return merged;
}

static struct item *sort(struct item *list, compare_items *compare)
{
    if (!list || !list->next)
        return list;
    struct item *middle = list;
    for (struct item *end = list->next; end && end->next; end = end->next->next)
        middle = middle->next;
    struct item *second = middle->next;
    middle->next = NULL;
    return merge(sort(list, compare), sort(second, compare), compare);
}

static uint16_t work_list(uint16_t crc, uint32_t *random)
{
    static struct item items[ITEMS];
    struct item *list = NULL;
    for (int i = 0; i < ITEMS; i++) {
        items[i] = (struct item){list, (int16_t)(next_random(random) % 97), (int16_t)i};
        list = &items[i];
    }
    unsigned found = 0;
    for (int16_t value = 0; value < 97; value++)
        found += find(list, value) != NULL;
    list = sort(reverse(list), by_value);
    for (const struct item *i = list; i; i = i->next)
        crc = crc16(crc, (uint16_t)i->value, 2);
    list = sort(list, by_place);
    return crc16(crc, found + (uint32_t)list->place, 4);
}

// ---- matrices ----

static uint16_t work_matrices(uint16_t crc, uint32_t *random)
{
    static int16_t a[SIDE][SIDE], b[SIDE][SIDE];
    static int32_t product[SIDE][SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        a[i / SIDE][i % SIDE] = (int16_t)(next_random(random) >> 20);
        b[i / SIDE][i % SIDE] = (int16_t)(next_random(random) >> 20);
    }
    int32_t sum = 0;
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            product[i][j] = 0;
            for (int k = 0; k < SIDE; k++)
                product[i][j] += a[i][k] * b[k][j] % 1021;
            sum += product[i][j] > sum ? 10 : product[i][j] >> 5 & 15;
        }
    }
    return crc16(crc, (uint32_t)sum, 4);
}

// ---- a state machine: which words of a text are whole numbers, fractions, with exponents, or none ----

enum state { START, SIGN, INTEGER, POINT, FRACTION, EXPONENT, EXPONENT_SIGN, SCIENTIFIC, INVALID, STATES };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum state step(enum state state, char c)
{
    switch (state) {
    case START: return is_digit(c) ? INTEGER : c == '+' || c == '-' ? SIGN : c == '.' ? POINT : INVALID;
    case SIGN: return is_digit(c) ? INTEGER : c == '.' ? POINT : INVALID;
    case INTEGER: return is_digit(c) ? INTEGER : c == '.' ? FRACTION : c == 'e' ? EXPONENT : INVALID;
    case POINT: return is_digit(c) ? FRACTION : INVALID;
    case FRACTION: return is_digit(c) ? FRACTION : c == 'e' ? EXPONENT : INVALID;
    case EXPONENT: return is_digit(c) ? SCIENTIFIC : c == '+' || c == '-' ? EXPONENT_SIGN : INVALID;
    case EXPONENT_SIGN:
    case SCIENTIFIC: return is_digit(c) ? SCIENTIFIC : INVALID;
    default: return INVALID;
    }
}

static uint16_t work_states(uint16_t crc, uint32_t *random)
{
    static const char *const words[] = {"5012",     "-874",     "+122",     "35.54400", ".1234500",
                                        "-110.700", "+0.64400", "5.500e+3", "-.123e-2", "-87e+832",
                                        "+0.6e-12", "T0.3e-1F", "-T.T++Tq", "1T3.4e4z", "34.0e-T^"};
    static char text[TEXT];
    size_t length = 0;
    while (length < TEXT - 12) {
        const char *word = words[next_random(random) % (sizeof words / sizeof *words)];
        memcpy(text + length, word, strlen(word));
        length += strlen(word);
        text[length++] = ',';
    }
    unsigned ends[STATES] = {0}, visits[STATES] = {0};
    enum state state = START;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == ',') {
            ends[state]++;
            state = START;
        } else {
            state = step(state, text[i]);
            visits[state]++;
        }
    }
    for (int i = 0; i < STATES; i++)
        crc = crc16(crc, ends[i] << 16 | visits[i], 4);
    return crc;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : ROUNDS;
    uint16_t list = 0, matrices = 0, states = 0;
    uint32_t random = 0x2545f491;
    for (unsigned i = 0; i < rounds; i++) {
        list = work_list(list, &random);
        matrices = work_matrices(matrices, &random);
        states = work_states(states, &random);
    }
    printf("%u rounds: list %04" PRIx16 ", matrices %04" PRIx16 ", states %04" PRIx16 "\n", rounds, list,
           matrices, states);
    return 0;
}
