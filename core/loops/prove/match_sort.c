// SPDX-License-Identifier: MIT
// Passes of a bubble sort: which accesses are the two neighbours, and when they are exchanged.
#include "core/loops/kernels/sort.h"
#include "match.h"

// An element as a node shows it.
struct element {
    bool is_near, is_ahead;
    bool zero_extended, sign_extended;
};

struct matcher {
    struct prover *v;
    struct sort *sort;
    int near_load, ahead_load; // accesses; near -1: carried in a register; equal: one load of both
    uint16_t near_address, ahead_address; // nodes, of separate accesses
};

static const struct node *node_of(const struct matcher *m, unsigned node)
{
    return &m->v->s->nodes[node];
}

static struct element element_of(const struct matcher *m, unsigned node)
{
    const struct node *n = node_of(m, node);
    const unsigned bits = m->sort->size * 8u;
    struct element e = {false, false, false, false};
    bool high = false, cut = false;
    for (; n->kind == NODE_ZEXT || n->kind == NODE_SEXT || n->kind == NODE_TRUNC; n = node_of(m, n->a)) {
        if (n->bits < bits)
            return e;
        e.zero_extended |= n->kind == NODE_ZEXT && node_of(m, n->a)->bits == bits;
        e.sign_extended |= n->kind == NODE_SEXT;
        cut |= n->kind == NODE_TRUNC && n->bits == bits;
    }
    if (m->near_load == m->ahead_load && m->near_load >= 0 && n->kind == NODE_LSHR &&
        node_of(m, n->b)->kind == NODE_CONSTANT && node_of(m, n->b)->value == bits) {
        e.zero_extended = high = true;
        n = node_of(m, n->a);
    }
    if (n->kind == NODE_VAR)
        e.is_near = m->near_load < 0 && n->a == m->sort->reg;
    if (n->kind == NODE_LOAD && m->near_load == m->ahead_load) {
        e.is_near = n->a == m->near_load && !high && cut;
        e.is_ahead = n->a == m->near_load && high;
    } else if (n->kind == NODE_LOAD) {
        e.is_near = n->a == m->near_load;
        e.is_ahead = n->a == m->ahead_load;
    }
    return e;
}

// The relation between near and ahead that a condition stands for.
struct relation {
    bool known, greater, or_equal, is_unsigned;
};

static struct relation relation_of(const struct matcher *m, unsigned condition)
{
    struct relation r = {false, false, false, false};
    const struct node *n = node_of(m, condition);
    bool negated = false;
    while ((n->kind == NODE_XOR || n->kind == NODE_EQ) && node_of(m, n->a)->bits == 1 &&
           node_of(m, n->b)->kind == NODE_CONSTANT) {
        negated ^= (node_of(m, n->b)->value == 1) == (n->kind == NODE_XOR);
        n = node_of(m, n->a);
    }
    if (n->kind < NODE_ULT || n->kind > NODE_SLE)
        return r;
    struct element a = element_of(m, n->a), b = element_of(m, n->b);
    if (!(a.is_near && b.is_ahead) && !(a.is_ahead && b.is_near))
        return r;
    bool wide = node_of(m, n->a)->bits > m->sort->size * 8u;
    r.known = !wide || a.zero_extended == b.zero_extended;
    // What the register holds at the entry need not be an extended element.
    if (m->sort->carried && (wide || a.sign_extended || b.sign_extended))
        r.known = false;
    r.is_unsigned = n->kind == NODE_ULT || n->kind == NODE_ULE || (wide && a.zero_extended);
    r.or_equal = n->kind == NODE_ULE || n->kind == NODE_SLE;
    r.greater = a.is_ahead;
    if (negated) {
        r.greater = !r.greater;
        r.or_equal = !r.or_equal;
    }
    return r;
}

static bool is_opposite(struct relation a, struct relation b)
{
    return a.known && b.known && a.greater != b.greater && a.or_equal != b.or_equal &&
           a.is_unsigned == b.is_unsigned;
}

static bool is_equal(struct relation a, struct relation b)
{
    return a.known && b.known && a.greater == b.greater && a.or_equal == b.or_equal &&
           a.is_unsigned == b.is_unsigned;
}

