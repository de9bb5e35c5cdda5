// SPDX-License-Identifier: MIT
// Figures of frame times in a report.
#ifndef FRONTEND_STATISTICS_JSON_H
#define FRONTEND_STATISTICS_JSON_H

#include <cjson/cJSON.h>

#include "statistics.h"

// Adds them to the object of a variant: frontend/bench/README.md says under which names.
void statistics_add(cJSON *variant, const struct frame_statistics *statistics);

#endif
