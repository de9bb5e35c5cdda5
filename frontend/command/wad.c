// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "wad.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/base/paths.h"

// More lumps than any game has; a directory of that size is read into memory.
enum { LUMPS_MOST = 200000 };

static uint32_t little32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void describe(struct wad_info *info, enum wad_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void describe(struct wad_info *info, enum wad_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    info->kind = kind;
    vsnprintf(info->what, sizeof info->what, format, arguments);
    va_end(arguments);
}

// What a file that is no WAD seems to be.
static const char *guess(const uint8_t *head, size_t length)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *what;
    } known[] = {
        {"PK\3\4", 4, "a ZIP archive (unpack it first)"},
        {"7z\xbc\xaf", 4, "a 7-Zip archive (unpack it first)"},
        {"Rar!", 4, "a RAR archive (unpack it first)"},
        {"\x1f\x8b", 2, "a gzip file (unpack it first)"},
        {"\xfd"
         "7zXZ",
         5, "an xz file (unpack it first)"},
        {"Patch File for DeHackEd", 23, "a DeHackEd patch (-deh takes those)"},
        {"\x7f"
         "ELF",
         4, "a program"},
        {"\x89PNG", 4, "a picture"},
        {"<!DO", 4, "a web page (a download that went wrong?)"},
        {"<htm", 4, "a web page (a download that went wrong?)"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (length >= known[i].length && memcmp(head, known[i].bytes, known[i].length) == 0) {
            return known[i].what;
        }
    }
    return length == 0 ? "an empty file" : "no WAD (it begins with neither IWAD nor PWAD)";
}

struct directory {
    uint8_t *entries; // 16 bytes each: offset, size, name
    uint32_t lumps;
};

// The last entry of that name, which is the one that counts, or NULL.
static const uint8_t *find_lump(const struct directory *directory, const char *name)
{
    for (uint32_t i = directory->lumps; i-- > 0;) {
        const uint8_t *entry = directory->entries + 16 * (size_t)i;
        if (strncasecmp((const char *)entry + 8, name, 8) == 0) {
            return entry;
        }
    }
    return NULL;
}

static bool has_lump(const struct directory *directory, const char *name)
{
    return find_lump(directory, name);
}

