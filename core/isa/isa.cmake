# The decoder's tables are made from insns.def by a program of the build.
set(DECODE_TABLES ${CMAKE_BINARY_DIR}/decode_tables.c)
add_executable(decode_gen isa/decode_gen.c)
add_custom_command(OUTPUT ${DECODE_TABLES} COMMAND decode_gen ${DECODE_TABLES} DEPENDS decode_gen)
set(ISA_SOURCES isa/decode.c isa/decode_steps.c isa/disasm.c ${DECODE_TABLES})
target_sources(core PRIVATE ${ISA_SOURCES})
