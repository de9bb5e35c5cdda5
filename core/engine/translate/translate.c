// SPDX-License-Identifier: MIT
// The run-time of translated code: entering, installing, invalidating. Everything that translated code
// addresses lies below 2 GiB: cells, table, stack, the machine itself.
#include "translate_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/forks.h"
#include "core/engine/dispatch/dispatch_modes.h"

// Whose code this thread is in: what the ways back work on.
static _Thread_local struct translator *running;

// ---- the ways from translated code to the host ----

#define WAY_BACK(name)                                                                                       \
    static void host_##name(void)                                                                            \
    {                                                                                                        \
        interp_##name(running->guest);                                                                       \
        running->guest->cpu.exact_pc = running->guest->cpu.pc;                                               \
    }
GLUE_WAYS_BACK(WAY_BACK)
#undef WAY_BACK

static void host_more(void)
{
    interp_more(running->guest);
}

// A jump to a host function from where 32-bit addresses reach.
static uint32_t make_trampoline(struct translator *t, void (*f)(void))
{
    size_t at = code_memory_take(&t->code, 16, 16);
    if (at == SIZE_MAX)
        return 0;
    uint8_t *w = t->code.write + at;
    memcpy(w, "\x48\xb8", 2); // movabs rax, f
    memcpy(w + 2, &f, 8);
    memcpy(w + 10, "\xff\xe0", 2); // jmp rax
    return low_address(t->code.code + at);
}

static bool is_on_low_stack(const struct translator *t)
{
    const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    return here - (uint64_t)(uintptr_t)t->stack < STACK_BYTES;
}

// enter_region(code) on the low stack, or where that is in use already, further down on it.
static void call_on_low_stack(struct translator *t, uint32_t code)
{
    uint64_t top = is_on_low_stack(t) ? 0 : (uint64_t)(uintptr_t)t->stack + STACK_BYTES;
    uint64_t function = t->enter_region, argument = code;
    __asm__ volatile("mov %%rsp, %%r12\n\t"
                     "test %2, %2\n\t"
                     "cmovnz %2, %%rsp\n\t"
                     "sub $128, %%rsp\n\t" // the red zone
                     "and $-16, %%rsp\n\t"
                     "call *%0\n\t"
                     "mov %%r12, %%rsp"
                     : "+a"(function), "+D"(argument), "+S"(top)
                     :
                     : "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "memory", "cc", "xmm0", "xmm1", "xmm2",
                       "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
                       "xmm13", "xmm14", "xmm15");
}

// Installs what an earlier run left for the slot. What fits the guest no more is forgotten.
static void install_cached(struct translator *t, struct slot *s)
{
    const struct cached_object *o = cache_file_get(t->cache, s->cached);
    if (slot_at(t, o->entry)->state == SLOT_DONE) { // the object is installed, and of other entries
        s->state = SLOT_COLD;
        return;
    }
    bool was_there = o->size;
    const unsigned char *bytes = cache_file_read(t->cache, s->cached);
    if (!bytes || !translate_install_object(t, o, bytes)) {
        s->state = SLOT_COLD;
        t->region_count -= was_there;
        t->cached_count -= was_there;
        cache_file_drop(t->cache, s->cached);
    } else if (s->state == SLOT_CACHED) { // the object is of other entries
        s->state = SLOT_COLD;
    } else if (t->eager && has_grown(t, o)) {
        translate_again(t, s->pc);
    }
}

// The code at pc, which is there from now on; 0 if there is none.
static uint32_t code_at(struct translator *t, uint32_t pc)
{
    struct slot *s = slot_at(t, pc);
    if (s && s->state == SLOT_CACHED) {
        t->guest->activity = ACTIVITY_ENGINE;
        install_cached(t, s);
        t->guest->activity = ACTIVITY_GUEST;
    }
    if (!s || s->state != SLOT_DONE)
        return 0;
    slot_offer(t, s); // who looked for it in the table has not found it
    return t->low->call_cells[s - t->slots];
}

