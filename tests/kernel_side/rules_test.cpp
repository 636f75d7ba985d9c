// SPDX-License-Identifier: GPL-2.0-or-later
// The shim tells on what is forbidden while a lock is held.
#include <doctest/doctest.h>

#include <stdexcept>

#define SHIM_RULES_OF_TEST
#include "world.h"

void shim_broke_rule(const char* rule) {
    shim_held = 0;
    throw std::runtime_error(rule);
}

#include "c/line.h"
#include "c/lock.h"

TEST_CASE("with a lock held nothing of the kernel is read, nothing printed, and no other lock taken") {
    struct stapgen_lock one {
    }, two{};
    const void* fault = nullptr;
    stapgen_line line{};
    const int value = 17;
    CHECK(STAPGEN_READ(&value, &fault) == 17);
    stapgen_lock(&one);
    CHECK_THROWS_WITH((void)STAPGEN_READ(&value, &fault), "kernel memory is read");
    one = {};
    stapgen_lock(&one);
    CHECK_THROWS_WITH(stapgen_print_line(&line), "something is printed");
    one = {};
    stapgen_lock(&one);
    CHECK_THROWS_WITH(stapgen_lock(&two), "another lock is taken");
    one = {};
    CHECK_THROWS_WITH(stapgen_unlock(&one), "a lock is given back that is not held");
    stapgen_lock(&one);
    stapgen_unlock(&one);
    stapgen_lock(&two);
    stapgen_unlock(&two);
    CHECK(one.bit == 0);
    CHECK(two.bit == 0);
}