static bool set_relation(struct sort *sort, struct relation r)
{
    const uint64_t mask = UINT64_MAX >> (64 - sort->size * 8u);
    sort->flip = r.is_unsigned ? 0 : mask ^ mask >> 1;
    if (!r.greater)
        sort->flip ^= mask;
    sort->if_equal = r.or_equal;
    return r.known;
}

// The smaller or the greater of the two elements, as a select or as what an exchange under condition leaves.
// *exchanges: when the value is that of the other place.
static bool select_of(const struct matcher *m, unsigned node, bool near_place, struct relation *exchanges)
{
    const struct node *n = node_of(m, node);
    while ((n->kind == NODE_ZEXT || n->kind == NODE_TRUNC) && n->bits >= m->sort->size * 8u)
        n = node_of(m, n->a);
    if (n->kind != NODE_SELECT)
        return false;
    struct element yes = element_of(m, n->b), no = element_of(m, n->c);
    *exchanges = relation_of(m, n->a);
    if (near_place ? yes.is_ahead && no.is_near : yes.is_near && no.is_ahead)
        return exchanges->known;
    exchanges->greater = !exchanges->greater;
    exchanges->or_equal = !exchanges->or_equal;
    return (near_place ? yes.is_near && no.is_ahead : yes.is_ahead && no.is_near) && exchanges->known;
}

static bool match_lengths(const struct matcher *m, struct relation exchanges)
{
    const struct loop_summary *s = m->v->s;
    const struct node *n = node_of(m, s->vars[LOOP_VAR_LENGTH].value);
    if (s->length) {
        m->sort->length_exchanged = m->sort->length_kept = s->length;
        return true;
    }
    if (n->kind != NODE_SELECT || node_of(m, n->b)->kind != NODE_CONSTANT ||
        node_of(m, n->c)->kind != NODE_CONSTANT)
        return false;
    struct relation r = relation_of(m, n->a);
    bool straight = is_equal(r, exchanges);
    m->sort->length_exchanged = (uint32_t)node_of(m, straight ? n->b : n->c)->value;
    m->sort->length_kept = (uint32_t)node_of(m, straight ? n->c : n->b)->value;
    return straight || is_opposite(r, exchanges);
}

// One load and one store of both neighbours: the value is both of them, exchanged.
static bool match_pair(struct matcher *m, const struct access *store, struct relation *exchanges)
{
    const struct node *n = node_of(m, store->value);
    *exchanges = relation_of(m, store->condition);
    for (unsigned i = 0; i < 2 && n->kind == NODE_OR; i++) {
        unsigned low = i ? n->b : n->a;
        const struct node *high = node_of(m, i ? n->a : n->b);
        if (high->kind == NODE_SHL && node_of(m, high->b)->kind == NODE_CONSTANT &&
            node_of(m, high->b)->value == m->sort->size * 8u && element_of(m, low).is_ahead &&
            element_of(m, low).zero_extended &&
            (element_of(m, high->a).is_near || match_load(m->v->s, high->a) == m->near_load))
            return exchanges->known;
    }
    return false;
}

static bool match_stores(struct matcher *m, struct relation *exchanges)
{
    const struct loop_summary *s = m->v->s;
    bool near_done = false, ahead_done = false;
    for (unsigned i = 0; i < s->access_count; i++) {
        const struct access *a = &s->accesses[i];
        struct relation r;
        bool is_near = m->v->same[a->address] == m->near_address;
        if (!a->is_store)
            continue;
        if (m->near_load == m->ahead_load) {
            if (near_done || !is_near || a->size != 2 * m->sort->size || !match_pair(m, a, &r))
                return false;
            m->sort->stores_ahead = true;
        } else {
            if ((!is_near && m->v->same[a->address] != m->ahead_address) || a->size != m->sort->size)
                return false;
            if (match_always(s, a->condition)) {
                if (!select_of(m, a->value, is_near, &r))
                    return false;
            } else {
                struct element e = element_of(m, a->value);
                r = relation_of(m, a->condition);
                if (m->sort->carried || !(is_near ? e.is_ahead : e.is_near))
                    return false;
            }
            if (is_near ? near_done : ahead_done)
                return false;
        }
        bool second = near_done || ahead_done;
        if (second && match_always(s, a->condition))
            r.or_equal = exchanges->or_equal; // which of two equal ones is stored does not matter
        if (second && !is_equal(r, *exchanges))
            return false;
        *exchanges = r;
        near_done |= is_near;
        ahead_done |= !is_near;
    }
    m->sort->stores_ahead |= ahead_done;
    return near_done && exchanges->known;
}