// Who prepares has what is not found translated at the end.
static uint64_t host_code(void)
{
    struct translator *t = running;
    const uint64_t pc = t->guest->cpu.cold_pc;
    if (pc > UINT32_MAX)
        return 0;
    const uint32_t code = code_at(t, (uint32_t)pc);
    struct slot *missed = !code && t->guest->config.prepare ? translate_slot(t, (uint32_t)pc) : NULL;
    if (missed)
        missed->is_missed = true;
    return code;
}

bool translate_enter_code(struct translator *t)
{
    cpu *c = &t->guest->cpu;
    if (is_on_low_stack(t) && (uint64_t)(uintptr_t)__builtin_frame_address(0) < c->stack_limit)
        return false;
    uint32_t code = slot_offered(t, (uint32_t)c->pc);
    if (!code && !(code = code_at(t, (uint32_t)c->pc)))
        return false;
    guest_make_current(t->guest);
    c->exact_pc = c->pc;
    if (!is_on_low_stack(t))
        t->code_changes = t->guest->code_changes;
    running = t;
    call_on_low_stack(t, code);
    return true;
}

bool translate_enter(struct translator *t)
{
    return t->lockstep ? t->lockstep(t) : translate_enter_code(t);
}

void translate_set_lockstep(struct translator *t, bool (*check)(struct translator *t))
{
    t->lockstep = check;
}

// ---- requests ----

// Starts the compile thread, for the first request: most runs of what has been prepared make none. (A process
// that was forked beside one has none: t->thread is another one's, and what that had locked, be it in LLVM,
// is left alone.)
static bool start_thread(struct translator *t)
{
    if (forks_lost_threads())
        return false;
    if (t->thread || t->has_no_thread)
        return t->thread;
    t->has_no_thread = pthread_create(&t->thread, NULL, compile_thread, t) != 0;
    if (t->has_no_thread) {
        t->thread = 0;
        guest_log(t->guest, "the host denied a thread for the translator: nothing more is translated");
    }
    return t->thread;
}

static bool enqueue(struct translator *t, struct slot *s)
{
    if (!start_thread(t))
        return false;
    pthread_mutex_lock(&t->lock);
    bool has_room = t->queued < QUEUE;
    if (has_room) {
        t->queue[t->queued++] = s;
        pthread_cond_signal(&t->wake);
    }
    pthread_mutex_unlock(&t->lock);
    return has_room;
}

void translate_again(struct translator *t, uint32_t pc)
{
    enqueue(t, slot_at(t, pc));
}

// What has been interpreted since it was asked for last, in units of HEAT.
static unsigned new_heat(struct translator *t, uint64_t interpreted)
{
    uint64_t heat = (interpreted - t->interpreted) / HEAT;
    t->interpreted = heat <= HEAT_MOST ? t->interpreted + heat * HEAT : interpreted;
    return heat <= HEAT_MOST ? (unsigned)heat : HEAT_MOST;
}

// In a process that keeps nothing: what others have seen, they tell themselves.
static void begin_apart(struct translator *t)
{
    for (unsigned i = 0; i < t->slot_count; i++)
        atomic_store_explicit(&t->slots[i].heat, 0, memory_order_relaxed);
    t->heat = 0;
    madvise(t->guest->cpu.branch_counts, BRANCH_COUNTS_BYTES, MADV_DONTNEED);
    t->apart = forks_count();
}

void translate_request(struct translator *t, uint32_t pc, uint64_t interpreted)
{
    struct slot *s;
    if (!t->guest->entering || !(s = translate_slot(t, pc)) ||
        (s->state != SLOT_COLD && s->state != SLOT_QUEUED))
        return;
    if (t->shared && !shared_history_is_kept_here(t->shared) && t->apart != forks_count())
        begin_apart(t);
    unsigned more = new_heat(t, interpreted);
    atomic_fetch_add_explicit(&t->heat, more, memory_order_relaxed);
    unsigned heat = atomic_load_explicit(&s->heat, memory_order_relaxed) + more;
    heat = heat > HEAT_COUNTED ? HEAT_COUNTED : heat ? heat : 1; // who is called so often may be short
    atomic_store_explicit(&s->heat, heat, memory_order_relaxed);
    const unsigned wanted = s->wanted ? s->wanted : choose_first_look(t);
    bool is_ready = t->eager || (heat >= wanted && (t->thread || choose_may_load(t)));
    if (s->state == SLOT_COLD && is_ready && enqueue(t, s))
        s->state = SLOT_QUEUED;
}

