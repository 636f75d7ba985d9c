// SPDX-License-Identifier: GPL-2.0-or-later
#include "recipe/kernels.h"

#include <doctest/doctest.h>

using namespace stapgen;

TEST_CASE("a release is meant by its version, by the versions around it, or as RHEL's by its elN alone") {
    const std::vector<recipe::KernelRange> ranges = {{"6.12, 7.2", "run", "", {"6.12", "7.2"}, {"x86_64"}},
                                                     {"4.19 to 5.7", "resolved", "", {"4.19-5.7"}},
                                                     {"EL8", "resolved", "", {"4.18", "el8"}},
                                                     {"3.10 to 3.16", "resolved", "", {"3.10-3.16"}}};
    const auto range = [&](std::string_view release) {
        const auto* found = recipe::range_of(ranges, release, "x86_64");
        return found == nullptr ? "" : found->range;
    };
    CHECK(range("6.12.117+deb13-amd64") == "6.12, 7.2");
    CHECK(range("7.2.12+deb14-amd64") == "6.12, 7.2");
    CHECK(range("6.12.0-55.24.1.el10_0.x86_64").empty());
    CHECK(range("6.1.0-56-amd64").empty());
    CHECK(range("4.19.0-6-amd64") == "4.19 to 5.7");
    CHECK(range("5.0.0-29-generic") == "4.19 to 5.7");
    CHECK(range("5.7") == "4.19 to 5.7");
    CHECK(range("5.10.135").empty());
    CHECK(range("4.18.0-240.el8_3.x86_64") == "EL8");
    CHECK(range("4.18.0-25-generic") == "EL8");
    CHECK(range("3.10.0-327.el7.x86_64").empty());
    CHECK(range("3.11.10-301.fc20.x86_64") == "3.10 to 3.16");
    CHECK(recipe::range_of(ranges, "6.12.117+deb13-arm64", "aarch64") == nullptr);
    CHECK(recipe::range_of(ranges, "5.7", "aarch64") != nullptr);
    CHECK(range("").empty());
    CHECK(range("linux").empty());
}

TEST_CASE("a release is older than a version by its first two numbers, and one without numbers is not") {
    CHECK(recipe::is_before("3.10.0-862.2.3.el7.x86_64", "4.16"));
    CHECK(recipe::is_before("4.9.0-6-amd64", "4.16"));
    CHECK_FALSE(recipe::is_before("4.16.0", "4.16"));
    CHECK_FALSE(recipe::is_before("5.4", "4.16"));
    CHECK_FALSE(recipe::is_before("4", "4.16"));
    CHECK_FALSE(recipe::is_before("my-kernel", "4.16"));
}
