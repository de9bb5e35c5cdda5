// SPDX-License-Identifier: MIT
// Runs the cases of cases/*.txt in the guest, without a C library, and prints those that differ from what
// they say.
#include <stdbool.h>
#include <stdint.h>

struct state {
    uint64_t x[31], sp, nzcv, fpcr, fpsr, unused;
    uint64_t v[32][2];
};

enum { DATA_SIZE = 256 };

// As assemble_cases.awk lays them out; the last one has no text.
struct test {
    const char *text;
    void (*code)(void);
    uint64_t signal; // that ends the case, or 0
    uint64_t unused;
    struct state before;
    uint8_t data_before[DATA_SIZE];
    struct state after;
    uint8_t data_after[DATA_SIZE];
};

extern const struct test tests[];
extern uint8_t data[], wall[];
void run_case(void (*code)(void));
void store_vectors(void);

const struct state *before;
struct state after;
static uint64_t signal_raised;

// ---- Linux ----

static long system_call(long number, long a, long b, long c, long d)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}

enum { SYS_WRITE = 64, SYS_EXIT = 93, SYS_RT_SIGACTION = 134, SYS_RT_SIGRETURN = 139, SYS_MPROTECT = 226 };

static void print(const char *text)
{
    long length = 0;
    while (text[length])
        length++;
    system_call(SYS_WRITE, 1, (long)text, length, 0);
}

static void print_hex(uint64_t value)
{
    char text[19] = "0x";
    unsigned digits = 1;
    while (digits < 16 && value >> (digits * 4))
        digits++;
    for (unsigned i = 0; i < digits; i++)
        text[2 + i] = "0123456789abcdef"[value >> ((digits - 1 - i) * 4) & 15];
    print(text);
}

static void print_decimal(unsigned value)
{
    char text[11] = {0};
    unsigned at = 10;
    do
        text[--at] = (char)('0' + value % 10);
    while (value /= 10);
    print(text + at);
}

// ---- signals: the registers of the context are the case's result ----

struct context {
    uint64_t head[22]; // flags, link, stack, signal mask
    uint64_t fault_address, x[31], sp, pc, pstate;
};

static void on_signal(int number, void *info, struct context *context)
{
    (void)info;
    signal_raised = (uint64_t)number;
    for (unsigned i = 0; i < 31; i++)
        after.x[i] = context->x[i];
    after.sp = context->sp;
    after.nzcv = context->pstate & 0xf0000000;
    after.fpcr = before->fpcr;
    after.fpsr = before->fpsr;
    store_vectors(); // and returns from run_case
}

static void catch_signals(void)
{
    static const int numbers[] = {4, 5, 7, 11}; // SIGILL, SIGTRAP, SIGBUS, SIGSEGV
    static uint64_t action[4] = {0, 4 | 0x40000000, 0, 0}; // SA_SIGINFO, SA_NODEFER
    action[0] = (uint64_t)on_signal;
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        system_call(SYS_RT_SIGACTION, numbers[i], (long)action, 0, 8);
}

// ---- comparison ----

static unsigned differences;

static void differs(const struct test *test, const char *kind, unsigned index, uint64_t is, uint64_t should)
{
    differences++;
    if (differences > 8)
        return;
    if (differences == 1) {
        print("not ok cases ");
        print(test->text);
        print(": ");
    } else {
        print(", ");
    }
    print(kind);
    print_decimal(index);
    print(" is ");
    print_hex(is);
    print(", not ");
    print_hex(should);
}

static void compare(const struct test *test)
{
    static const char *const special[] = {"sp+", "nzcv+", "fpcr+", "fpsr+"};
    const struct state *expected = &test->after;
    differences = 0;
    if (signal_raised != test->signal)
        differs(test, "signal+", 0, signal_raised, test->signal);
    for (unsigned i = 0; i < 31; i++)
        if (after.x[i] != expected->x[i])
            differs(test, "x", i, after.x[i], expected->x[i]);
    const uint64_t *is = &after.sp, *should = &expected->sp;
    for (unsigned i = 0; i < 4; i++)
        if (is[i] != should[i])
            differs(test, special[i], 0, is[i], should[i]);
    for (unsigned i = 0; i < 64; i++)
        if (after.v[i / 2][i % 2] != expected->v[i / 2][i % 2])
            differs(test, i % 2 ? "high half of v" : "low half of v", i / 2, after.v[i / 2][i % 2],
                    expected->v[i / 2][i % 2]);
    for (unsigned i = 0; i < DATA_SIZE; i++)
        if (data[i] != test->data_after[i])
            differs(test, "data+", i, data[i], test->data_after[i]);
    if (differences)
        print("\n");
}

_Noreturn void run_cases(void)
{
    unsigned count = 0, failed = 0;
    catch_signals();
    system_call(SYS_MPROTECT, (long)wall, 4096, 0, 0);
    for (const struct test *test = tests; test->text; test++, count++) {
        before = &test->before;
        for (unsigned i = 0; i < DATA_SIZE; i++)
            data[i] = test->data_before[i];
        signal_raised = 0;
        run_case(test->code);
        compare(test);
        failed += differences != 0;
    }
    print_decimal(count);
    print(" cases, ");
    print_decimal(failed);
    print(" failed\n");
    for (;;)
        system_call(SYS_EXIT, failed != 0, 0, 0, 0);
}