void request_if_cold(struct translator *t, struct slot *s)
{
    if (s && s->state == SLOT_COLD && enqueue(t, s))
        s->state = SLOT_QUEUED;
}

void request_all(struct translator *t)
{
    struct memory *memory = &t->guest->memory;
    for (uint64_t pc = 0; pc < GUEST_SPACE; pc += 4) {
        if (!(memory->pages[pc / GUEST_PAGE] & MEMORY_CODE)) {
            pc |= GUEST_PAGE - 4;
            continue;
        }
        uint32_t word;
        op o;
        if (!memory_read(memory, pc, &word, sizeof word) || isa_decode(word, (uint32_t)pc, &o) != INSN_bl ||
            !was_executed(t, (uint32_t)pc))
            continue;
        uint32_t target = (uint32_t)(pc + (uint64_t)(int64_t)o.disp * 4);
        request_if_cold(t, was_executed(t, target) ? translate_slot(t, target) : NULL);
    }
    for (unsigned i = 0; i < t->slot_count; i++)
        if (t->slots[i].is_missed || slot_heat(&t->slots[i]))
            request_if_cold(t, &t->slots[i]);
}

// ---- installing ----

static struct cached_object object_of(const struct compiled *c)
{
    return (struct cached_object){.entry = c->entries[0],
                                  .page_count = c->page_count,
                                  .left_out_count = c->left_out_count,
                                  .pages = c->pages,
                                  .left_out = c->left_out,
                                  .bytes = c->object.bytes,
                                  .size = c->object.size};
}

// Puts it into the cache, which then owns its bytes, in place of what begins at any of its entries. False if
// they are still c's.
static bool keep(struct translator *t, struct compiled *c, const struct cached_object *o)
{
    if (!t->cache || !cache_file_add(t->cache, o))
        return false;
    c->object.bytes = NULL;
    for (size_t i = 0; i < cache_file_count(t->cache); i++)
        for (unsigned k = 1; k < c->entry_count; k++)
            if (cache_file_get(t->cache, i)->entry == c->entries[k])
                cache_file_drop(t->cache, i);
    return true;
}

// Takes note that nothing leads to the region.
static void give_up(struct translator *t, const struct compiled *c)
{
    if (!c->tried) {
        struct slot *s = slot_at(t, c->asked);
        s->wanted = c->wanted;
        s->state = s->state == SLOT_QUEUED ? SLOT_COLD : s->state;
        return;
    }
    for (unsigned i = 0; i < c->entry_count; i++) {
        struct slot *s = slot_at(t, c->entries[i]);
        s->in_work = false;
        if (s->state == SLOT_QUEUED) // it has no older one
            s->state = i ? SLOT_COLD : c->failed ? SLOT_HOPELESS : SLOT_FAILED;
    }
}

static void install(struct translator *t, struct compiled *c)
{
    struct cached_object o;
    if (!c->tried || c->failed || !(o = object_of(c), translate_install_object(t, &o, o.bytes))) {
        give_up(t, c);
        return;
    }
    t->region_count++;
    o.trusted_by = dispatch_identity(t->guest->dispatch);
    if (!keep(t, c, &o)) {
        t->installed[t->installed_count - 1].bytes = c->object.bytes;
        c->object.bytes = NULL;
    }
}

// For a later run.
static void install_too_late(struct translator *t, struct compiled *c)
{
    if (!c->tried || c->failed) {
        give_up(t, c);
        return;
    }
    struct cached_object o = object_of(c);
    if (translate_is_current(t, &o))
        o.trusted_by = dispatch_identity(t->guest->dispatch);
    if (!keep(t, c, &o))
        return;
    for (unsigned i = 1; i < c->entry_count; i++) { // the first is the object's own
        struct slot *s = slot_at(t, c->entries[i]);
        s->state = SLOT_CACHED;
        s->home = c->entries[0];
    }
}

