// SPDX-License-Identifier: MIT
#include "comparison.h"

#include <stdlib.h>

#include "profiles.h"

void comparison_free(struct comparison *c)
{
    for (size_t i = 0; i < c->side_count; i++) {
        free(c->sides[i].name);
        text_list_free(&c->sides[i].words);
    }
    for (size_t i = 0; i < c->work_count; i++) {
        struct work *w = &c->works[i];
        free(w->name);
        free(w->wad);
        free(w->demo);
        free(w->replay);
        free(w->frames);
        free(w->sound);
    }
    for (size_t i = 0; i < c->run_count; i++) {
        free(c->runs[i].frame_ms);
        free(c->runs[i].rows);
    }
    free(c->sides);
    free(c->works);
    free(c->runs);
    free(c->difference.picture);
    free(c->command);
    profiles_free(&c->profiles);
    cJSON_Delete(c->loops);
    text_list_free(&c->warnings);
    *c = (struct comparison){0};
}