static void identify_iwad(const struct directory *directory, struct wad_info *info)
{
    static const struct {
        const char *lump, *game;
    } others[] = {{"M_HTIC", "Heretic"}, {"CLUS1MSG", "Hexen"}, {"ENDSTRF", "Strife"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (has_lump(directory, others[i].lump)) {
            describe(info, WAD_OTHER_GAME, "an IWAD of %s; this program plays DOOM", others[i].game);
            return;
        }
    }
    static const char *const needed[] = {"PLAYPAL", "COLORMAP", "PNAMES", "TEXTURE1"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (!has_lump(directory, needed[i])) {
            describe(info, WAD_DAMAGED, "an IWAD without the lump %s, so no complete game of DOOM",
                     needed[i]);
            return;
        }
    }
    bool maps = has_lump(directory, "MAP01"), episode = has_lump(directory, "E1M1");
    bool free_game = has_lump(directory, "FREEDOOM");
    const char *game = NULL;
    if (has_lump(directory, "FREEDM")) {
        game = "FreeDM";
    } else if (free_game && (maps || episode)) {
        game = maps ? "Freedoom: Phase 2" : "Freedoom: Phase 1";
    } else if (has_lump(directory, "HACX-R")) {
        game = "Hacx";
    } else if (maps) {
        game = has_lump(directory, "REDTNT2") ? "Final DOOM: TNT: Evilution"
               : has_lump(directory, "CAMO1") ? "Final DOOM: The Plutonia Experiment"
                                              : "DOOM II";
    } else if (episode) {
        game = has_lump(directory, "E4M1")   ? "The Ultimate DOOM"
               : has_lump(directory, "E2M1") ? "DOOM"
                                             : "DOOM (shareware)";
    }
    if (game) {
        describe(info, WAD_IWAD, "%s", game);
    } else {
        describe(info, WAD_DAMAGED, "an IWAD without E1M1 and MAP01, so no game of DOOM");
    }
}

static void inspect_directory(const struct directory *directory, bool iwad, struct wad_info *info)
{
    for (uint32_t i = 0; i < directory->lumps; i++) {
        const uint8_t *entry = directory->entries + 16 * (size_t)i;
        uint64_t offset = little32(entry), size = little32(entry + 4);
        if (size && offset + size > info->size) {
            describe(info, WAD_DAMAGED, "a damaged WAD: lump %u of %u ends at byte %llu, the file at %llu",
                     i + 1, directory->lumps, (unsigned long long)(offset + size),
                     (unsigned long long)info->size);
            return;
        }
    }
    if (iwad) {
        identify_iwad(directory, info);
    } else {
        describe(info, WAD_PWAD, "a PWAD, that is an add-on to a game");
    }
}

// Reads header and directory, which becomes the caller's to free; else says in *info what is wrong.
static bool read_directory(FILE *stream, struct wad_info *info, struct directory *directory, bool *iwad)
{
    uint8_t head[32] = {0};
    size_t length = fread(head, 1, sizeof head, stream);
    *iwad = length >= 4 && memcmp(head, "IWAD", 4) == 0;
    if (!*iwad && (length < 4 || memcmp(head, "PWAD", 4) != 0)) {
        describe(info, WAD_NOT_WAD, "%s", guess(head, length));
        return false;
    }
    if (length < 12) {
        describe(info, WAD_DAMAGED, "a WAD that is cut off within its header");
        return false;
    }
    uint32_t lumps = little32(head + 4), start = little32(head + 8);
    info->lumps = lumps;
    if (lumps > LUMPS_MOST || start + (uint64_t)lumps * 16 > info->size) {
        describe(
            info, WAD_DAMAGED,
            "a damaged WAD: its header says %u lumps listed from byte %u on, but the file has %llu bytes",
            lumps, start, (unsigned long long)info->size);
        return false;
    }
    *directory = (struct directory){memory_resize(NULL, (size_t)lumps * 16 + 1), lumps};
    if (fseek(stream, (long)start, SEEK_SET) != 0 || fread(directory->entries, 16, lumps, stream) != lumps) {
        describe(info, WAD_UNREADABLE, "unreadable (%s)", strerror(errno));
        free(directory->entries);
        return false;
    }
    return true;
}

// NULL: *info says why.
static FILE *open_file(const char *path, struct wad_info *info)
{
    *info = (struct wad_info){0};
    struct stat file;
    if (stat(path, &file) != 0) {
        describe(info, WAD_UNREADABLE, "%s", errno == ENOENT ? "missing" : strerror(errno));
        return NULL;
    }
    if (!S_ISREG(file.st_mode)) {
        describe(info, WAD_UNREADABLE, "%s", S_ISDIR(file.st_mode) ? "a folder" : "no regular file");
        return NULL;
    }
    FILE *stream = fopen(path, "re");
    if (!stream) {
        describe(info, WAD_UNREADABLE, "unreadable (%s)", strerror(errno));
    }
    info->size = (uint64_t)file.st_size;
    return stream;
}

void wad_inspect(const char *path, struct wad_info *info)
{
    struct directory directory;
    bool iwad;
    FILE *stream = open_file(path, info);
    if (!stream) {
        return;
    }
    if (read_directory(stream, info, &directory, &iwad)) {
        inspect_directory(&directory, iwad, info);
        free(directory.entries);
    }
    fclose(stream);
}

// The engine takes a file that is no WAD as one lump, called as the file.
static bool is_lump(const char *path, const char *name)
{
    const char *file = path_name(path);
    size_t length = strcspn(file, ".");
    return strlen(name) == length && strncasecmp(file, name, length) == 0;
}

bool wad_has_lump(const char *path, const char *name)
{
    struct wad_info info;
    struct directory directory;
    bool iwad, has = false;
    FILE *stream = open_file(path, &info);
    if (!stream) {
        return false;
    }
    if (read_directory(stream, &info, &directory, &iwad)) {
        has = has_lump(&directory, name);
        free(directory.entries);
    } else {
        has = info.kind == WAD_NOT_WAD && is_lump(path, name);
    }
    fclose(stream);
    return has;
}

bool wad_load(const char *path, struct wad_file *wad)
{
    struct wad_info info;
    struct directory directory;
    bool iwad;
    *wad = (struct wad_file){0};
    FILE *stream = open_file(path, &info);
    if (!stream) {
        return false;
    }
    if (!read_directory(stream, &info, &directory, &iwad)) {
        fclose(stream);
        return false;
    }
    rewind(stream);
    wad->contents = memory_resize(NULL, info.size);
    info.size = fread(wad->contents, 1, info.size, stream);
    fclose(stream);
    wad->lumps = memory_resize(NULL, directory.lumps * sizeof *wad->lumps + 1);
    for (uint32_t i = 0; i < directory.lumps; i++) {
        const uint8_t *entry = directory.entries + 16 * (size_t)i;
        uint64_t offset = little32(entry), size = little32(entry + 4);
        bool inside = offset + size <= info.size;
        struct wad_lump *lump = &wad->lumps[wad->count++];
        *lump = (struct wad_lump){.bytes = wad->contents + (inside ? offset : 0), .size = inside ? size : 0};
        memcpy(lump->name, entry + 8, 8);
    }
    free(directory.entries);
    return true;
}

const struct wad_lump *wad_find_lump(const struct wad_file *wad, const char *name)
{
    for (size_t i = wad->count; i-- > 0;) {
        if (text_same(wad->lumps[i].name, name)) {
            return &wad->lumps[i];
        }
    }
    return NULL;
}

void wad_unload(struct wad_file *wad)
{
    free(wad->contents);
    free(wad->lumps);
    *wad = (struct wad_file){0};
}

static bool is_map(const char *name)
{
    static const char *const shapes[] = {"E%*1[1-9]M%*1[1-9]%n", "MAP%*1[0-9]%*1[0-9]%n"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        int length = 0;
        sscanf(name, shapes[i], &length);
        if (length && name[length] == '\0') {
            return true;
        }
    }
    return false;
}

bool wad_first_map(const char *path, char name[9])
{
    struct wad_info info;
    struct directory directory;
    bool iwad, found = false;
    FILE *stream = open_file(path, &info);
    if (!stream) {
        return false;
    }
    if (read_directory(stream, &info, &directory, &iwad)) {
        for (uint32_t i = 0; !found && i < directory.lumps; i++) {
            snprintf(name, 9, "%.8s", (const char *)directory.entries + 16 * (size_t)i + 8);
            found = is_map(name);
        }
        free(directory.entries);
    }
    fclose(stream);
    return found;
}
