// SPDX-License-Identifier: MIT
// The commands of neuromodel for the dispatch nets. Each returns the program's exit status and says on stderr
// what went wrong.
#ifndef MODELS_DISPATCH_TOOL_H
#define MODELS_DISPATCH_TOOL_H

// Shows which features the kernels need.
int dispatch_generate(void);

#endif
