// SPDX-License-Identifier: MIT
// Formats: The Unofficial DOOM Specs 1.666, chapters 4 (maps) and 8 (textures).
#include "wad_damage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/text.h"
#include "wad.h"

// The lumps behind a map's name, in this order; the last two have no records.
enum { LINEDEFS = 1, SIDEDEFS, VERTEXES, SEGS, SSECTORS, NODES, SECTORS, MAP_LUMPS };
static const struct {
    const char *name;
    uint32_t record; // bytes
} map_lumps[MAP_LUMPS] = {{"THINGS", 10}, {"LINEDEFS", 14}, {"SIDEDEFS", 30}, {"VERTEXES", 4},
                          {"SEGS", 12},   {"SSECTORS", 4},  {"NODES", 28},    {"SECTORS", 26}};

// A 16-bit field of a record that is a number in another lump.
static const struct reference {
    int from;
    uint32_t offset;
    int to;
    bool may_be_none; // 0xffff
} references[] = {
    {LINEDEFS, 0, VERTEXES, false}, {LINEDEFS, 2, VERTEXES, false}, {LINEDEFS, 10, SIDEDEFS, false},
    {LINEDEFS, 12, SIDEDEFS, true}, {SIDEDEFS, 28, SECTORS, false}, {SEGS, 0, VERTEXES, false},
    {SEGS, 2, VERTEXES, false},     {SEGS, 6, LINEDEFS, false},     {SSECTORS, 2, SEGS, false},
    {NODES, 24, NODES, false},      {NODES, 26, NODES, false},
};

struct map {
    char name[9];
    struct wad_lump lumps[MAP_LUMPS];
};

static uint32_t little(const uint8_t *bytes, unsigned count)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < count; i++) {
        value |= (uint32_t)bytes[i] << 8 * i;
    }
    return value;
}

static size_t records(const struct map *map, int lump)
{
    return map->lumps[lump].size / map_lumps[lump].record;
}

static char *check_reference(const struct map *map, const struct reference *r)
{
    for (size_t i = 0; i < records(map, r->from); i++) {
        uint32_t number = little(map->lumps[r->from].bytes + i * map_lumps[r->from].record + r->offset, 2);
        int to = r->to;
        if (to == NODES && number & 0x8000) { // a child that is a leaf
            number &= 0x7fff;
            to = SSECTORS;
        }
        if (number >= records(map, to) && !(r->may_be_none && number == 0xffff)) {
            return text_format("%s of %s: record %zu refers to number %u of %zu %s", map_lumps[r->from].name,
                               map->name, i, number, records(map, to), map_lumps[to].name);
        }
    }
    return NULL;
}

static char *check_map(const struct map *map)
{
    char *found = NULL;
    for (int i = 0; !found && i < MAP_LUMPS; i++) {
        if (map->lumps[i].size % map_lumps[i].record) {
            found = text_format("%s of %s: %zu bytes are no whole number of records", map_lumps[i].name,
                                map->name, map->lumps[i].size);
        }
    }
    for (size_t i = 0; !found && i < sizeof references / sizeof *references; i++) {
        found = check_reference(map, &references[i]);
    }
    return found;
}

static char *check_maps(const struct wad_lump *lumps, size_t count)
{
    char *found = NULL;
    for (size_t i = 0; !found && i + MAP_LUMPS < count; i++) {
        struct map map;
        memcpy(map.name, lumps[i].name, sizeof map.name);
        memcpy(map.lumps, &lumps[i + 1], sizeof map.lumps);
        bool is_map = true;
        for (int k = 0; is_map && k < MAP_LUMPS; k++) {
            is_map = text_same(map.lumps[k].name, map_lumps[k].name);
        }
        found = is_map ? check_map(&map) : NULL;
    }
    return found;
}

// Of the whole list: where each texture begins, and the patches that it names.
static char *check_textures(const struct wad_lump *list, uint32_t patches)
{
    enum { HEAD = 22, PATCH = 10 };
    uint32_t count = list->size < 4 ? 0 : little(list->bytes, 4);
    if (list->size < 4 || count > (list->size - 4) / 4) {
        return text_format("%s: a list of %u textures in %zu bytes", list->name, count, list->size);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = little(list->bytes + 4 + 4 * (size_t)i, 4);
        uint32_t parts = at + HEAD <= list->size ? little(list->bytes + at + 20, 2) : UINT16_MAX;
        if (at + HEAD + (uint64_t)parts * PATCH > list->size) {
            return text_format("%s: texture %u lies beyond its end", list->name, i);
        }
        for (uint32_t k = 0; k < parts; k++) {
            uint32_t patch = little(list->bytes + at + HEAD + PATCH * (size_t)k + 4, 2);
            if (patch >= patches) {
                return text_format("%s: texture %u refers to number %u of %u PNAMES", list->name, i, patch,
                                   patches);
            }
        }
    }
    return NULL;
}

static char *check_all_textures(const struct wad_lump *lumps, size_t count)
{
    const struct wad_lump *names = NULL;
    char *found = NULL;
    for (size_t i = 0; i < count; i++) {
        names = text_same(lumps[i].name, "PNAMES") ? &lumps[i] : names;
    }
    if (!names) { // those of the game it is played on
        return NULL;
    }
    uint32_t patches = names->size < 4 ? 0 : little(names->bytes, 4);
    if (names->size < 4 || patches > (names->size - 4) / 8) {
        return text_format("PNAMES: a list of %u names in %zu bytes", patches, names->size);
    }
    for (size_t i = 0; !found && i < count; i++) {
        if (text_same(lumps[i].name, "TEXTURE1") || text_same(lumps[i].name, "TEXTURE2")) {
            found = check_textures(&lumps[i], patches);
        }
    }
    return found;
}

char *wad_find_damage(const char *path)
{
    struct wad_file wad;
    if (!wad_load(path, &wad)) {
        return NULL;
    }
    char *found = check_maps(wad.lumps, wad.count);
    if (!found) {
        found = check_all_textures(wad.lumps, wad.count);
    }
    wad_unload(&wad);
    return found;
}
