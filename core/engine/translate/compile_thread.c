// SPDX-License-Identifier: MIT
// The compile thread: takes the hottest of what is asked for, finds its region, has LLVM compile it, and
// hands the object over. A program is prepared by several, one for each processor.
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/clock.h"
#include "translate_internal.h"
#include "translator_identity.h"

static bool read_page(void *user, uint32_t address, uint8_t *bytes)
{
    struct translator *t = ((void **)user)[0];
    uint8_t page = t->guest->memory.pages[address / GUEST_PAGE];
    struct iovec to = {bytes, GUEST_PAGE}, from = {t->guest->memory.base + address, GUEST_PAGE};
    return page & PROT_EXEC && process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)GUEST_PAGE;
}

static void hand_over(struct translator *t, struct compiled *c)
{
    pthread_mutex_lock(&t->lock);
    *t->ready_end = c;
    t->ready_end = &c->next;
    pthread_mutex_unlock(&t->lock);
    atomic_store_explicit(&t->has_ready, true, memory_order_release);
}

static bool is_taken_in(void *user, uint32_t pc)
{
    const struct translator *t = ((void **)user)[0];
    return t->assume_executed || was_executed(t, pc);
}

static struct branch_counts branch_counts(void *user, uint32_t pc)
{
    const struct translator *t = ((void **)user)[0];
    return branch_seen(t, pc);
}

enum { CALLEES = 1 << 16 }; // told apart

// How often each function is called in the program's code, by a part of its address (where two share it, that
// is both together), 255 at most. NULL without memory for it.
static uint8_t *count_calls(struct translator *t)
{
    uint8_t *counts = calloc(CALLEES, sizeof *counts), bytes[GUEST_PAGE];
    void *user[] = {t};
    for (uint64_t page = 0; counts && page < GUEST_SPACE; page += GUEST_PAGE) {
        if (!(t->guest->memory.pages[page / GUEST_PAGE] & PROT_EXEC) ||
            !read_page(user, (uint32_t)page, bytes))
            continue;
        for (uint32_t at = 0; at < GUEST_PAGE; at += 4) {
            uint32_t pc = (uint32_t)page + at, word;
            op o;
            memcpy(&word, bytes + at, sizeof word);
            if (!isa_resembles(word, INSN_bl) || isa_decode(word, pc, &o) != INSN_bl)
                continue;
            uint8_t *count = &counts[(pc / 4 + (uint32_t)o.disp) % CALLEES];
            if (*count < UINT8_MAX)
                ++*count;
        }
    }
    return counts;
}

// What the compile thread works with: LLVM, which is loaded when there is something to compile.
struct compiler {
    const struct jit_functions *functions;
    struct jit *jit;
    struct region *region; // room for one
    uint8_t *calls; // count_calls; NULL: not counted yet
};

static bool is_usable(void *user, unsigned insn)
{
    const struct compiler *compiler = ((void **)user)[1];
    return !compiler->jit || compiler->functions->usable(compiler->jit, insn);
}

static unsigned calls(void *user, uint32_t pc)
{
    struct compiler *compiler = ((void **)user)[1];
    if (!compiler->calls)
        compiler->calls = count_calls(((void **)user)[0]);
    return compiler->calls ? compiler->calls[pc / 4 % CALLEES] : UINT8_MAX;
}

static bool module_path(const struct translator *t, char *path, size_t size)
{
    const char *folder = t->guest->config.library_folder;
    if (folder)
        return snprintf(path, size, "%s/" JIT_MODULE, folder) < (int)size;
    ssize_t length = readlink("/proc/self/exe", path, size - sizeof JIT_MODULE);
    while (length > 0 && path[length - 1] != '/')
        length--;
    if (length <= 0)
        return false;
    strcpy(path + length, JIT_MODULE);
    return true;
}

