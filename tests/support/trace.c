/* The address of a memory operand is base + index * scale + a constant. The constant belongs to the
 * instruction, so the rest is compared. Decoding needs the prefixes, the opcode's map, whether a ModRM
 * byte follows, and that byte (Intel's manual, volume 2, chapter 2 and appendix A). */

#define _GNU_SOURCE

#include "tests/support/trace.h"

#include "base/status.h"

#include "base/check.h"

#include <fenv.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <xmmintrin.h>

enum { SUBNORMAL_SEEN = 2, SUBNORMAL_MADE = 16, FLAGS = 63 }; /* of the MXCSR */

static struct trace *running;

static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                              REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                              REG_R12, REG_R13, REG_R14, REG_R15};

struct instruction {
    const uint8_t *modrm;
    unsigned map; /* 0, or 1 after 0F, or 2, 3 after 0F 38, 0F 3A */
    uint8_t opcode;
    unsigned x, b; /* the fourth bits of index and base */
};

static bool is_prefix(uint8_t byte)
{
    static const uint8_t prefix[] = {0x66, 0xf2, 0xf3, 0x2e, 0x36, 0x3e,
                                     0x26, 0x64, 0x65, 0x67, 0xf0};
    return memchr(prefix, byte, sizeof prefix) != NULL;
}

static struct instruction decode(const uint8_t *p)
{
    struct instruction out = {0};
    while (is_prefix(*p)) {
        p++;
    }
    if (*p == 0xc5) { /* VEX, short */
        out.map = 1;
        p += 2;
    } else if (*p == 0xc4 || *p == 0x62) { /* VEX, EVEX */
        out.x = (p[1] & 0x40) == 0;
        out.b = (p[1] & 0x20) == 0;
        out.map = p[1] & 7;
        p += *p == 0xc4 ? 3 : 4;
    } else {
        if ((*p & 0xf0) == 0x40) { /* REX */
            out.x = (*p & 2) != 0;
            out.b = *p & 1;
            p++;
        }
        if (*p == 0x0f) {
            out.map = p[1] == 0x38 ? 2 : p[1] == 0x3a ? 3 : 1;
            p += out.map == 1 ? 1 : 2;
        }
    }
    out.opcode = *p;
    out.modrm = p + 1;
    return out;
}

/* Instructions that compute an address, or hint at one, read nothing. */
static bool has_operand(const struct instruction *in)
{
    const uint8_t op = in->opcode;
    if (in->map > 1) {
        return true;
    }
    if (in->map == 1) {
        return !((op >= 0x05 && op <= 0x0b) || (op >= 0x18 && op <= 0x1f) ||
                 (op >= 0x30 && op <= 0x37) || op == 0x77 || (op >= 0x80 && op <= 0x8f) ||
                 (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) || op >= 0xc8);
    }
    return (op < 0x40 && (op & 4) == 0) || op == 0x63 || op == 0x69 || op == 0x6b ||
           (op >= 0x80 && op <= 0x8f && op != 0x8d) || op == 0xc0 || op == 0xc1 || op == 0xc6 ||
           op == 0xc7 || (op >= 0xd0 && op <= 0xd3) || (op >= 0xd8 && op <= 0xdf) || op == 0xf6 ||
           op == 0xf7 || op >= 0xfe;
}

static uint64_t value_of(const greg_t *registers, unsigned number)
{
    return (uint64_t)registers[order[number]];
}

/* base + index * scale; 0 where both operands are registers. */
static uint64_t address_of(const struct instruction *in, const greg_t *registers)
{
    const unsigned mode = *in->modrm >> 6;
    const unsigned rm = *in->modrm & 7;
    uint64_t address = 0;
    if (mode == 3 || (mode == 0 && rm == 5)) {
        return 0;
    }
    if (rm != 4) {
        return value_of(registers, rm | in->b << 3);
    }
    const unsigned sib = in->modrm[1];
    const unsigned base = sib & 7;
    const unsigned index = (sib >> 3 & 7) | in->x << 3;
    if (!(base == 5 && mode == 0)) {
        address = value_of(registers, base | in->b << 3);
    }
    return index == 4 ? address : address + (value_of(registers, index) << (sib >> 6));
}

