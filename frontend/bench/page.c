// SPDX-License-Identifier: MIT
#include "page.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "figures.h"
#include "frontend/base/host.h"
#include "frontend/base/paths.h"
#include "frontend/record/report.h"
#include "plots.h"
#include "profiles.h"
#include "svg.h"
#include "verdict.h"

enum { LOOPS_SHOWN = 8 };

static const char style[] =
    "body{font:14px/1.45 B612,Inter,'DejaVu Sans',sans-serif;color:#1b1b1b;background:#fff;margin:24px auto;"
    "max-width:1060px;padding:0 20px;font-variant-numeric:tabular-nums}"
    "h1{font-size:27px;line-height:1.25;margin:2px 0 4px}h2{font-size:15px;margin:0 0 2px}p{margin:2px 0}"
    ".small,footer{color:#555;font-size:12px}"
    ".gates{display:flex;flex-wrap:wrap;gap:4px 24px;padding:9px 14px;margin:12px "
    "0;border-radius:6px;background:#edf3ee;"
    "font-size:13px}.gates b{white-space:nowrap}.warnings{margin:10px 0;padding:6px 14px 6px "
    "30px;background:#fdf3dc;"
    "border-radius:6px;font-size:13px}"
    "table{border-collapse:collapse;width:100%;margin:8px 0 14px;font-size:13px}"
    "th{font-weight:normal;color:#555;text-align:right;vertical-align:bottom;padding:3px 6px}"
    "td{text-align:right;padding:5px 6px;border-top:1px solid "
    "#ddd}th:first-child,td:first-child{text-align:left}"
    "tr:last-child td{border-bottom:1px solid #ddd}td.word,th.word{text-align:left}td.one{white-space:nowrap}"
    ".plots{display:grid;grid-template-columns:1fr 1fr;gap:16px "
    "20px}figure{margin:0;break-inside:avoid}.wide{grid-column:1/-1}"
    "figcaption{font-size:12px;color:#444}figure svg{width:100%;height:auto;display:block}"
    ".key{vertical-align:-1px;margin-right:4px}"
    "section{break-inside:avoid;margin-top:18px}dl{display:grid;grid-template-columns:max-content "
    "1fr;gap:2px 18px;"
    "margin:6px 0;font-size:13px}dt{color:#555}dd{margin:0;overflow-wrap:anywhere}"
    "@media screen and (max-width:760px){.plots{grid-template-columns:1fr}}"
    "@page{size:A4;margin:11mm}"
    "@media print{body{margin:0;padding:0;max-width:none;font-size:11px}.second{break-before:page}"
    "table,.gates,dl{font-size:10px}td{padding:2px 6px}"
    "section{margin-top:8px}section table{margin:2px 0 4px}section td{line-height:1.2}h1{font-size:21px}}";

static const char plot_style[] =
    ".grid{stroke:#e2e2e2}.one{stroke:#333}.mark{stroke:#aaa;stroke-dasharray:3 "
    "3}.whisker{stroke:#111;stroke-width:1.5;"
    "fill:none}.tick{font:11px B612,Inter,'DejaVu Sans',sans-serif;fill:#555}.end{text-anchor:end}"
    ".middle{text-anchor:middle}";

static void write_name(FILE *to, const struct comparison *c, size_t side)
{
    series_key(to, (unsigned)side);
    write_escaped(to, c->sides[side].name);
}

static void write_works(FILE *to, const struct comparison *c)
{
    double tics = 0;
    for (size_t i = 0; i < c->work_count; i++) {
        fputs(i ? ", " : "", to);
        write_escaped(to, c->works[i].name);
        tics += c->works[i].tics;
    }
    char *number = verdict_number(tics);
    fprintf(to, ": %s tics", number);
    free(number);
}