static bool load_llvm(struct translator *t, struct compiler *compiler)
{
    char path[4096];
    struct error error;
    if (!module_path(t, path, sizeof path))
        return false;
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *identity = module ? dlsym(module, "jit_identity") : NULL;
    compiler->functions = module ? dlsym(module, "jit_functions") : NULL;
    if (!compiler->functions || !identity || strcmp(identity, TRANSLATOR_IDENTITY) != 0) {
        guest_log(t->guest,
                  "the translator cannot be loaded, the program is interpreted: %s; build or install "
                  "everything again",
                  compiler->functions ? JIT_MODULE " is of another build" : dlerror());
        return false;
    }
    compiler->jit = compiler->functions->create(level_of_host(), &error);
    if (!compiler->jit)
        guest_log(t->guest, "the translator does not start, the program is interpreted: %s", error.text);
    return compiler->jit;
}

// Has the region's loops examined.
static void find_loops(struct translator *t, struct region *r)
{
    uint32_t words[SUMMARY_BODY_MAX];
    r->verify = t->guest->verify;
    for (unsigned i = 0; i < r->block_count && r->loop_count < REGION_LOOPS_MAX; i++) {
        struct region_loop *x = &r->loops[r->loop_count];
        unsigned length = r->blocks[i].loop_header ? region_loop_code(r, i, x, words, SUMMARY_BODY_MAX) : 0;
        struct loop_proof proof;
        if (!length ||
            !loops_examine(t->guest->loops, r->blocks[i].pc, r->blocks[i].pc + length * 4 - 4, words, &proof))
            continue;
        x->guard = proof.guard;
        x->kernel = proof.prefers_kernel;
        x->polls = proof.polls;
        x->looks_up = proof.looks_up;
        x->lookup = proof.lookup;
        r->loop_count++;
    }
}

// What is going to be compiled need not be asked for.
static void begin_work(struct translator *t, const struct region *r)
{
    unsigned kept = 0, slot_count = t->slot_count;
    for (unsigned i = 0; i < slot_count; i++)
        if (region_enters_at(r, t->slots[i].pc))
            t->slots[i].in_work = true;
    if (t->at_leisure)
        rest_cover(t, r);
    pthread_mutex_lock(&t->lock);
    for (unsigned i = 0; i < t->queued; i++) {
        if (!t->queue[i]->in_work)
            t->queue[kept++] = t->queue[i];
    }
    t->queued = kept;
    pthread_mutex_unlock(&t->lock);
}

// Compiles the region, whose entries are given.
static enum jit_result compile(struct translator *t, struct compiler *compiler,
                               const struct region_source *source, struct region *r,
                               struct jit_object *object)
{
    const uint64_t start = clock_thread_ns();
    enum jit_result result = compiler->jit || load_llvm(t, compiler) ? JIT_AGAIN : JIT_FAILED;
    while (result == JIT_AGAIN) {
        uint32_t entries[REGION_ENTRIES_MAX];
        memcpy(entries, r->entries, sizeof entries);
        result = JIT_FAILED;
        if (!region_find(r, entries, r->entry_count, source))
            break;
        r->precise = t->precise;
        r->checked = t->checked;
        if (t->guest->loops)
            find_loops(t, r);
        result = compiler->functions->compile(compiler->jit, r, t->dump, object);
    }
    atomic_fetch_add_explicit(&t->compile_ns, clock_thread_ns() - start, memory_order_relaxed);
    return result;
}

// Packs what has been compiled; gives up where that cannot be.
static void pack(struct translator *t, struct compiled *c)
{
    size_t size;
    unsigned char *packed =
        object_pack(c->object.bytes, c->object.size, object_names_read, (void *)t->glue, &size);
    free(c->object.bytes);
    c->object = (struct jit_object){packed, packed ? size : 0};
    c->failed = !packed;
}