static bool is_string(const struct instruction *in)
{
    return in->map == 0 && ((in->opcode >= 0xa4 && in->opcode <= 0xa7) ||
                            (in->opcode >= 0xaa && in->opcode <= 0xaf));
}

static bool is_division(const struct instruction *in)
{
    return in->map == 0 && (in->opcode | 1) == 0xf7 && (*in->modrm >> 3 & 7) >= 6;
}

/* What of a step must not depend on data, beside the instruction. */
static uint64_t operands_of(const greg_t *registers)
{
    const uint64_t many = UINT64_C(0x9e3779b97f4a7c15);
    const struct instruction in = decode((const uint8_t *)registers[REG_RIP]);
    uint64_t out = 0;
    if (is_string(&in)) {
        return (value_of(registers, 7) * many + value_of(registers, 6)) * many +
               value_of(registers, 1);
    }
    if (is_division(&in)) {
        out = (value_of(registers, 0) * many + value_of(registers, 2)) * many;
        out += *in.modrm >> 6 == 3 ? value_of(registers, (*in.modrm & 7) | in.b << 3) : 0;
    }
    return has_operand(&in) ? out * many + address_of(&in, registers) : out;
}

static void on_step(UNUSED int signal, UNUSED siginfo_t *info, void *context)
{
    const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct trace *trace = running;
    const uint64_t where = (uint64_t)registers[REG_RIP];
    const uint64_t what = operands_of(registers) * 31 + (uint64_t)registers[REG_RSP];
    uint64_t *step = trace->step + 2 * trace->at;
    CHECK(trace->at < trace->most);
    if (!trace->compares) {
        step[0] = where;
        step[1] = what;
    } else if (!trace->differs &&
               (trace->at >= trace->count || step[0] != where || step[1] != what)) {
        trace->differs = true;
        trace->differs_at = trace->at;
        trace->differs_where = trace->at < trace->count ? step[0] : where;
    }
    trace->at++;
}

/* Past the red zone, so that no local is overwritten. */
#define SET_TRAP_FLAG(how)                                                                         \
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\t" how                                   \
                     ", (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp" ::                             \
                         : "cc", "memory")

void trace_init(struct trace *trace, size_t most)
{
    *trace = (struct trace){.most = most, .step = calloc(2 * most, sizeof *trace->step)};
    CHECK(trace->step != NULL);
}

void trace_free(struct trace *trace)
{
    free(trace->step);
    *trace = (struct trace){0};
}

void trace_forget(struct trace *trace)
{
    trace->compares = false;
    trace->differs = false;
}

void trace_pause(void)
{
    if (running != NULL) {
        SET_TRAP_FLAG("andq $-0x101");
    }
}

void trace_resume(void)
{
    if (running != NULL) {
        SET_TRAP_FLAG("orq $0x100");
    }
}

bool trace_run(struct trace *trace, void (*run)(void *), void *argument)
{
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    CHECK(running == NULL && sigaction(SIGTRAP, &action, &before) == 0);
    running = trace;
    trace->at = 0;
    trace->differs = false;
    _mm_setcsr(_mm_getcsr() & ~(unsigned)FLAGS);
    SET_TRAP_FLAG("orq $0x100");
    run(argument);
    SET_TRAP_FLAG("andq $-0x101");
    trace->is_subnormal = (_mm_getcsr() & (SUBNORMAL_SEEN | SUBNORMAL_MADE)) != 0;
    running = NULL;
    CHECK(sigaction(SIGTRAP, &before, NULL) == 0);
    if (!trace->compares) {
        trace->count = trace->at;
        trace->compares = true;
    } else if (!trace->differs && trace->at != trace->count) {
        trace->differs = true;
        trace->differs_at = trace->at;
    }
    return !trace->differs;
}