static void write_head(FILE *to, const struct comparison *c)
{
    char *verdict = verdict_text(c);
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width\"><title>",
          to);
    write_escaped(to, verdict);
    fprintf(to, "</title><style>%s%s</style></head>\n<body><p class=\"small\">", style, plot_style);
    write_escaped(to, c->command);
    fputs(" · ", to);
    write_works(to, c);
    fputs("</p>\n<h1>", to);
    write_escaped(to, verdict);
    fputs("</h1>\n", to);
    free(verdict);
}

static void write_gates(FILE *to, const struct comparison *c)
{
    struct gate gates[GATES];
    verdict_gates(c, gates);
    fputs("<div class=\"gates\">", to);
    for (size_t i = 0; i < GATES; i++) {
        fprintf(to, "<span><b>%s %s:</b> ", gates[i].good ? "✓" : "✗", gates[i].word);
        write_escaped(to, gates[i].text);
        fputs("</span>\n", to);
    }
    fputs("</div>\n", to);
    verdict_free_gates(gates);
    if (c->warnings.count) {
        fputs("<ul class=\"warnings\">", to);
        for (size_t i = 0; i < c->warnings.count; i++) {
            fputs("<li>", to);
            write_escaped(to, c->warnings.items[i]);
            fputs("</li>\n", to);
        }
        fputs("</ul>\n", to);
    }
}

static void write_figures(FILE *to, const struct comparison *c)
{
    fputs("<table><tr><th></th><th>CPU s<br>a pass</th><th>of it<br>the start</th><th>wall "
          "s</th><th>median<br>ms a "
          "frame</th><th>p95</th>"
          "<th>p99</th><th>p99.9</th><th>slowest</th><th>1 % low,<br>percentile</th><th>1 % "
          "low,<br>average</th>"
          "<th>stutter</th><th>steady</th><th>million<br>instr. / s</th><th>left out</th></tr>\n",
          to);
    for (size_t s = 0; s < c->side_count; s++) {
        struct side_figures f;
        figures_of_side(c, s, &f);
        const struct frame_statistics *t = &f.frames;
        fputs("<tr><td>", to);
        write_name(to, c, s);
        fprintf(to, "</td><td>%.3f</td>", f.cpu_s);
        fprintf(to, f.has_frames ? "<td>%.3f</td>" : "<td>–</td>", f.start_s);
        fprintf(to, "<td>%.3f</td>", f.wall_s);
        if (f.has_frames) {
            double all = f.retired + f.credited;
            fprintf(to,
                    "<td>%.3f</td><td>%.3f</td><td>%.3f</td><td>%.3f</td><td>%.3f</td><td>%.1f fps</td>"
                    "<td>%.1f fps</td><td>%.2f %%</td><td>%.2f %%</td><td>%.1f</td><td>%.1f %%</td></tr>\n",
                    t->p50, t->p95, t->p99, t->p99_9, t->max, t->low1_percentile_fps, t->low1_average_fps,
                    t->stutter_percent, t->stable_percent, f.mips, all > 0 ? 100 * f.credited / all : 0);
        } else {
            for (int i = 0; i < 11; i++) {
                fputs("<td>–</td>", to);
            }
            fputs("</tr>\n", to);
        }
    }
    fputs("</table>\n", to);
    for (size_t s = 2; s < c->side_count; s++) {
        struct interval i;
        bool enough = figures_compare_cpu(c, 1, s, c->work_count, &i);
        fputs("<p>", to);
        write_escaped(to, c->sides[1].name);
        fprintf(to, " takes %.3f times the CPU time of %s", i.ratio, c->sides[s].name);
        if (enough) {
            fprintf(to, " (%.3f to %.3f)", i.low, i.high);
        }
        fputs(".</p>\n", to);
    }
}

