if(NOT HAVE_LLVM OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" OR SANITIZE)
  message(STATUS "No LLVM 19 with clang-19, or a sanitizer build: everything is interpreted")
  return()
endif()
enable_language(ASM)
set(TRANSLATE ${CMAKE_CURRENT_SOURCE_DIR}/engine/translate)
foreach(level ${LEVELS})
  set(BITCODE ${CMAKE_BINARY_DIR}/translate.${level}.bc)
  add_custom_command(OUTPUT ${BITCODE}
    # Loops over an instruction's registers are unrolled: copied code knows each register by its number.
    # Without vzeroupper: LLVM puts one even behind what restores all registers of a function that preserves them.
    COMMAND ${CLANG} -I${CMAKE_SOURCE_DIR} -mx32 ${LEVEL_${level}} -mno-vzeroupper -ffreestanding -O2 -ffp-contract=off -fno-math-errno
      -fno-strict-aliasing -fno-stack-protector -fno-vectorize -fno-slp-vectorize -mllvm -unroll-threshold=1000 -emit-llvm
      -MD -MF ${BITCODE}.d -iquote ${TRANSLATE} -x c -c - -o ${BITCODE} < ${TRANSLATE}/bitcode.c # else its path would be in there
    DEPENDS ${TRANSLATE}/bitcode.c DEPFILE ${BITCODE}.d
    COMMENT "Instruction definitions as bitcode: ${level}")
  list(APPEND BITCODES ${BITCODE})
  list(APPEND BITCODE_DEFINITIONS "BITCODE_${level}=\"${BITCODE}\"")
endforeach()
set_source_files_properties(engine/translate/translate_embed.S PROPERTIES
  COMPILE_DEFINITIONS "${BITCODE_DEFINITIONS}" OBJECT_DEPENDS "${BITCODES}")
# LLVM is loaded only when there is something to compile, and only what of it compiles for x86-64: all of it takes 10 ms and
# 63 MB more each time. Its names stay inside: a graphics driver may bring an LLVM of its own.
execute_process(COMMAND ${LLVM_CONFIG} --link-static --libfiles x86codegen x86asmparser passes bitreader core
  OUTPUT_VARIABLE LLVM_ARCHIVES OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(LLVM_ARCHIVES)
# What translated code depends on: a change of any of it makes what is cached, and a module of another build, worthless.
file(GLOB_RECURSE TRANSLATOR_SOURCES isa/* engine/* loops/* state/* base/*)
set(IDENTITY ${CMAKE_BINARY_DIR}/translator_identity.h)
add_custom_command(OUTPUT ${IDENTITY}
  COMMAND cat ${TRANSLATOR_SOURCES} ${LLVM_ARCHIVES} | cksum | sed "s/\\(.*\\)/#define TRANSLATOR_IDENTITY \"\\1\"/" > ${IDENTITY}
  DEPENDS ${TRANSLATOR_SOURCES} VERBATIM)
file(GLOB TRANSLATE_LLVM CONFIGURE_DEPENDS engine/translate/llvm_*.c)
add_library(translate_llvm MODULE ${TRANSLATE_LLVM} engine/translate/translate_embed.S base/error.c base/text.c ${ISA_SOURCES} loops/guard/guard_registers.c ${IDENTITY})
set_target_properties(translate_llvm PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden)
install(TARGETS translate_llvm DESTINATION ${LIBRARY_FOLDER})
target_compile_definitions(translate_llvm PRIVATE _GNU_SOURCE)
target_include_directories(translate_llvm PRIVATE ${LLVM_INCLUDE} ${CMAKE_BINARY_DIR})
target_link_libraries(translate_llvm PRIVATE ${LLVM_ARCHIVES} -l:libstdc++.a PkgConfig::ZSTD z m Threads::Threads)
target_link_options(translate_llvm PRIVATE -static-libgcc -Wl,--gc-sections -Wl,--exclude-libs,ALL -Wl,-Bsymbolic)
# The glue between regions and the host is compiled, and packed, once.
add_executable(glue_gen engine/translate/glue_gen.c engine/translate/object_names.c engine/translate/object_pack.c)
target_link_libraries(glue_gen PRIVATE ${CMAKE_DL_LIBS})
foreach(level ${LEVELS})
  set(GLUE ${CMAKE_BINARY_DIR}/glue.${level}.packed)
  add_custom_command(OUTPUT ${GLUE}
    COMMAND glue_gen $<TARGET_FILE:translate_llvm> ${level} ${GLUE} DEPENDS glue_gen translate_llvm
    COMMENT "The translator's glue: ${level}")
  list(APPEND GLUES ${GLUE})
  list(APPEND GLUE_DEFINITIONS "GLUE_${level}=\"${GLUE}\"")
endforeach()
set_source_files_properties(engine/translate/glue_embed.S PROPERTIES
  COMPILE_DEFINITIONS "${GLUE_DEFINITIONS}" OBJECT_DEPENDS "${GLUES}")
target_sources(core PRIVATE
  engine/code_memory.c
  engine/translate/choose.c
  engine/translate/compile_thread.c
  engine/translate/glue_embed.S
  engine/translate/object.c
  engine/translate/object_names.c
  engine/translate/object_pack.c
  engine/translate/region.c
  engine/translate/translate.c
  engine/translate/shared_history.c
  engine/translate/translate_cache.c
  engine/translate/translate_rest.c
  engine/translate/translate_objects.c
  engine/translate/translate_places.c
  engine/translate/translate_slots.c
  ${IDENTITY}
)
include(engine/stencil/stencil.cmake)
target_include_directories(core PRIVATE ${CMAKE_BINARY_DIR})
target_compile_definitions(core PRIVATE TRANSLATE)
target_link_libraries(core PRIVATE ${CMAKE_DL_LIBS})
