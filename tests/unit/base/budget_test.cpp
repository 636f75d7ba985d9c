// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/budget.h"

#include <doctest/doctest.h>

#include <fstream>

#include "base/files.h"
#include "base/packed.h"
#include "unit/packed.h"

using namespace stapgen::base;

namespace {

/// Reads all of it; false: an error came.
bool read_all(Source& source) {
    std::string piece(1U << 16U, '\0');
    for (;;) {
        const auto count = source.read(piece);
        if (!count) return false;
        if (*count == 0) return true;
    }
}

}  // namespace

TEST_CASE("what an input unpacks to is added up over its members, and grows with what was read") {
    Budget budget("x", {100, 10});
    CHECK(budget.read(5));
    CHECK(budget.unpack(90));
    CHECK(budget.unpack(60));
    REQUIRE_FALSE(budget.unpack(1));
    CHECK(budget.over()->kind == ErrorKind::bad_input);
    // More of it changes nothing any more.
    CHECK_FALSE(budget.read(1000));
    CHECK_FALSE(budget.add_member());
}

TEST_CASE("packed data in packed data is charged to the same input") {
    const auto folder = PrivateDirectory::create().value();
    const auto file = folder.path() / "file";
    constexpr std::size_t size = 100'003;
    std::ofstream(file, std::ios::binary) << packed::gzip(packed::gzip(std::string(size, '\n')));
    const auto unpacked_within = [&](std::uint64_t bytes) {
        const auto budget = std::make_shared<Budget>("x", limits::Allowance{bytes, 0});
        auto outer = unpacked(open_raw(file, budget).value(), "x", budget);
        auto inner = unpacked(*std::move(outer), "x", budget);
        return inner.has_value() && read_all(**inner);
    };
    const auto inner_size = packed::gzip(std::string(size, '\n')).size();
    CHECK(unpacked_within(size + inner_size));
    CHECK_FALSE(unpacked_within(size + inner_size - 1));
    CHECK_FALSE(unpacked_within(size));
}

TEST_CASE("there is so much room for what is kept and copied, and what has none is not charged") {
    Budget budget("x");
    CHECK(budget.keep(limits::kept_bytes - 1));
    CHECK_FALSE(budget.keep(2));
    CHECK(budget.keep(1));
    CHECK_FALSE(budget.keep(1));
    CHECK(budget.copy(limits::copied_bytes.free));
    CHECK_FALSE(budget.copy(1));
    CHECK(budget.read(1));
    CHECK(budget.copy(limits::copied_bytes.for_each));
    CHECK_FALSE(budget.copy(1));
    CHECK_FALSE(budget.copy(UINT64_MAX));
    CHECK_FALSE(budget.over());
}

TEST_CASE("an input ends where it takes more of a CPU than its bytes allow") {
    const auto goes_on = [](Budget& budget) {
        for (int i = 0; i < 1000; ++i) {
            if (!budget.read(0)) return false;
        }
        return true;
    };
    Budget none("x", limits::unpacked_bytes, {1, 0});
    CHECK_FALSE(goes_on(none));
    Budget usual("x", limits::unpacked_bytes, limits::cpu_ns);
    CHECK(goes_on(usual));
    Budget any("x");
    CHECK(goes_on(any));
}
