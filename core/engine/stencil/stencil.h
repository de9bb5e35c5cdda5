// SPDX-License-Identifier: MIT
// Machine code of single instructions to be copied, and what has to be filled in.
#ifndef CORE_ENGINE_STENCIL_STENCIL_H
#define CORE_ENGINE_STENCIL_STENCIL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/engine/level.h"

// Variants of an instruction besides 0, the general one. Conditional branches have 1 to 4 for flags of the
// kinds FLAGS_SUB to FLAGS_ADD32. Direct jumps have 0 forward, 1 backward. Others:
// clang-format off
// 1 for a result that goes nowhere:
#define STENCILS_COMPARING(X)                                                                                \
    X(subs_x_imm) X(subs_w_imm) X(subs_x) X(subs_w) X(adds_x_imm) X(adds_w_imm)                              \
    X(ands_x_imm) X(ands_w_imm) X(ands_x) X(ands_w)
// 1 for an index that is added as it is, 2 for one that is shifted; with the number of bits:
#define STENCILS_INDEXED(X)                                                                                  \
    X(strb, 0) X(ldrb, 0) X(ldrsb_x, 0) X(ldrsb_w, 0) X(strh, 1) X(ldrh, 1) X(ldrsh_x, 1) X(ldrsh_w, 1)      \
    X(str_w, 2) X(ldr_w, 2) X(ldrsw, 2) X(str_x, 3) X(ldr_x, 3)
// 1 for an address near one that has been accessed:
#define STENCILS_SINGLE(X)                                                                                   \
    X(strb) X(ldrb) X(ldrsb_x) X(ldrsb_w) X(strh) X(ldrh) X(ldrsh_x) X(ldrsh_w)                              \
    X(str_w) X(ldr_w) X(ldrsw) X(str_x) X(ldr_x)                                                             \
    X(str_s) X(ldr_s) X(str_d) X(ldr_d) X(str_q) X(ldr_q)
#define STENCILS_PAIR(X)                                                                                     \
    X(stp_w) X(ldp_w) X(ldpsw) X(stp_x) X(ldp_x) X(stp_d) X(ldp_d) X(stp_q) X(ldp_q)
// 1 where something is shifted, 2 where that is one register, rotated:
#define STENCILS_EXTRACTING(X) X(extr_x) X(extr_w)
// 1 + the type of shift, or the kind of extension:
#define STENCILS_SHIFTED(X)                                                                                  \
    X(add_x_shift) X(add_w_shift) X(sub_x_shift) X(sub_w_shift)                                              \
    X(adds_x_shift) X(adds_w_shift) X(subs_x_shift) X(subs_w_shift)                                          \
    X(and_x_shift) X(and_w_shift) X(bic_x_shift) X(bic_w_shift)                                              \
    X(orr_x_shift) X(orr_w_shift) X(orn_x_shift) X(orn_w_shift)                                              \
    X(eor_x_shift) X(eor_w_shift) X(eon_x_shift) X(eon_w_shift)                                              \
    X(ands_x_shift) X(ands_w_shift) X(bics_x_shift) X(bics_w_shift)
#define STENCILS_EXTENDED(X)                                                                                 \
    X(add_x_ext) X(add_w_ext) X(sub_x_ext) X(sub_w_ext)                                                      \
    X(adds_x_ext) X(adds_w_ext) X(subs_x_ext) X(subs_w_ext)
// 1 + 14 x the kind of flags, 4 for any, + the condition:
#define STENCILS_SELECTING(X)                                                                                \
    X(csel_x) X(csel_w) X(csinc_x) X(csinc_w) X(csinv_x) X(csinv_w) X(csneg_x) X(csneg_w)                    \
    X(ccmp_x) X(ccmp_w) X(ccmp_x_imm) X(ccmp_w_imm) X(fcsel_s) X(fcsel_d)
