// SPDX-License-Identifier: MIT
// Run when the project is built: has the translator's module compile the glue and the functions that
// instructions share, into an object that is built into the programs.
//
//   glue_gen MODULE LEVEL OBJECT
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "llvm_jit.h"

int main(int argc, char **argv)
{
#define LEVEL_NAME(level) #level,
    static const char *const names[] = {LEVELS(LEVEL_NAME)};
#undef LEVEL_NAME
    struct error error = {.text = "usage: glue_gen MODULE LEVEL OBJECT"};
    unsigned level = 0;
    while (argc == 4 && level < LEVEL_COUNT && strcmp(argv[2], names[level]) != 0)
        level++;
    bool usable = argc == 4 && level < LEVEL_COUNT;
    void *module = usable ? dlopen(argv[1], RTLD_NOW) : NULL;
    const struct jit_functions *functions = module ? dlsym(module, "jit_functions") : NULL;
    struct jit *jit = functions ? functions->create((enum level)level, &error) : NULL;
    struct jit_object object;
    if (!jit || !functions->compile_glue(jit, &object)) {
        fprintf(stderr, "glue_gen: %s\n", usable && !module ? dlerror() : error.text);
        return 1;
    }
    FILE *f = fopen(argv[3], "wb");
    if (!f || fwrite(object.bytes, 1, object.size, f) != object.size || fclose(f) != 0) {
        perror(argv[3]);
        return 1;
    }
    functions->destroy(jit);
    return 0;
}
