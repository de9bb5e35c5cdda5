# SPDX-License-Identifier: MIT
# The figures of a comparison once more, by other means: from the CSV files alone, with none of the program's code.
# awk -f recompute.awk [-v seed=N -v warm=TICS] runs.csv frames.csv: the lines of figures that --bench prints, in the
# same words and to the same digits.
BEGIN { FS = "," }

FNR == 1 { file++; next }

file == 1 {
    if (!($4 in side_number)) {
        side_number[$4] = ++sides
        side_name[sides] = $4
    }
    side_of[$1] = side_number[$4]
    if (!($5 in work_seen)) {
        work_seen[$5] = ++works
        work_name[works] = $5
    }
    if ($2 > 0) {
        s = side_number[$4]
        pass = ($2 - 1) * 2 + $3
        cpu[s, pass] += $7
        start[s, pass] += $8
        work_cpu[s, work_seen[$5], pass] += $7 - $8
        wall[s, pass] += $9
        pass_of[$1] = pass
        if ($2 > blocks)
            blocks = $2
    }
    next
}

# A frame: warm ones are those until the first that is not.
$4 != "warm" {
    run = $1
    s = side_of[run]
    n = ++frames[s]
    ms[s, n] = $7 + 0
    sum[s] += $7
    if ($7 * 35 <= 1000 + 1e-9)
        steady[s]++
    # The 35 frames before it, in its run.
    k = ++of_run[run]
    recent[run, k] = $7 + 0
    before = k - 1 < 35 ? k - 1 : 35
    mean = 0
    for (i = 1; i <= before; i++)
        mean += recent[run, k - i]
    if (before && $7 * before > 2.5 * mean)
        stutter[s] += $7
    delete recent[run, k - 36]
    run_ms[run, k] = $7 + 0
    emulating[s] += $8
    retired[s] += $11
    credited[s] += $12
    skipped[s] += $13
}

# Heap sort of v[1..n].
function sort(v, n,    i, t) {
    for (i = int(n / 2); i >= 1; i--)
        sift(v, i, n)
    for (i = n; i > 1; i--) {
        t = v[1]; v[1] = v[i]; v[i] = t
        sift(v, 1, i - 1)
    }
}

function sift(v, i, n,    child, t) {
    while ((child = 2 * i) <= n) {
        if (child < n && v[child + 1] > v[child])
            child++
        if (v[i] >= v[child])
            return
        t = v[i]; v[i] = v[child]; v[child] = t
        i = child
    }
}

