// SPDX-License-Identifier: GPL-2.0-or-later
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "base/process.h"

int main(int argc, char** argv) {
    // As the program does: before a test starts a thread.
    stapgen::base::take_signals();
    return doctest::Context(argc, argv).run();
}
