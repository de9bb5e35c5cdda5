// SPDX-License-Identifier: MIT
#include "loop_template.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALTERNATIVES = 64, DEPTH = 24, VALUES = 64 };

// ---- reading ----

// The file as one string with joined lines, or NULL with a message.
static char *read_text(const char *path, struct error *error)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        error_set(error, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    char *text = NULL;
    size_t room = 0;
    ssize_t length = getdelim(&text, &room, '\0', file);
    fclose(file);
    if (length < 0) {
        free(text);
        error_set(error, "%s is empty", path);
        return NULL;
    }
    for (char *p = text; (p = strstr(p, "\\\n"));)
        p[0] = p[1] = ' ';
    return text;
}

// Lines of text that follow each other become one, as a choice may go over several.
static bool add_line(struct template *t, struct template_line line)
{
    struct template_line *before = t->count ? &t->lines[t->count - 1] : NULL;
    if (before && before->kind == TEMPLATE_TEXT && line.kind == TEMPLATE_TEXT &&
        before->text + strlen(before->text) + 1 == line.text) {
        line.text[-1] = '\n';
        return true;
    }
    struct template_line *bigger = realloc(t->lines, (t->count + 1) * sizeof *bigger);
    if (!bigger)
        return false;
    t->lines = bigger;
    t->lines[t->count++] = line;
    return true;
}

// "CLASS WEIGHT" of a template that begins with the common lines; NULL if there is no such class, or
// no memory.
static struct template *add_template(struct template_set *set, const char *text)
{
    char word[32];
    unsigned weight, class = 0;
    if (sscanf(text, "%31s %u", word, &weight) != 2)
        return NULL;
    while (class < LOOP_CLASSES && strcmp(loop_class_words[class], word) != 0)
        class ++;
    if (class == LOOP_CLASSES)
        return NULL;
    struct template *bigger = realloc(set->templates, (set->count + 1) * sizeof *bigger);
    if (!bigger)
        return NULL;
    set->templates = bigger;
    struct template *t = &bigger[set->count++];
    *t = (struct template){(enum loop_class) class, weight, 0, NULL};
    for (size_t i = 0; i < set->common.count; i++)
        if (!add_line(t, set->common.lines[i]))
            return NULL;
    return t;
}

// "NAME = TEXT", which is cut up.
static bool parse_definition(char *text, struct template_line *line)
{
    size_t name = 0;
    while (isalnum((unsigned char)text[name]))
        name++;
    if (name == 0 || strncmp(text + name, " = ", 3) != 0)
        return false;
    text[name] = '\0';
    line->name = text;
    line->text = text + name + 3;
    return true;
}

static bool read_lines(struct template_set *set, const char *path, char *text, struct error *error)
{
    struct template *t = &set->common;
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        struct template_line parsed = {TEMPLATE_TEXT, NULL, line};
        bool good = true;
        if (strncmp(line, "##", 2) == 0)
            continue;
        if (strncmp(line, "== ", 3) == 0) {
            t = add_template(set, line + 3);
            if (!t)
                return error_set(error, "%s: no such class: %s", path, line);
            continue;
        }
        if (strncmp(line, "let ", 4) == 0 || strncmp(line, "def ", 4) == 0) {
            parsed.kind = *line == 'l' ? TEMPLATE_LET : TEMPLATE_DEF;
            good = parse_definition(line + 4, &parsed);
        } else if (strncmp(line, "call ", 5) == 0) {
            parsed.kind = TEMPLATE_CALL;
            parsed.text = line + 5;
        }
        if (!good || (t == &set->common && parsed.kind >= TEMPLATE_CALL) || !add_line(t, parsed))
            return error_set(error, "%s: not understood: %s", path, line);
    }
    return true;
}

bool templates_read(struct template_set *set, const char *path, struct error *error)
{
    char *text = read_text(path, error);
    if (!text)
        return false;
    char **files = realloc(set->files, (set->file_count + 1) * sizeof *files);
    if (!files) {
        free(text);
        return error_set(error, "no memory for %s", path);
    }
    set->files = files;
    set->files[set->file_count++] = text;
    return read_lines(set, path, text, error);
}

void templates_free(struct template_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->templates[i].lines);
    for (size_t i = 0; i < set->file_count; i++)
        free(set->files[i]);
    free(set->common.lines);
    free(set->templates);
    free(set->files);
    *set = (struct template_set){0};
}

// ---- expanding ----

struct value {
    const char *name, *text; // name NULL: free
    char *owned; // text, if it has to be freed
};

struct expansion {
    struct value values[VALUES];
    size_t count;
    struct rng *r;
    unsigned depth;
    char wrong[160]; // "" = nothing
};

static void expand(struct expansion *e, FILE *out, const char *text, size_t length);

static char *expanded(struct expansion *e, const char *text, size_t length)
{
    char *result = NULL;
    size_t size;
    FILE *out = open_memstream(&result, &size);
    if (!out) {
        snprintf(e->wrong, sizeof e->wrong, "no memory");
        return NULL;
    }
    expand(e, out, text, length);
    fclose(out);
    return result;
}

static void expand_name(struct expansion *e, FILE *out, const char *name, size_t length)
{
    for (size_t i = e->count; i-- > 0;) {
        const struct value *v = &e->values[i];
        if (strlen(v->name) != length || memcmp(v->name, name, length) != 0)
            continue;
        if (v->owned)
            fputs(v->text, out);
        else
            expand(e, out, v->text, strlen(v->text));
        return;
    }
    snprintf(e->wrong, sizeof e->wrong, "nothing is called %.*s", (int)length, name);
}

