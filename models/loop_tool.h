// SPDX-License-Identifier: MIT
// neuromodel's commands that make the training data of the loop nets.
#ifndef MODELS_LOOP_TOOL_H
#define MODELS_LOOP_TOOL_H

#include "tool.h"

tool_command loop_generate; // of generated programs

#endif
