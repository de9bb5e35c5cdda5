// SPDX-License-Identifier: MIT
// Run when the project is built: has the translator's module compile the glue and the functions that
// instructions share, into an object that is built into the programs.
//
//   glue_gen MODULE OBJECT
#include <dlfcn.h>
#include <stdio.h>

#include "llvm_jit.h"

int main(int argc, char **argv)
{
    struct error error = {.text = "usage: glue_gen MODULE OBJECT"};
    void *module = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    const struct jit_functions *functions = module ? dlsym(module, "jit_functions") : NULL;
    struct jit *jit = functions ? functions->create(&error) : NULL;
    struct jit_object object;
    if (!jit || !functions->compile_glue(jit, &object)) {
        fprintf(stderr, "glue_gen: %s\n", argc == 3 && !module ? dlerror() : error.text);
        return 1;
    }
    FILE *f = fopen(argv[2], "wb");
    if (!f || fwrite(object.bytes, 1, object.size, f) != object.size || fclose(f) != 0) {
        perror(argv[2]);
        return 1;
    }
    functions->destroy(jit);
    return 0;
}