// Finds out which loads and which register are the two elements.
static bool match_elements(struct matcher *m)
{
    struct prover *v = m->v;
    const struct loop_summary *s = v->s;
    int loads[3], count = 0;
    m->sort->carried = false;
    for (unsigned i = 0; i < s->access_count && count < 3; i++)
        if (!s->accesses[i].is_store && v->shape[s->accesses[i].address] != SHAPE_FIXED)
            loads[count++] = (int)i;
    for (unsigned i = 0; i < LOOP_VAR_LENGTH; i++) {
        if (i > REG_SP && s->vars[i].shape == VAR_AFFINE)
            return false;
        if (s->vars[i].shape != VAR_CARRIED)
            continue;
        if (m->sort->carried || i > REG_SP)
            return false;
        m->sort->carried = true;
        m->sort->reg = (uint8_t)i;
    }
    if (count < 1 || count > 2 || (m->sort->carried && (count != 1 || s->accesses[loads[0]].size < 4)))
        return false;
    m->sort->size = s->accesses[loads[0]].size;
    if (m->sort->carried) {
        m->near_load = -1;
        m->ahead_load = loads[0];
        m->ahead_address = v->same[s->accesses[loads[0]].address];
        return true;
    }
    m->near_load = loads[0];
    m->ahead_load = loads[count - 1];
    if (count == 1)
        m->sort->size /= 2;
    return s->accesses[loads[count - 1]].size == s->accesses[loads[0]].size && m->sort->size <= 8;
}

// The element ahead is the near one of the next iteration.
static bool match_addresses(struct matcher *m)
{
    struct prover *v = m->v;
    const struct loop_summary *s = v->s;
    struct quantity ahead, near, step;
    unsigned near_node, ahead_node = s->accesses[m->ahead_load].address;
    if (m->sort->carried) { // where the store goes that does not go ahead
        unsigned i = 0;
        while (i < s->access_count &&
               (!s->accesses[i].is_store || v->same[s->accesses[i].address] == v->same[ahead_node]))
            i++;
        if (i == s->access_count)
            return false;
        near_node = s->accesses[i].address;
    } else {
        near_node = s->accesses[m->near_load].address;
    }
    if (!values_at_entry(v, near_node, &near) || !values_at_entry(v, ahead_node, &ahead) ||
        !values_step(v, near_node, 64, 0, &m->sort->step) || !values_step(v, ahead_node, 64, 0, &step))
        return false;
    int64_t distance = (int64_t)(ahead.constant - near.constant);
    if (m->near_load == m->ahead_load)
        distance = m->sort->size;
    m->sort->near = near;
    if (m->near_load >= 0 && m->near_load != m->ahead_load && distance == -(int64_t)step.constant) {
        int load = m->near_load; // the other way about
        m->near_load = m->ahead_load;
        m->ahead_load = load;
        m->sort->near = ahead;
        near_node = ahead_node;
        ahead_node = s->accesses[m->ahead_load].address;
        distance = -distance;
    }
    m->near_address = v->same[near_node];
    m->ahead_address = v->same[ahead_node];
    return near.slot == ahead.slot && step.slot == REG_ZERO && m->sort->step.slot == REG_ZERO &&
           step.constant == m->sort->step.constant && distance == (int64_t)step.constant &&
           (distance == m->sort->size || distance == -(int64_t)m->sort->size);
}

bool match_sort(struct prover *v, struct sort *sort)
{
    struct matcher m = {.v = v, .sort = sort};
    struct relation exchanges = {false, false, false, false}, carried;
    *sort = (struct sort){.size = 0};
    if (!match_elements(&m) || !match_addresses(&m) || !match_stores(&m, &exchanges) ||
        !match_lengths(&m, exchanges))
        return false;
    if (sort->carried) {
        if (!select_of(&m, v->s->vars[sort->reg].value, false, &carried))
            return false;
        carried.or_equal = exchanges.or_equal;
        if (!is_equal(carried, exchanges))
            return false;
    }
    return set_relation(sort, exchanges) && (sort->carried || sort->stores_ahead);
}