// Of vectors 1 + Q + 2 x the size of elements, 0 to 3, of those of numbers 0 and 1:
#define STENCILS_SIZED(X)                                                                                    \
    X(shadd_v) X(uhadd_v) X(srhadd_v) X(urhadd_v) X(shsub_v) X(uhsub_v) X(sqadd_v) X(uqadd_v) X(sqsub_v)     \
    X(uqsub_v) X(add_v) X(sub_v) X(addp_v) X(mul_v) X(mla_v) X(mls_v) X(sqdmulh_v) X(sqrdmulh_v)             \
    X(cmgt_v) X(cmhi_v) X(cmge_v) X(cmhs_v) X(cmtst_v) X(cmeq_v) X(sshl_v) X(ushl_v)                         \
    X(smax_v) X(umax_v) X(smin_v) X(umin_v) X(smaxp_v) X(umaxp_v) X(sminp_v) X(uminp_v)                      \
    X(sabd_v) X(uabd_v) X(saba_v) X(uaba_v) X(saddl_v) X(uaddl_v) X(saddw_v) X(uaddw_v)                      \
    X(ssubl_v) X(usubl_v) X(ssubw_v) X(usubw_v) X(addhn_v) X(raddhn_v) X(subhn_v) X(rsubhn_v)                \
    X(sabal_v) X(uabal_v) X(sabdl_v) X(uabdl_v) X(smlal_v) X(umlal_v) X(smlsl_v) X(umlsl_v)                  \
    X(smull_v) X(umull_v) X(rev64_v) X(rev32_v) X(saddlp_v) X(uaddlp_v) X(sadalp_v) X(uadalp_v)              \
    X(cmgt_vz) X(cmeq_vz) X(cmlt_vz) X(cmge_vz) X(cmle_vz) X(abs_v) X(neg_v) X(clz_v)                        \
    X(xtn_v) X(sqxtn_v) X(uqxtn_v) X(sqxtun_v) X(shll_v) X(saddlv_v) X(uaddlv_v) X(addv_v)                   \
    X(smaxv_v) X(umaxv_v) X(sminv_v) X(uminv_v) X(dup_ve) X(dup_v) X(dup_vse) X(ins_v) X(ins_ve)             \
    X(umov) X(smov_w) X(smov_x) X(uzp1_v) X(uzp2_v) X(trn1_v) X(trn2_v) X(zip1_v) X(zip2_v)                  \
    X(sshr_vi) X(ushr_vi) X(srshr_vi) X(urshr_vi) X(ssra_vi) X(usra_vi) X(srsra_vi) X(ursra_vi)              \
    X(sri_vi) X(sli_vi) X(shl_vi) X(shrn_vi) X(rshrn_vi) X(sqshrn_vi) X(uqshrn_vi) X(sqshrun_vi)             \
    X(sqrshrn_vi) X(uqrshrn_vi) X(sqrshrun_vi) X(sshll_vi) X(ushll_vi) X(mul_ve) X(mla_ve) X(mls_ve)         \
    X(smull_ve) X(umull_ve) X(smlal_ve) X(umlal_ve) X(smlsl_ve) X(umlsl_ve) X(sqdmulh_ve) X(sqrdmulh_ve)
#define STENCILS_OF_NUMBERS(X)                                                                               \
    X(fadd_v) X(fsub_v) X(fmul_v) X(fdiv_v) X(fabd_v) X(faddp_v) X(fabs_v) X(fneg_v)                         \
    X(fcmgt_v) X(fcmge_v) X(fcmeq_v) X(fcmgt_vz) X(fcmlt_vz)
// Likewise, of bytes only: 1 + Q.
#define STENCILS_OF_BYTES(X)                                                                                 \
    X(and_v) X(bic_v) X(orr_v) X(orn_v) X(eor_v) X(bsl_v) X(bit_v) X(bif_v) X(not_v) X(ext_v) X(rev16_v)
// clang-format on
enum { STENCIL_CONDITIONS = 14, STENCIL_FLAGS_KINDS = 4 };