static void write_plots(FILE *to, const struct plot_data *data)
{
    fputs("<div class=\"plots\">\n", to);
    for (size_t i = 0; i < PLOTS; i++) {
        if (!plot_possible(&plots[i], data)) {
            continue;
        }
        char *sentence = plots[i].sentence(data);
        fprintf(to, "<figure%s><h2>%s</h2><svg viewBox=\"0 0 %u %u\" role=\"img\" aria-label=\"%s\">\n",
                plots[i].wide ? " class=\"wide\"" : "", plots[i].title, plot_width(&plots[i]),
                plot_height(&plots[i], data), plots[i].title);
        plots[i].draw(data, to);
        fputs("</svg><figcaption>", to);
        write_escaped(to, sentence);
        fputs("</figcaption></figure>\n", to);
        free(sentence);
    }
    fputs("</div>\n", to);
}

// What the replaced loops left out, as shares of all instructions of the plain game.
static void write_loops(FILE *to, const struct comparison *c)
{
    const cJSON *loops = cJSON_GetObjectItem(c->loops, "hot_loops"), *loop;
    double all = report_number_at(c->loops, "retired") + report_number_at(c->loops, "credited"), largest = 0;
    size_t shown = 0;
    if (!loops || all <= 0) {
        return;
    }
    fputs("<section class=\"second\"><h2>Where it comes from</h2><table><tr><th>loop in</th><th "
          "class=\"word\">kind</th>"
          "<th>entered</th><th>rounds each time</th><th>instructions left out</th><th class=\"word\" "
          "colspan=\"2\">of all "
          "instructions</th></tr>\n",
          to);
    cJSON_ArrayForEach(loop, loops)
    {
        double saved = report_number_at(loop, "saved"), entries = report_number_at(loop, "entries");
        if (saved <= 0 || entries <= 0 || shown == LOOPS_SHOWN) {
            continue;
        }
        largest = shown++ ? largest : saved;
        char *times = verdict_number(entries), *instructions = verdict_number(saved);
        fputs("<tr><td>", to);
        write_escaped(to, report_text_at(loop, "function"));
        fputs("</td><td class=\"word\">", to);
        write_escaped(to, report_text_at(loop, "class"));
        fprintf(to,
                "</td><td>%s</td><td>%.0f</td><td>%s</td><td>%.1f %%</td><td class=\"word\" "
                "style=\"width:150px\">"
                "<svg width=\"%.0f\" height=\"9\" aria-hidden=\"true\"><rect width=\"100%%\" height=\"9\" "
                "fill=\"%s\"/></svg></td></tr>\n",
                times, report_number_at(loop, "iterations") / entries, instructions, 100 * saved / all,
                fmax(1, 140 * saved / largest), series_colour(1));
        free(times);
        free(instructions);
    }
    fputs("</table><p class=\"small\">Proved equal, and done by code of our own instead; instructions left "
          "out are not "
          "time saved: what stands in for them takes some, too.</p></section>\n",
          to);
}

