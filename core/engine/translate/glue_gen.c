// SPDX-License-Identifier: MIT
// Run when the project is built: has the translator's module compile the glue and the functions that
// instructions share, into a packed object that is built into the programs, their names in front of it.
//
//   glue_gen MODULE LEVEL OBJECT
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "llvm_jit.h"
#include "object_names.h"

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
    struct glue_names names_of_glue = {0};
    size_t size;
    const unsigned char *packed =
        object_pack(object.bytes, object.size, object_names_read_glue, &names_of_glue, &size);
    if (!packed || names_of_glue.count == GLUE_MAX) {
        fprintf(stderr, "glue_gen: %s: the glue cannot be packed\n", argv[2]);
        return 1;
    }
    FILE *f = fopen(argv[3], "wb");
    if (!f || fwrite(&names_of_glue, sizeof names_of_glue, 1, f) != 1 || fwrite(packed, 1, size, f) != size ||
        fclose(f) != 0) {
        perror(argv[3]);
        return 1;
    }
    functions->destroy(jit);
    return 0;
}
