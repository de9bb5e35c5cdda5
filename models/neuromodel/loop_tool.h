// SPDX-License-Identifier: MIT
// neuromodel's commands that make the training data of the loop nets.
#ifndef MODELS_LOOP_TOOL_H
#define MODELS_LOOP_TOOL_H

#include "tool.h"

tool_command loop_generate; // of generated programs
tool_command loop_generate_from_libraries; // cut out of Debian's
tool_command loop_collect; // of the run of a real one, which the files are, with its arguments

#endif