// What installing asks of the region, which is large, and serves the next request.
static void describe(struct compiled *c, const struct region *r)
{
    c->tried = true;
    c->entry_count = r->entry_count;
    c->page_count = r->page_count;
    c->left_out_count = r->left_out_count;
    memcpy(c->entries, r->entries, sizeof c->entries);
    memcpy(c->left_out, r->left_out, sizeof c->left_out);
    for (unsigned i = 0; i < r->page_count; i++)
        c->pages[i] = (struct cached_page){.address = r->pages[i].address,
                                           .hash = XXH3_64bits(r->pages[i].bytes, GUEST_PAGE)};
}

// Answers a request. False if nothing can be compiled at all.
static bool serve(struct translator *t, struct compiler *compiler, const struct slot *s)
{
    void *user[2] = {t, compiler};
    struct region_source source = {user, read_page, is_taken_in, is_usable, calls, branch_counts};
    struct compiled *c = calloc(1, sizeof *c);
    if (!compiler->region)
        compiler->region = malloc(sizeof *compiler->region);
    struct region *r = compiler->region;
    if (!c || !r) {
        free(c);
        return false;
    }
    c->asked = s->pc;
    c->failed = !choose_region(t, s, &source, r);
    if (!c->failed && !choose_now(t, s, r, compiler->jit, &c->wanted)) {
        hand_over(t, c);
        return true;
    }
    begin_work(t, r);
    bool tries = !c->failed;
    c->failed = !tries || compile(t, compiler, &source, r, &c->object) != JIT_DONE;
    if (!c->failed)
        pack(t, c);
    describe(c, r);
    hand_over(t, c);
    return !tries || compiler->jit;
}

// Takes the hottest; if all is compiled, the first.
static const struct slot *take_request(struct translator *t)
{
    unsigned hottest = 0, most = 0;
    for (unsigned i = 0; i < t->queued && !t->eager; i++) {
        unsigned heat = atomic_load_explicit(&t->queue[i]->heat, memory_order_relaxed);
        if (heat > most) {
            most = heat;
            hottest = i;
        }
    }
    const struct slot *s = t->queue[hottest];
    t->queued--;
    memmove(&t->queue[hottest], &t->queue[hottest + 1], (t->queued - hottest) * sizeof t->queue[0]);
    return s;
}

static void *helper_thread(void *translator);

// What is prepared has nothing else to wait for.
static void start_helpers(struct translator *t)
{
    cpu_set_t cpus;
    if (!t->guest->config.prepare || sched_getaffinity(0, sizeof cpus, &cpus) != 0)
        return;
    const unsigned count = (unsigned)CPU_COUNT(&cpus) - 1;
    while (t->helper_count < count && t->helper_count < HELPERS_MAX &&
           pthread_create(&t->helpers[t->helper_count], NULL, helper_thread, t) == 0)
        t->helper_count++;
}

static void serve_all(struct translator *t, bool helps)
{
    struct compiler compiler = {0};
    bool works = true;
    guest_refuse_signals();
    pthread_mutex_lock(&t->lock);
    bool to_the_end = t->guest->config.prepare || t->at_leisure;
    while (works && !(t->quit && (!to_the_end || !t->queued)) &&
           !(t->at_leisure && t->compile_ns > LEISURE_NS)) {
        if (!t->queued || t->gathers) {
            pthread_cond_wait(&t->wake, &t->lock);
            continue;
        }
        const struct slot *s = take_request(t);
        const bool was_loaded = compiler.jit;
        pthread_mutex_unlock(&t->lock);
        works = serve(t, &compiler, s);
        if (!helps && compiler.jit && !was_loaded)
            start_helpers(t);
        pthread_mutex_lock(&t->lock);
    }
    t->compiles_nothing |= !works;
    pthread_mutex_unlock(&t->lock);
    free(compiler.region);
    free(compiler.calls);
    if (compiler.jit)
        compiler.functions->destroy(compiler.jit);
}

void *compile_thread(void *translator)
{
    serve_all(translator, false);
    return NULL;
}

static void *helper_thread(void *translator)
{
    serve_all(translator, true);
    return NULL;
}
