// SPDX-License-Identifier: MIT
// Checks dispatch-10279 on all 2^32 instruction words: each is decoded and counted under the net's input that
// it has, then the net is asked once for every input that occurs.
#include "dispatch_tool.h"

#include <inttypes.h>

#include "core/base/clock.h"

int dispatch_verify(const struct tool_options *options)
{
    static struct dispatch_net net;
    struct error error;
    struct word_census census;
    struct dispatch_score score;
    char base[1024];
    double start = clock_seconds();
    if (!dispatch_load(tool_path(base, sizeof base, options->folder, DISPATCH_NAME), &net, &error))
        return tool_fail(&error);
    if (!words_count(&census, options->quick ? WORDS_REPRESENTED : WORDS_EVERY, options->threads,
                     options->quick ? NULL : stderr, &error))
        return tool_fail(&error);
    double counted = clock_seconds();
    dispatch_score(&net, &census, &score);
    double evaluated = clock_seconds();

    printf("model %s\n%" PRIu64
           " words decoded%s on %u thread%s in %.1f s; net evaluated on %u input vectors in "
           "%.2f s\n\n",
           base, census.decoded, options->quick ? ", each for all that cannot differ from it," : "",
           options->threads, options->threads == 1 ? "" : "s", counted - start, score.vectors,
           evaluated - counted);
    printf("%-16s %13s %13s\n", "kernel", "allocated", "mismatches");
    for (unsigned k = 0; k < DISPATCH_KERNELS; k++)
        printf("%-16s %13" PRIu64 " %13" PRIu64 "\n", dispatch_kernel_names[k], census.by_kernel[k],
               score.wrong_by_kernel[k]);
    if (score.wrong_vectors)
        printf("\nfirst wrong vector: top byte %02x, features %03x\n", score.first_wrong >> DISPATCH_FEATURES,
               score.first_wrong & ((1u << DISPATCH_FEATURES) - 1));
    else
        printf("\nsmallest margin of a right answer: %.2f\n", (double)score.margin);
    printf("words %" PRIu64 " allocated %" PRIu64 " mismatches %" PRIu64 "\n", census.words, census.allocated,
           score.wrong_words);
    words_free(&census);
    return score.wrong_words ? 1 : 0;
}