// The alternatives of what stands between {{ and }}; returns how many.
static unsigned split(const char *text, size_t length, const char **part, size_t *part_length)
{
    unsigned count = 0, depth = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= length && count < ALTERNATIVES; i++) {
        if (i + 1 < length && text[i] == '{' && text[i + 1] == '{') {
            depth++, i++;
        } else if (i + 1 < length && text[i] == '}' && text[i + 1] == '}') {
            depth--, i++;
        } else if (i == length || (text[i] == '|' && depth == 0 && !(i > 0 && text[i - 1] == '\\'))) {
            part[count] = text + begin;
            part_length[count++] = i - begin;
            begin = i + 1;
        }
    }
    return count;
}

static void expand_choice(struct expansion *e, FILE *out, const char *text, size_t length)
{
    const char *part[ALTERNATIVES];
    size_t part_length[ALTERNATIVES];
    int low, high;
    if (length > 1 && text[0] == '#') {
        if (sscanf(text, "#%d..%d", &low, &high) != 2 || high < low)
            snprintf(e->wrong, sizeof e->wrong, "no range: %.*s", (int)length, text);
        else
            fprintf(out, "%d", low + (int)rng_below(e->r, (uint32_t)(high - low) + 1));
        return;
    }
    unsigned count = split(text, length, part, part_length), chosen;
    if (length > 1 && text[0] == '=') {
        char *number = expanded(e, text + 1, part_length[0] - 1);
        chosen = 1 + (unsigned)strtoul(number ? number : "", NULL, 10);
        free(number);
        if (chosen >= count) {
            snprintf(e->wrong, sizeof e->wrong, "no such alternative: %.*s", (int)length, text);
            return;
        }
    } else {
        chosen = rng_below(e->r, count);
    }
    expand(e, out, part[chosen], part_length[chosen]);
}

// Where the }} to a {{ before text begins, or length.
static size_t closing(const char *text, size_t length)
{
    unsigned depth = 1;
    for (size_t i = 0; i + 1 < length; i++) {
        if (text[i] == '{' && text[i + 1] == '{')
            depth++, i++;
        else if (text[i] == '}' && text[i + 1] == '}' && --depth == 0)
            return i;
        else if (text[i] == '}' && text[i + 1] == '}')
            i++;
    }
    return length;
}

static void expand(struct expansion *e, FILE *out, const char *text, size_t length)
{
    if (++e->depth > DEPTH)
        snprintf(e->wrong, sizeof e->wrong, "definitions without end: %.40s", text);
    for (size_t i = 0; i < length && !*e->wrong; i++) {
        if (text[i] == '$') {
            size_t name = 0;
            while (i + 1 + name < length && isalnum((unsigned char)text[i + 1 + name]))
                name++;
            expand_name(e, out, text + i + 1, name);
            i += name;
        } else if (i + 1 < length && text[i] == '{' && text[i + 1] == '{') {
            size_t end = closing(text + i + 2, length - i - 2);
            if (i + 2 + end >= length) {
                snprintf(e->wrong, sizeof e->wrong, "}} is missing: %.80s", text + i);
                break;
            }
            expand_choice(e, out, text + i + 2, end);
            i += end + 3;
        } else if (text[i] == '\\' && i + 1 < length && text[i + 1] == '|') {
            fputc('|', out), i++;
        } else {
            fputc(text[i], out);
        }
    }
    e->depth--;
}

static void expand_line(struct expansion *e, const struct template_line *line, FILE *text, FILE *call)
{
    size_t length = strlen(line->text);
    if (line->kind == TEMPLATE_TEXT || line->kind == TEMPLATE_CALL) {
        FILE *out = line->kind == TEMPLATE_TEXT ? text : call;
        expand(e, out, line->text, length);
        fputc('\n', out);
    } else if (e->count == VALUES) {
        snprintf(e->wrong, sizeof e->wrong, "too many names");
    } else {
        char *owned = line->kind == TEMPLATE_LET ? expanded(e, line->text, length) : NULL;
        e->values[e->count++] = (struct value){line->name, owned ? owned : line->text, owned};
    }
}

bool template_expand(const struct template *t, const char *name, struct rng *r, struct template_function *f,
                     struct error *error)
{
    struct expansion e = {.r = r, .count = 1};
    size_t ignored;
    *f = (struct template_function){NULL, NULL, NULL};
    e.values[0] = (struct value){"f", name, NULL};
    FILE *text = open_memstream(&f->text, &ignored), *call = open_memstream(&f->call, &ignored);
    if (!text || !call) {
        snprintf(e.wrong, sizeof e.wrong, "no memory");
    } else {
        for (size_t i = 0; i < t->count && !*e.wrong; i++)
            expand_line(&e, &t->lines[i], text, call);
    }
    if (text)
        fclose(text);
    if (call)
        fclose(call);
    for (size_t i = 0; i < e.count; i++)
        free(e.values[i].owned);
    size_t header = f->text ? strcspn(f->text, "{") : 0;
    if (!*e.wrong && (asprintf(&f->prototype, "%.*s;", (int)header, f->text) < 0 || !*f->call))
        snprintf(e.wrong, sizeof e.wrong, "no header, or no call");
    if (!*e.wrong)
        return true;
    free(f->text), free(f->prototype), free(f->call);
    return error_set(error, "a template of %s: %s", loop_class_words[t->class], e.wrong);
}
