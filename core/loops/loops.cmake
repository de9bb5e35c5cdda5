target_sources(core PRIVATE
  loops/optimizer.c
  loops/watch.c
  loops/expr/definition.c
  loops/expr/fold.c
  loops/expr/fold_compare.c
  loops/expr/shapes.c
  loops/expr/summarize.c
  loops/expr/summary_text.c
  loops/expr/symbols.c
  loops/kernels/batch.c
  loops/kernels/block.c
  loops/kernels/kernels_batch.c
  loops/kernels/kernels_lookup.c
  loops/kernels/kernels_stream.c
  loops/kernels/list.c
  loops/kernels/scan.c
  loops/kernels/sort.c
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
  loops/prove/classify.c
  loops/prove/fields.c
  loops/prove/forms.c
  loops/prove/guard.c
  loops/prove/poll.c
  loops/prove/prove.c
  loops/prove/short.c
  loops/prove/values.c
)
set_source_files_properties(loops/kernels/kernels_batch.c loops/kernels/kernels_stream.c PROPERTIES COMPILE_OPTIONS "-O3;-Wno-psabi")
# What the instructions mean to the loop summarizer: tables made from the same definitions.
if(NOT HAVE_LLVM)
  target_sources(core PRIVATE loops/expr/no_meaning.c)
  return()
endif()
set(MEANING ${CMAKE_BINARY_DIR}/meaning)
set(MEANING_DEFINITIONS ${CMAKE_CURRENT_SOURCE_DIR}/loops/expr/meaning_definitions.c)
add_custom_command(OUTPUT ${MEANING}.bc
  COMMAND ${CLANG} -I${CMAKE_SOURCE_DIR} -ffreestanding -O2 -fno-strict-aliasing -fno-stack-protector -fno-vectorize -fno-slp-vectorize
    -emit-llvm -MD -MF ${MEANING}.d -c ${MEANING_DEFINITIONS} -o ${MEANING}.bc
  DEPENDS ${MEANING_DEFINITIONS} DEPFILE ${MEANING}.d
  COMMENT "Instruction definitions for the loop summarizer")
add_executable(meaning_gen loops/expr/meaning_gen.c)
target_include_directories(meaning_gen PRIVATE ${LLVM_INCLUDE})
target_link_libraries(meaning_gen PRIVATE ${LLVM_LIBRARY})
add_custom_command(OUTPUT ${MEANING}.c
  COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:meaning_gen> ${MEANING}.bc ${MEANING}.c
  DEPENDS meaning_gen ${MEANING}.bc)
set_source_files_properties(${MEANING}.c PROPERTIES INCLUDE_DIRECTORIES ${CMAKE_CURRENT_SOURCE_DIR}/loops/expr)
target_sources(core PRIVATE ${MEANING}.c)