static void write_item(FILE *to, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void write_item(FILE *to, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_format_list(format, arguments);
    va_end(arguments);
    fprintf(to, "<dt>%s</dt><dd>", name);
    write_escaped(to, text);
    fputs("</dd>\n", to);
    free(text);
}

static void write_machine(FILE *to, const struct comparison *c)
{
    struct host_machine host;
    host_describe_machine(&host);
    fputs("<section><h2>Machine and program</h2><dl>\n", to);
    write_item(to, "processor", "%s, %u cores; governor %s, turbo %s", host.cpu, host.cores, host.governor,
               host.turbo);
    write_item(to, "memory", "%.1f GiB", (double)host.memory / (1 << 30));
    write_item(to, "system", "%s; %s", host.system, host.kernel);
    write_item(to, "load", "%.2f before the first run; %.1f %% of the time taken by other guests of the host",
               c->load, c->steal_percent);
    write_item(to, "program", "neurodoom %s (%s), %s", host_version, host_git, host_flags);
    write_item(to, "BLAS", "%s", host.blas);
    fputs("</dl></section>\n", to);
}

static void write_method(FILE *to, const struct comparison *c)
{
    fputs("<section><h2>How it was measured</h2><dl>\n", to);
    write_item(to, "runs",
               "%u blocks; in each, every side plays every demo twice, in a random order and then in the "
               "opposite one "
               "(ABBA), each time in a fresh process; seed %u",
               c->blocks, c->seed);
    write_item(to, "CPU s, wall s", "of the whole process with all its threads; the median of %u passes",
               c->blocks * PASSES);
    write_item(to, "how many times",
               "CPU seconds of one side by those of the other, block by block: the mean of the middle half; "
               "its 95 %% interval by 10,000 draws of blocks");
    write_item(to, "ms a frame",
               "all runs together, without the first %u tics of each; p95 is what 95 %% of the frames "
               "do not exceed, by nearest rank",
               c->warm_tics);
    write_item(to, "1 % low", "frames a second: 1000 / p99, and the average over the slowest 1 %%");
    write_item(to, "stutter", "share of the time in frames over 2.5 times the mean of the 35 before them");
    write_item(to, "steady", "share of the frames that take at most 1/35 s, as the game needs");
    write_item(to, "left out", "instructions of replaced loops, as a share of what the plain game executes");
    fputs("</dl><p class=\"small\">A timed demo runs as fast as it can: it is not play, which waits for the "
          "clock.</p>"
          "</section>\n",
          to);
}

static void write_difference(FILE *to, const struct comparison *c)
{
    if (c->difference.picture) {
        fputs("<p>Both pictures: <a href=\"difference.png\">difference.png</a></p>\n", to);
    }
}

bool page_write(const struct comparison *c, const char *path)
{
    struct new_file file;
    if (!new_file_open(&file, path)) {
        return false;
    }
    FILE *to = file.stream;
    write_head(to, c);
    write_gates(to, c);
    write_difference(to, c);
    if (c->blocks && !c->difference.found) {
        struct plot_data data;
        plot_data_make(&data, c);
        write_figures(to, c);
        write_plots(to, &data);
        plot_data_free(&data);
        write_loops(to, c);
        profiles_write_page(to, c);
    }
    write_machine(to, c);
    write_method(to, c);
    fputs("</body></html>\n", to);
    return new_file_commit(&file);
}

// Room for a title above a plot, and between plots.
enum { TITLE = 20, GAP = 12 };

bool page_write_plots(const struct comparison *c, const char *path)
{
    struct new_file file;
    if (!new_file_open(&file, path)) {
        return false;
    }
    struct plot_data data;
    bool any = c->blocks && !c->difference.found;
    unsigned width = 0, height = 0;
    if (any) {
        plot_data_make(&data, c);
    }
    for (size_t i = 0; any && i < PLOTS; i++) {
        if (!plot_possible(&plots[i], &data)) {
            continue;
        }
        width = plot_width(&plots[i]) > width ? plot_width(&plots[i]) : width;
        height += TITLE + plot_height(&plots[i], &data) + GAP;
    }
    fprintf(file.stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-10 -4 %u %u\" width=\"%u\" height=\"%u\">"
            "<style>%s</style><rect x=\"-10\" y=\"-4\" width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width + 20, height, width + 20, height, plot_style);
    height = 0;
    for (size_t i = 0; any && i < PLOTS; i++) {
        if (!plot_possible(&plots[i], &data)) {
            continue;
        }
        fprintf(file.stream,
                "<g transform=\"translate(0 %u)\"><text y=\"14\" class=\"tick\">%s</text>"
                "<g transform=\"translate(0 %d)\">\n",
                height, plots[i].title, TITLE);
        plots[i].draw(&data, file.stream);
        fputs("</g></g>\n", file.stream);
        height += TITLE + plot_height(&plots[i], &data) + GAP;
    }
    if (any) {
        plot_data_free(&data);
    }
    fputs("</svg>\n", file.stream);
    return new_file_commit(&file);
}
