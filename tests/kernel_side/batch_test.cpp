// SPDX-License-Identifier: GPL-2.0-or-later
// Lines that are kept for each CPU, and handed over many at a time: tapsets/c/batch.h.
#include <doctest/doctest.h>

#include "world.h"

// world.h is first: it has what the C is made of.
#include "c/batch.h"

namespace {

/// Nothing is kept, and nothing was printed.
void begin() {
    std::memset(stapgen_batches, 0, sizeof(stapgen_batches));
    stapgen_keep_lines();
    shim_printed.clear();
    shim_handed_over.clear();
    shim_came_late = false;
    shim_cpu = 0;
}

/// A line of so many bytes with its end.
std::string print(int bytes, char of) {
    stapgen_line line;
    line.length = 0;
    for (int i = 1; i < bytes; ++i)
        stapgen_put_byte(&line, of);
    stapgen_print_record(&line);
    return std::string(static_cast<std::size_t>(bytes - 1), of) + '\n';
}

/// Fills a batch but for so many bytes.
std::string fill_but(int rest) {
    std::string all;
    for (char of = 'a'; static_cast<int>(all.size()) < STAPGEN_BATCH - rest; of = of == 'z' ? 'a' : char(of + 1))
        all += print(std::min(500, STAPGEN_BATCH - rest - static_cast<int>(all.size())), of);
    return all;
}

}  // namespace

TEST_CASE("a line is kept until the batch is full or somebody asks, and is handed over once") {
    begin();
    const auto first = print(17, 'x'), second = print(101, 'y');
    CHECK(shim_printed.empty());
    stapgen_hand_over_all();
    CHECK(shim_printed == first + second);
    CHECK(shim_handed_over == shim_printed);
    stapgen_hand_over_all();
    CHECK(shim_printed == first + second);
}

TEST_CASE("where nobody asks for what is kept, each line is handed over by itself") {
    begin();
    stapgen_keeps_lines = 0;
    const auto line = print(17, 'x');
    CHECK(shim_printed == line);
    stapgen_hand_over_all();
    CHECK(shim_printed == line);
}

TEST_CASE("a full batch is kept, and with one byte more its lines are handed over, whole and in their order") {
    for (const int rest : {19, 18, 17, 1}) {
        CAPTURE(rest);
        begin();
        const auto before = fill_but(rest);
        CHECK(shim_printed.empty());
        const auto line = print(18, 'X');
        const auto is_full = rest < 18;
        CHECK(shim_printed == (is_full ? before : ""));
        CHECK(shim_handed_over == shim_printed);
        CHECK(stapgen_batches[0].length == static_cast<int>(is_full ? line.size() : before.size() + line.size()));
        stapgen_hand_over_all();
        CHECK(shim_printed == before + line);
    }
    static_assert(int{STAPGEN_LINE} < int{STAPGEN_BATCH});
}

TEST_CASE("each CPU has its own batch, up to 64, and another one hands it over") {
    begin();
    shim_cpu = 1;
    const auto first = print(17, 'x');
    shim_cpu = 63;
    const auto second = print(17, 'y');
    shim_cpu = 64 + 1;
    const auto third = print(17, 'z');
    CHECK(stapgen_batches[1].length == 2 * 17);
    CHECK(stapgen_batches[63].length == 17);
    shim_cpu = 5;
    stapgen_hand_over_all();
    CHECK(shim_printed == first + third + second);
}

TEST_CASE("on a CPU for which SystemTap takes nothing lines are kept for another one, as many as have room") {
    begin();
    shim_cpu = 3;
    const auto before = fill_but(17);
    shim_came_late = true;
    print(18, 'X');
    stapgen_hand_over_all();
    CHECK(stapgen_batches[3].length == static_cast<int>(before.size()));
    shim_came_late = false;
    shim_cpu = 0;
    shim_printed.clear();
    stapgen_hand_over_all();
    CHECK(shim_printed == before);
}