static void take_ready(struct translator *t, void take(struct translator *t, struct compiled *c))
{
    pthread_mutex_lock(&t->lock);
    struct compiled *list = t->ready;
    t->ready = NULL;
    t->ready_end = &t->ready;
    pthread_mutex_unlock(&t->lock);
    while (list) {
        struct compiled *c = list;
        list = c->next;
        t->compiled_any |= c->tried;
        take(t, c);
        free(c->object.bytes);
        free(c);
    }
}

bool translate_is_stale(const struct translator *t)
{
    return is_on_low_stack(t) && t->code_changes != t->guest->code_changes;
}

bool translate_has_to_leave(const struct translator *t)
{
    return t->lockstep || atomic_load_explicit(&t->has_ready, memory_order_relaxed) || translate_is_stale(t);
}

// No code runs: what has been dropped is gone.
static void remove_dropped(struct translator *t)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < t->installed_count; i++)
        if (t->installed[i].dropped)
            free(t->installed[i].bytes);
        else
            t->installed[kept++] = t->installed[i];
    t->installed_before += t->installed_count - kept;
    t->dropped_before += t->dropped_count;
    t->installed_count = kept;
    t->dropped_count = 0;
}

void translate_install(struct translator *t)
{
    if (t->dropped_count > t->installed_count / 2)
        remove_dropped(t);
    if (!forks_lost_threads() && atomic_exchange_explicit(&t->has_ready, false, memory_order_acquire)) {
        take_ready(t, install);
        choose_anew_what_to_enter(t);
    }
}

void translate_set_entered(struct translator *t, bool entered)
{
    for (unsigned i = 0; i < t->slot_count; i++) {
        const struct slot *s = &t->slots[i];
        if (!translate_is_entry(t, s->pc))
            continue;
        if (entered)
            interp_patch_entry(t->guest, s->pc);
        else
            interp_restore_entry(t->guest, s->pc);
    }
}

void translate_now(struct translator *t, uint32_t pc)
{
    struct slot *s = translate_slot(t, pc);
    t->assume_executed = true;
    t->eager = true;
    translate_request(t, pc, t->interpreted);
    for (unsigned wait = 0; s && s->state == SLOT_QUEUED && wait < 20000; wait++) {
        usleep(500);
        translate_install(t);
    }
}

// ---- invalidation ----

void translate_forget(struct translator *t, uint64_t address, uint64_t length)
{
    for (unsigned i = 0; i < HASHED_PAGES; i++)
        if ((uint64_t)t->hashed[i].address + GUEST_PAGE > address && t->hashed[i].address < address + length)
            t->hashed[i].address = 0;
    for (unsigned i = 0; i < t->installed_count; i++) {
        struct installed *x = &t->installed[i];
        bool was_dropped = x->dropped;
        for (unsigned p = 0; p < x->page_count && !x->dropped; p++)
            x->dropped = x->pages[p] + GUEST_PAGE > address && x->pages[p] < address + length;
        t->dropped_count += x->dropped && !was_dropped;
        for (unsigned k = 0; k < x->entry_count && x->dropped && !was_dropped; k++) {
            struct slot *s = slot_at(t, x->entries[k]);
            if (s && s->state == SLOT_DONE)
                slot_empty(t, s);
        }
    }
}

bool translate_is_used_up(const struct translator *t)
{
    const unsigned installed = t->installed_before + t->installed_count;
    const unsigned dropped = t->dropped_before + t->dropped_count;
    return (t->code.is_full || t->lacks_slots) && installed >= RENEWED_MIN && dropped > installed / 2;
}

// ---- creation ----

bool translator_is_precise(const struct translator *t)
{
    return t && t->precise;
}

