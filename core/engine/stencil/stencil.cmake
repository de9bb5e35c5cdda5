# Stencils: the machine code of single instructions, from the same definitions as everything else.
set(STENCILS ${CMAKE_CURRENT_SOURCE_DIR}/engine/interp/interp_stencils.c)
add_executable(stencil_gen engine/stencil/stencil_gen.c)

# Compiles a part of them for a level; out is the variable for the object's path.
function(add_stencils out level part)
  set(PART ${CMAKE_BINARY_DIR}/stencils.${level}.${part}.o)
  add_custom_command(OUTPUT ${PART}
    # Holes are addresses: in this code model displacements of 32 bits with a sign. A switch has no table, which would
    # have to be copied, too. What has a frame has it from its start on: stencil_gen.c looks there.
    COMMAND ${CLANG} -std=gnu11 -D_GNU_SOURCE -DTRANSLATE -DPART_${part} -I${CMAKE_SOURCE_DIR} ${LEVEL_${level}} -O2
      -ffp-contract=off -fno-math-errno -fno-strict-aliasing -fno-stack-protector -fno-vectorize -fno-slp-vectorize
      -fno-pic -mcmodel=kernel -fno-jump-tables -mllvm -enable-shrink-wrap=false -fno-asynchronous-unwind-tables
      -fcf-protection=none -ffunction-sections -Wno-ignored-attributes -MD -MF ${PART}.d -c ${STENCILS} -o ${PART}
    DEPENDS ${STENCILS} DEPFILE ${PART}.d
    COMMENT "Stencils: ${level}, ${part}")
  set(${out} ${PART} PARENT_SCOPE)
endfunction()

# These are no faster on a higher level, where integers (shifts by BMI2) and others (FMA) are: compiled once.
set(SHARED)
foreach(part accesses selecting)
  add_stencils(PART baseline ${part})
  list(APPEND SHARED ${PART})
endforeach()
foreach(level ${LEVELS})
  set(PARTS ${SHARED})
  foreach(part integers others)
    add_stencils(PART ${level} ${part})
    list(APPEND PARTS ${PART})
  endforeach()
  set(OBJECT ${CMAKE_BINARY_DIR}/stencils.${level}.o)
  set(TABLES ${CMAKE_BINARY_DIR}/stencils_${level}.c)
  add_custom_command(OUTPUT ${OBJECT} COMMAND ${CMAKE_LINKER} -r -o ${OBJECT} ${PARTS} DEPENDS ${PARTS})
  add_custom_command(OUTPUT ${TABLES} COMMAND stencil_gen ${OBJECT} ${level} ${TABLES} DEPENDS stencil_gen ${OBJECT})
  list(APPEND STENCIL_TABLES ${TABLES})
endforeach()
set(ENTER ${CMAKE_CURRENT_SOURCE_DIR}/engine/interp/interp_enter.c)
set(ENTER_OBJECT ${CMAKE_BINARY_DIR}/interp_enter.o)
add_custom_command(OUTPUT ${ENTER_OBJECT}
  COMMAND ${CLANG} -std=gnu11 -D_GNU_SOURCE -DTRANSLATE -I${CMAKE_SOURCE_DIR} -O2 -fPIC -Wno-ignored-attributes
    -MD -MF ${ENTER_OBJECT}.d -c ${ENTER} -o ${ENTER_OBJECT}
  DEPENDS ${ENTER} DEPFILE ${ENTER_OBJECT}.d
  COMMENT "The way into the handlers")
target_sources(core PRIVATE engine/stencil/block.c engine/stencil/variant.c
  engine/interp/interp_stencil_functions.c ${STENCIL_TABLES} ${ENTER_OBJECT})
