// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef STAPGEN_TESTS_SHIM_JIFFIES_H
#define STAPGEN_TESTS_SHIM_JIFFIES_H
#include "../kernel_shim.h"
SHIM_THREAD_LOCAL unsigned long jiffies;
#endif
