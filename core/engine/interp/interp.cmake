target_sources(core PRIVATE engine/interp/interp.c)
# Handlers stay apart, each with its own indirect jump to predict; the two halves of the lazy flags stay in
# general registers.
set(INTERP_OPTIONS -fno-partial-inlining -fno-ipa-icf -fno-crossjumping -fno-gcse -fno-tree-slp-vectorize)
# In several files, so that each compiles in less than half a minute and half a gigabyte.
function(add_handlers name source)
  add_library(${name} OBJECT engine/interp/${source})
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE ${ARGN})
  target_compile_options(${name} PRIVATE ${INTERP_OPTIONS})
  target_sources(core PRIVATE $<TARGET_OBJECTS:${name}>)
endfunction()
foreach(level ${LEVELS})
  add_handlers(interp_vector_${level} interp_vector.c LEVEL=${level})
  target_compile_options(interp_vector_${level} PRIVATE ${LEVEL_${level}})
endforeach()
set(SEQUENCES ${CMAKE_CURRENT_SOURCE_DIR}/engine/interp/sequences.def)
# With the sanitizers each sequence compiles for a third of a second: there every 25th will do.
if(SANITIZE)
  file(STRINGS ${SEQUENCES} SOME_SEQUENCES REGEX "^SEQUENCE.[0-9]*(00|25|50|75),|^#")
  list(JOIN SOME_SEQUENCES "\n" SOME_SEQUENCES)
  set(SEQUENCES ${CMAKE_BINARY_DIR}/some_sequences.def)
  file(WRITE ${SEQUENCES} "${SOME_SEQUENCES}\n")
endif()
set_property(GLOBAL PROPERTY SEQUENCES ${SEQUENCES})
foreach(part 0 1 2)
  add_handlers(interp_sequences_${part} interp_sequences.c SEQUENCES_PART=${part} SEQUENCES_DEF="${SEQUENCES}")
endforeach()
set_source_files_properties(engine/interp/interp.c PROPERTIES
  COMPILE_OPTIONS "${INTERP_OPTIONS}" COMPILE_DEFINITIONS "SEQUENCES_DEF=\"${SEQUENCES}\"")
