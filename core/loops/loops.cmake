target_sources(core PRIVATE
  loops/explain.c
  loops/explain_words.c
  loops/optimizer.c
  loops/optimizer_list.c
  loops/trace.c
  loops/watch.c
  loops/expr/definition.c
  loops/expr/fold.c
  loops/expr/fold_compare.c
  loops/expr/shapes.c
  loops/expr/summary.c
  loops/expr/summary_text.c
  loops/expr/symbols.c
  loops/guard/guard.c
  loops/guard/guard_registers.c
  loops/guard/guard_text.c
  loops/kernels/batch.c
  loops/kernels/block.c
  loops/kernels/kernel.c
  loops/kernels/list.c
  loops/kernels/lookup.c
  loops/kernels/scan.c
  loops/kernels/sort.c
  loops/kernels/stream.c
  loops/propose/iteration_predictor.c
  loops/propose/loop_code.c
  loops/propose/loop_decode.c
  loops/propose/loop_detector.c
  loops/propose/loop_features.c
  loops/propose/loop_nets.c
  loops/propose/loop_view.c
  loops/propose/online_log.c
  loops/propose/pattern_recognizer.c
  loops/propose/proposals.c
  loops/prove/fast_plan.c
  loops/prove/match.c
  loops/prove/match_block.c
  loops/prove/match_class.c
  loops/prove/match_list.c
  loops/prove/match_lookup.c
  loops/prove/match_poll.c
  loops/prove/match_scan.c
  loops/prove/match_sort.c
  loops/prove/match_streams.c
  loops/prove/plan.c
  loops/prove/prove.c
  loops/prove/reduction.c
  loops/prove/values.c
  loops/prove/values_fields.c
  loops/prove/widen.c
)
set_source_files_properties(loops/kernels/batch.c loops/kernels/stream.c PROPERTIES COMPILE_OPTIONS "-O3;-Wno-psabi")
# What the instructions mean to the loop summarizer: tables made from the same definitions.
if(NOT HAVE_LLVM)
  target_sources(core PRIVATE loops/expr/semantics_none.c)
  return()
endif()
set(SEMANTICS ${CMAKE_BINARY_DIR}/semantics)
set(SEMANTICS_DEFINITIONS ${CMAKE_CURRENT_SOURCE_DIR}/loops/expr/semantics_definitions.c)
add_custom_command(OUTPUT ${SEMANTICS}.bc
  COMMAND ${CLANG} -I${CMAKE_SOURCE_DIR} -ffreestanding -O2 -fno-strict-aliasing -fno-stack-protector -fno-vectorize -fno-slp-vectorize
    -emit-llvm -MD -MF ${SEMANTICS}.d -c ${SEMANTICS_DEFINITIONS} -o ${SEMANTICS}.bc
  DEPENDS ${SEMANTICS_DEFINITIONS} DEPFILE ${SEMANTICS}.d
  COMMENT "Instruction definitions for the loop summarizer")
add_executable(semantics_gen loops/expr/semantics_gen.c)
target_include_directories(semantics_gen PRIVATE ${LLVM_INCLUDE})
target_link_libraries(semantics_gen PRIVATE ${LLVM_LIBRARY})
add_custom_command(OUTPUT ${SEMANTICS}.c
  COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:semantics_gen> ${SEMANTICS}.bc ${SEMANTICS}.c
  DEPENDS semantics_gen ${SEMANTICS}.bc)
set_source_files_properties(${SEMANTICS}.c PROPERTIES INCLUDE_DIRECTORIES ${CMAKE_CURRENT_SOURCE_DIR}/loops/expr)
target_sources(core PRIVATE ${SEMANTICS}.c)