// Each variant has up to eight forms, by which of its registers is at hand: of Xn, Xm and Xd one where that
// is so first, and behind it one where it is second. (Forms for two registers made nothing faster: SPEED.md.)
// FORM_WIDE is for an immediate that does not fit into a hole, or where none is looked at.
enum stencil_form { FORM_PLAIN, FORM_N = 1, FORM_M = 3, FORM_D = 5, FORM_WIDE = 7, FORM_COUNT };
// 1 where the register is at hand first, 2 second, 0 neither.
#define FORM_HAS(form, of) ((form) == (of) ? 1 : (form) == (of) + 1 ? 2 : 0)

// What goes into a hole, a signed displacement of 32 bits.
// clang-format off
#define HOLES(X)                                                                                             \
    X(xd) X(xn) X(xm) X(xa) /* of a general register, in cpu.x */                                            \
    X(vd) X(vn) X(vm) X(va) /* of a vector register, in cpu.v */                                             \
    X(imm) /* op.imm */                                                                                      \
    X(op) /* of the instruction's op, from the block's first one */                                          \
    X(target) /* of that which its branch goes to, likewise */                                               \
    X(bias) /* what that adds to cpu.retired_bias */                                                         \
    X(counts) /* in cpu.branch_counts */                                                                     \
    X(pc) /* of the instruction */                                                                           \
    X(offset) /* op.handler for the interpreter's handler of it */                                           \
    X(self) /* op.handler for the block */                                                                   \
    X(start) /* of the code of the block's first instruction, from where the hole is */                      \
    X(exit) /* of the door of what comes next, likewise */                                                   \
    X(dispatch) /* of what looks for it, likewise */                                                         \
    X(aside) /* of what is aside of the instruction, likewise */                                             \
    X(handler) /* of the interpreter's handler of it, likewise */                                            \
    X(constant) /* of stencils.constants, likewise */
// clang-format on
#define HOLE_CONSTANT(name) HOLE_##name,
enum hole_kind { HOLES(HOLE_CONSTANT) HOLE_host }; // HOLE_host and up: of one of stencils.hosts, likewise
#undef HOLE_CONSTANT

// What stencils find in registers of the host's, and leave there. These are registers that functions of C
// preserve, and interp_enter sets them: so handlers that are compiled leave them alone, too.
struct pinned {
    const char *code; // what op.handler counts from
    uint64_t beyond; // the bits of an address that are beyond 4 GiB
    char *counts; // cpu.branch_counts
    uint8_t *memory; // cpu.memory
};
#define STENCIL_BEYOND (~(uint64_t)UINT32_MAX)
// The four of them; two of the three that a handler is called with; and what is at hand between two stencils,
// two registers of the guest's and, while the kind of the flags is known, these: a value on its way through
// memory takes some cycles. Nothing is in rcx, which x86-64 shifts and rotates by.
#define STENCIL_CALL __attribute__((preserve_none)) // in r12 to r15, rdi, rsi, rdx, rcx, r8, r9, r11
#define STENCIL_PARAMETERS                                                                                   \
    const char *code, uint64_t beyond, char *counts, uint8_t *memory, cpu *c, op *block, uint64_t first,     \
        uint64_t nothing, uint64_t second, uint64_t flag_a, uint64_t flag_b
#define STENCIL_FUNCTION(name) typedef STENCIL_CALL op *name(STENCIL_PARAMETERS)

struct hole {
    uint16_t at; // in the stencil
    uint16_t kind; // enum hole_kind
    int32_t addend;
};

struct stencil {
    uint32_t code, holes; // where they begin in the tables
    uint16_t size;
    uint8_t hole_count;
    bool has_aside; // one of them is of that kind
};

// All of a level; stencil_gen.c makes it.
struct stencils {
    const uint8_t *code, *constants;
    const struct hole *holes;
    const struct stencil *all; // but for all[0], which is none
    const uint16_t *numbers; // in all, of each variant's FORM_COUNT forms; 0: there is none
    const uint16_t *first; // in numbers, by enum insn: of variant 0; 0: the instruction has no stencil
    const void *const *hosts; // functions of ours
    // In all: those that are of no instruction.
    uint16_t end, not_taken, call, leave, dispatch, door, keep, taken[3];
};

#define STENCILS_OF(level) extern const struct stencils stencils_##level;
LEVELS(STENCILS_OF)
#undef STENCILS_OF

#endif