struct translator *translator_create(struct guest *g, bool precise, struct error *error)
{
    // (calloc would clear what has been in use already.)
    struct translator *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED || (uintptr_t)g >> 31) {
        error_set(error, "there is no room for translated code below 2 GiB");
        if (t != MAP_FAILED)
            munmap(t, sizeof *t);
        return NULL;
    }
    forks_watch();
    t->guest = g;
    t->precise = precise;
    t->checked = !g->config.device; // of the game's time, the checks take a third
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    t->low =
        mmap(NULL, sizeof *t->low, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    t->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT | MAP_NORESERVE, -1, 0);
    g->cpu.branch_counts = mmap(NULL, BRANCH_COUNTS_BYTES, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (t->low == MAP_FAILED || t->stack == MAP_FAILED || g->cpu.branch_counts == MAP_FAILED ||
        code_memory_create(&t->code, CODE_BYTES, NULL) != 0) {
        error_set(error, "the host denied memory for translated code: %s", strerror(errno));
        translator_destroy(t);
        return NULL;
    }
    mprotect(t->stack, GUEST_PAGE, PROT_NONE);
    slots_begin(t);
#define WAY_BACK(name) t->host_##name = make_trampoline(t, (void (*)(void))host_##name);
    GLUE_HOST(WAY_BACK)
#undef WAY_BACK
    g->cpu.stack_limit = (uint64_t)(uintptr_t)t->stack + STACK_RESERVE;
    t->dump = getenv("NEURODOOM_DUMP");
    t->ready_end = &t->ready;
    t->eager = g->config.prepare;
    if (!translate_install_glue(t)) {
        error_set(error, "the translator's glue is damaged");
        translator_destroy(t);
        return NULL;
    }
    return t;
}

// For tests/bench/hot-regions: where each region's code is.
static void list_regions(const struct translator *t)
{
    char path[600];
    snprintf(path, sizeof path, "%s/regions.txt", t->dump);
    FILE *f = fopen(path, "w");
    for (unsigned i = 0; f && i < t->installed_count; i++) {
        const struct installed *x = &t->installed[i];
        uint64_t offset;
        const char *symbol = t->guest->host->symbol(t->guest, x->entries[0], &offset);
        fprintf(f, "%x %x %08x %s+%llx\n", x->object.start - low_address(t->code.code), x->object.size,
                x->entries[0], symbol ? symbol : "?", (unsigned long long)offset);
    }
    if (f)
        fclose(f);
}

void end_threads(struct translator *t)
{
    if (forks_lost_threads())
        return;
    if (t->thread) {
        pthread_mutex_lock(&t->lock);
        t->quit = true;
        pthread_cond_broadcast(&t->wake);
        pthread_mutex_unlock(&t->lock);
        pthread_join(t->thread, NULL);
        for (unsigned i = 0; i < t->helper_count; i++)
            pthread_join(t->helpers[i], NULL);
        t->thread = 0;
        t->guest->told_unkept |= t->compiles_nothing;
    }
    take_ready(t, install_too_late);
}

void translator_destroy(struct translator *t)
{
    if (!t)
        return;
    translate_keep(t);
    end_threads(t);
    if (t->dump && !forks_count())
        list_regions(t);
    cache_file_abandon(t->cache);
    free(t->executed);
    free(t->branches);
    for (unsigned i = 0; i < t->installed_count; i++)
        free(t->installed[i].bytes);
    free(t->installed);
    code_memory_destroy(&t->code);
    if (t->low && t->low != MAP_FAILED)
        munmap(t->low, sizeof *t->low);
    if (t->stack && t->stack != MAP_FAILED)
        munmap(t->stack, STACK_BYTES);
    if (t->guest->cpu.branch_counts && t->guest->cpu.branch_counts != MAP_FAILED)
        munmap(t->guest->cpu.branch_counts, BRANCH_COUNTS_BYTES);
    t->guest->cpu.branch_counts = NULL;
    munmap(t, sizeof *t);
}

void translate_get_stats(struct translator *t, struct machine_stats *stats)
{
    stats->translated_regions = t->region_count;
    stats->cached_regions = t->cached_count;
    stats->compile_ns = atomic_load_explicit(&t->compile_ns, memory_order_relaxed);
}
