// SPDX-License-Identifier: MIT
#include "huge_pages.h"

#include <pthread.h>
#include <stdio.h>

// Free pages of 2 to this power and more are reported, once a driver has asked for that; before, it is
// negative, in older kernels more than the most. There is none before Linux 5.14.
#define ORDER_PATH "/sys/module/page_reporting/parameters/page_reporting_order"
#define ORDER_MOST 10

static bool pay;

static void look(void)
{
    int order = -1;
    FILE *f = fopen(ORDER_PATH, "re");
    pay = !f || fscanf(f, "%d", &order) != 1 || order < 0 || order > ORDER_MOST;
    if (f)
        fclose(f);
}

bool huge_pages_pay(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look);
    return pay;
}