function median(v, n) {
    if (!n)
        return 0
    sort(v, n)
    return (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2
}

function rank(n, permille,    r) {
    r = int((n * permille + 999) / 1000)
    return r ? r : 1
}

function median_pass(table, s,    v, i) {
    for (i = 1; i <= passes; i++)
        v[i] = table[s, i]
    return median(v, passes)
}

# Share of a normal distribution beyond x: the integral, by Simpson's rule.
function beyond(x,    n, h, i, total, z) {
    n = 20000; h = 12 / n
    for (i = 0; i <= n; i++) {
        z = x + i * h
        total += exp(-z * z / 2) * (i == 0 || i == n ? 1 : i % 2 ? 4 : 2)
    }
    return total * h / 3 / sqrt(2 * 3.14159265358979323846)
}

function next_draw(count) {
    state = (state * 48271) % 2147483647
    return int(state * count / 2147483647)
}

# The mean of the middle half.
function middle_mean(v, n,    i, cut, total) {
    sort(v, n)
    cut = int(n / 4)
    for (i = cut + 1; i <= n - cut; i++)
        total += v[i]
    return total / (n - 2 * cut)
}

# Block by block, a / b; blocks drawn 10,000 times. Sets ratio, low, high.
function interval(a, b,    i, k, r, v, student, drawn, outside) {
    for (k = 1; k <= blocks; k++)
        v[k] = r[k] = log(a[2 * k - 1] + a[2 * k]) - log(b[2 * k - 1] + b[2 * k])
    ratio = exp(middle_mean(v, blocks))
    if (blocks < 6)
        return 0
    split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228 2.201 2.179 2.160 2.145 2.131 2.120 2.110 2.101 " \
        "2.093 2.086 2.080 2.074 2.069 2.064 2.060 2.056 2.052 2.048 2.045 2.042", student, " ")
    outside = int(10000 * beyond(student[blocks - 2 * int(blocks / 4) - 1] * sqrt(blocks / (blocks - 1))))
    state = 1 + seed % 2147483646
    for (i = 1; i <= 10000; i++) {
        for (k = 1; k <= blocks; k++)
            v[k] = r[1 + next_draw(blocks)]
        drawn[i] = middle_mean(v, blocks)
    }
    sort(drawn, 10000)
    low = exp(drawn[outside + 1])
    high = exp(drawn[10000 - outside])
    return 1
}

function row(label, format, table,    s) {
    printf "%s", label
    for (s = 1; s <= sides; s++)
        printf " " format, table[s]
    print ""
}

function print_ratio(what, a, b, first, second,    enough) {
    enough = interval(a, b)
    printf "%s: %s / %s %.4f", what, side_name[first], side_name[second], ratio
    if (enough)
        printf ", 95 %% interval %.4f to %.4f", low, high
    print ""
}

END {
    passes = 2 * blocks
    for (s = 1; s <= sides; s++) {
        f_cpu[s] = median_pass(cpu, s)
        f_start[s] = median_pass(start, s)
        f_wall[s] = median_pass(wall, s)
        n = frames[s]
        split("", v)
        for (i = 1; i <= n; i++)
            v[i] = ms[s, i]
        sort(v, n)
        f50[s] = v[rank(n, 500)]; f95[s] = v[rank(n, 950)]; f99[s] = v[rank(n, 990)]; f999[s] = v[rank(n, 999)]
        f_max[s] = v[n]
        slow = int((n + 99) / 100)
        slowest = 0
        for (i = n - slow + 1; i <= n; i++)
            slowest += v[i]
        f_fps[s] = n * 1000 / sum[s]
        f_low[s] = 1000 / f99[s]
        f_low_average[s] = slow * 1000 / slowest
        f_stutter[s] = 100 * stutter[s] / sum[s]
        f_steady[s] = 100 * steady[s] / n
        f_mips[s] = retired[s] / emulating[s] / 1000
        f_both[s] = (retired[s] + credited[s]) / emulating[s] / 1000
        f_credited[s] = credited[s] / passes
        f_skipped[s] = skipped[s] / passes
    }
    row("CPU seconds a pass, median", "%.4f", f_cpu)
    row("of these until the first turn was over", "%.4f", f_start)
    row("wall seconds a pass, median", "%.4f", f_wall)
    row("ms a frame, median", "%.4f", f50)
    row("ms, 95 % of the frames at most (p95)", "%.4f", f95)
    row("ms, 99 % (p99)", "%.4f", f99)
    row("ms, 99.9 % (p99.9)", "%.4f", f999)
    row("ms, the slowest frame", "%.4f", f_max)
    row("frames a second, all", "%.1f", f_fps)
    row("frames a second, 1 % low by percentile", "%.1f", f_low)
    row("frames a second, 1 % low by average", "%.1f", f_low_average)
    row("% of the time in frames that stutter", "%.2f", f_stutter)
    row("% of the frames within 1/35 s", "%.2f", f_steady)
    row("million guest instructions a second", "%.1f", f_mips)
    row("the same, with those left out", "%.1f", f_both)
    row("instructions left out (credited), pass", "%.0f", f_credited)
    row("rounds of loops skipped, pass", "%.0f", f_skipped)

    for (i = 1; i <= passes; i++) {
        one[i] = cpu[1, i] - start[1, i]; two[i] = cpu[2, i] - start[2, i]
    }
    print_ratio("CPU time", one, two, 1, 2)
    for (run in pass_of) {
        split("", v)
        for (i = 1; i <= of_run[run]; i++)
            v[i] = run_ms[run, i]
        if (side_of[run] == 1)
            one_frame[pass_of[run]] += median(v, of_run[run])
        else
            two_frame[pass_of[run]] += median(v, of_run[run])
    }
    print_ratio("median frame", one_frame, two_frame, 1, 2)
}
