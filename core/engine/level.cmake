target_sources(core PRIVATE engine/level.c)
# The levels of level.h.
set(LEVELS baseline v3)
set(LEVEL_baseline -march=x86-64)
set(LEVEL_v3 -march=x86-64-v3 -maes -mpclmul)
