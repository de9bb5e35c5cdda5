// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "wad_search.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/log.h"
#include "frontend/base/paths.h"
#include "wad.h"

// The search order. freedm has no monsters, so it is taken only where nothing else is found anywhere.
static const char *const names[] = {"doom2.wad", "tnt.wad",       "plutonia.wad",  "doom.wad",
                                    "doom1.wad", "freedoom2.wad", "freedoom1.wad", "freedm.wad"};
enum { NAMES = sizeof names / sizeof *names, LAST_CHOICE = NAMES - 1 };

// Adds a folder, or a file, unless it is listed already; takes ownership.
static void add_folder(struct text_list *folders, char *folder)
{
    if (*folder && !text_list_has(folders, folder)) {
        text_list_add(folders, folder);
    } else {
        free(folder);
    }
}

// Adds each part of a colon-separated list, with suffix appended.
static void add_parts(struct text_list *folders, const char *parts, const char *suffix)
{
    while (parts && *parts) {
        size_t length = strcspn(parts, ":");
        if (length) {
            add_folder(folders, text_format("%.*s%s", (int)length, parts, suffix));
        }
        parts += length + (parts[length] == ':');
    }
}

void wad_folders(struct text_list *folders)
{
    add_folder(folders, text_copy("."));
    const char *folder = getenv("DOOMWADDIR");
    if (folder) {
        add_folder(folders, text_copy(folder));
    }
    add_parts(folders, getenv("DOOMWADPATH"), "");
    char *home = path_data_home();
    add_folder(folders, text_format("%s/games/doom", home));
    free(home);
    const char *shared = getenv("XDG_DATA_DIRS");
    if (!shared || !*shared) {
        shared = "/usr/local/share:/usr/share";
    }
    add_parts(folders, shared, "/games/doom");
    add_parts(folders, shared, "/doom");
    add_folder(folders, text_copy("/usr/local/share/games/doom"));
    add_folder(folders, text_copy("/usr/share/games/doom"));
}

// The path of name in folder, in any case of letters, or NULL. An entry that is a file counts as holding
// itself.
static char *find_in(const char *folder, const char *name)
{
    if (path_is_file(folder)) {
        return text_same(path_name(folder), name) ? text_copy(folder) : NULL;
    }
    DIR *stream = opendir(folder);
    if (!stream) {
        return NULL;
    }
    char *found = NULL;
    for (struct dirent *entry; (entry = readdir(stream));) {
        bool exact = strcmp(entry->d_name, name) == 0;
        if (exact || (!found && text_same(entry->d_name, name))) {
            char *path = text_format("%s/%s", folder, entry->d_name);
            if (path_is_file(path)) {
                free(found);
                found = path;
            } else {
                free(path);
            }
        }
    }
    closedir(stream);
    return found;
}

// The first of names[from..until) in folder that is a sound IWAD, and has that map (NULL: any), or NULL.
static char *first_iwad(const char *folder, int from, int until, const char *map)
{
    for (int i = from; i < until; i++) {
        char *path = find_in(folder, names[i]);
        if (!path) {
            continue;
        }
        struct wad_info info;
        wad_inspect(path, &info);
        if (info.kind == WAD_IWAD && (!map || wad_has_lump(path, map))) {
            return path;
        }
        if (info.kind != WAD_IWAD) {
            log_line(LOG_WARNING, "passing over %s: it is %s", path, info.what);
        }
        free(path);
    }
    return NULL;
}

char *wad_find_any(const char *map)
{
    struct text_list folders = {0};
    wad_folders(&folders);
    char *found = NULL;
    for (size_t i = 0; !found && i < folders.count; i++) {
        found = first_iwad(folders.items[i], 0, LAST_CHOICE, map);
    }
    for (size_t i = 0; !found && i < folders.count; i++) {
        found = first_iwad(folders.items[i], LAST_CHOICE, NAMES, map);
    }
    text_list_free(&folders);
    if (found) {
        char *absolute = path_absolute(found);
        free(found);
        found = absolute;
    }
    return found;
}

char *wad_resolve(const char *name)
{
    char *found = NULL;
    if (path_is_folder(name)) {
        found = first_iwad(name, 0, NAMES, NULL);
    } else if (path_is_file(name)) {
        found = text_copy(name);
    } else if (!strchr(name, '/')) {
        size_t length = strlen(name);
        bool has_suffix = length > 4 && text_same(name + length - 4, ".wad");
        char *file = text_format("%s%s", name, has_suffix ? "" : ".wad");
        struct text_list folders = {0};
        wad_folders(&folders);
        for (size_t i = 0; !found && i < folders.count; i++) {
            found = find_in(folders.items[i], file);
        }
        for (size_t i = 0; !found && !has_suffix && i < folders.count; i++) {
            found = find_in(folders.items[i], name);
        }
        text_list_free(&folders);
        free(file);
    }
    if (!found) {
        return NULL;
    }
    char *absolute = path_absolute(found);
    free(found);
    return absolute;
}

static void see_wad(const char *path, void (*see)(void *user, const char *path), void *user)
{
    size_t length = strlen(path);
    if (length > 4 && text_same(path + length - 4, ".wad") && path_is_file(path)) {
        see(user, path);
    }
}

// Calls see for each file called .wad in the folders, in their order.
static void walk(const struct text_list *folders, void (*see)(void *user, const char *path), void *user)
{
    for (size_t i = 0; i < folders->count; i++) {
        const char *folder = folders->items[i];
        struct dirent **entries;
        int count = path_is_file(folder) ? -1 : scandir(folder, &entries, NULL, alphasort);
        if (count < 0) {
            see_wad(folder, see, user);
            continue;
        }
        for (int k = 0; k < count; k++) {
            char *path = text_format("%s/%s", folder, entries[k]->d_name);
            see_wad(path, see, user);
            free(path);
            free(entries[k]);
        }
        free(entries);
    }
}

static void add_game(void *user, const char *path)
{
    struct wad_info info;
    wad_inspect(path, &info);
    char *absolute = info.kind == WAD_IWAD ? path_absolute(path) : NULL;
    if (absolute && !text_list_has(user, absolute)) {
        text_list_add(user, absolute);
    } else {
        free(absolute);
    }
}

void wad_games(struct text_list *paths)
{
    struct text_list folders = {0};
    wad_folders(&folders);
    walk(&folders, add_game, paths);
    text_list_free(&folders);
}

struct listing {
    FILE *stream;
    unsigned playable;
};

static void list_file(void *user, const char *path)
{
    struct listing *list = user;
    struct wad_info info;
    wad_inspect(path, &info);
    fprintf(list->stream, "%s\n    %s", path, info.what);
    if (info.kind == WAD_IWAD || info.kind == WAD_PWAD) {
        fprintf(list->stream, ", %u lumps, %.1f MiB", info.lumps, (double)info.size / (1 << 20));
    }
    fputc('\n', list->stream);
    list->playable += info.kind == WAD_IWAD;
}

unsigned wad_list(FILE *stream, const char *known)
{
    struct text_list folders = {0};
    struct listing list = {.stream = stream};
    wad_folders(&folders);
    walk(&folders, list_file, &list);
    char *chosen = *known ? wad_resolve(known) : NULL;
    chosen = chosen ? chosen : wad_find_any(NULL);
    if (chosen) {
        fprintf(stream, "played without -iwad: %s\n", chosen);
        free(chosen);
    }
    fprintf(stream, "looked in, in this order:\n");
    for (size_t i = 0; i < folders.count; i++) {
        fprintf(stream, "    %s\n", folders.items[i]);
    }
    text_list_free(&folders);
    return list.playable;
}
