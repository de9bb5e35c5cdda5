target_sources(core PRIVATE engine/interp/interp.c)
# Handlers stay apart, each with its own indirect jump to predict; the two halves of the lazy flags stay in
# general registers.
set(INTERP_OPTIONS -fno-partial-inlining -fno-ipa-icf -fno-crossjumping -fno-gcse -fno-tree-slp-vectorize)
# Fused multiply-adds in hardware, where the machine that builds has them: a quarter of the time of a guest loop of them.
include(CheckCSourceRuns)
set(CMAKE_REQUIRED_FLAGS -mfma)
check_c_source_runs("int main(int c, char **v) { (void)v; return __builtin_fma(c, 2.0, 1.0) != 3.0; }" HOST_HAS_FMA)
unset(CMAKE_REQUIRED_FLAGS)
if(HOST_HAS_FMA)
  list(APPEND INTERP_OPTIONS -mfma)
endif()
set(CMAKE_REQUIRED_FLAGS "-maes -mpclmul -msse4.2")
check_c_source_runs("typedef long long v __attribute__((vector_size(16)));
int main(void) { v k = {0, 0}; return (__builtin_ia32_aesenclast128(k, k) + __builtin_ia32_pclmulqdq128(k, k, 0))[0]
  + __builtin_ia32_crc32qi(0, 0) == 0; }" HOST_HAS_CRYPTO)
unset(CMAKE_REQUIRED_FLAGS)
if(HOST_HAS_CRYPTO)
  list(APPEND INTERP_OPTIONS -maes -mpclmul -msse4.2)
endif()
set_source_files_properties(engine/interp/interp.c PROPERTIES COMPILE_OPTIONS "${INTERP_OPTIONS}")
set(SEQUENCES ${CMAKE_CURRENT_SOURCE_DIR}/engine/interp/sequences.def)
# With the sanitizers each sequence compiles for a third of a second: there every 25th will do.
if(SANITIZE)
  file(STRINGS ${SEQUENCES} SOME_SEQUENCES REGEX "^SEQUENCE.[0-9]*(00|25|50|75),")
  list(JOIN SOME_SEQUENCES "\n" SOME_SEQUENCES)
  set(SEQUENCES ${CMAKE_BINARY_DIR}/some_sequences.def)
  file(WRITE ${SEQUENCES} "${SOME_SEQUENCES}\n")
endif()
set_property(GLOBAL PROPERTY SEQUENCES ${SEQUENCES})
set_source_files_properties(engine/interp/interp.c PROPERTIES COMPILE_DEFINITIONS "SEQUENCES_DEF=\"${SEQUENCES}\"")
