// SPDX-License-Identifier: MIT
#ifndef CORE_BASE_HUGE_PAGES_H
#define CORE_BASE_HUGE_PAGES_H

#include <stdbool.h>

// Whether memory is better taken in huge pages of 2 MB. Not in a virtual machine whose kernel reports free
// pages to the machine's host (Linux, mm/page_reporting.c), which takes them away: when one is used again,
// the host finds each of its small pages first, in 4 to 15 ms instead of 0.3; small pages are mostly such as
// have just been in use.
bool huge_pages_pay(void);

#endif
