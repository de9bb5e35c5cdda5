// SPDX-License-Identifier: MIT
#include "list.h"

static inline bool read_item(const struct memory *m, uint64_t item, int64_t offset, unsigned size,
                             uint64_t *value)
{
    uint64_t address = strip_tag(item + (uint64_t)offset);
    if (!guard_may_read(m, address, size))
        return false;
    const uint8_t *at = m->base + address;
    *value = 0;
    switch (size) {
    case 1: memcpy(value, at, 1); break;
    case 2: memcpy(value, at, 2); break;
    case 4: memcpy(value, at, 4); break;
    default: memcpy(value, at, 8);
    }
    return true;
}

static inline bool holds(const struct list_test *t, uint64_t value, uint64_t with)
{
    const unsigned up = 64 - t->bits;
    if (t->compare == NODE_EQ)
        return ((value ^ with) << up == 0) != t->negated;
    uint64_t a = (t->swapped ? with : value) << up, b = (t->swapped ? value : with) << up;
    bool result;
    switch (t->compare) {
    case NODE_ULT: result = a < b; break;
    case NODE_ULE: result = a <= b; break;
    case NODE_SLT: result = (int64_t)a < (int64_t)b; break;
    default: result = (int64_t)a <= (int64_t)b;
    }
    return result != t->negated;
}

enum found list_find(const struct list *list, const struct entry *e, uint64_t limit, uint64_t *last,
                     unsigned *exit, uint64_t *previous, uint64_t *present)
{
    const struct memory *m = e->memory;
    const struct list l = *list;
    const uint64_t next_with = quantity_of(e, l.next_test.with),
                   field_with = quantity_of(e, l.field_test.with);
    uint64_t p = e->x[l.reg], before = p, next = 0, field, i;
    enum found found = FOUND_NONE;
    for (i = 0; i < limit; i++, before = p, p = next) {
        if (l.has_field && l.field_first) {
            if (!read_item(m, p, l.field_offset, l.field_size, &field))
                return FOUND_NO_MEMORY;
            if (l.field_test.exists && holds(&l.field_test, field, field_with)) {
                *exit = l.field_test.exit;
                found = FOUND;
                break;
            }
        }
        if (!read_item(m, p, l.next_offset, 8, &next))
            return FOUND_NO_MEMORY;
        if (l.next_test.exists && holds(&l.next_test, next, next_with)) {
            *exit = l.next_test.exit;
            found = FOUND;
            break;
        }
        if (l.has_field && !l.field_first) {
            if (!read_item(m, l.field_of_next ? next : p, l.field_offset, l.field_size, &field))
                return FOUND_NO_MEMORY;
            if (l.field_test.exists && holds(&l.field_test, field, field_with)) {
                *exit = l.field_test.exit;
                found = FOUND;
                break;
            }
        }
    }
    *last = i;
    *previous = before;
    *present = found == FOUND ? p : before;
    return found;
}

uint64_t list_run(const struct kernel *k, const struct entry *e, uint64_t *x)
{
    x[k->list->reg] = e->exit->at_end ? e->present_item : e->previous_item;
    return e->count * e->guard->length;
}
