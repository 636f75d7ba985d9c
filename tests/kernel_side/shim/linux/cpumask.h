// SPDX-License-Identifier: GPL-2.0-or-later
#include "../kernel_shim.h"
