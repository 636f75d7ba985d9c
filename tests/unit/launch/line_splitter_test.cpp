// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/line_splitter.h"

#include <doctest/doctest.h>

#include <vector>

using stapgen::launch::LineSplitter;

namespace {

std::string split(const std::vector<std::string>& chunks, std::size_t limit = 8) {
    std::string seen;
    LineSplitter splitter(
        [&](std::string_view line, bool cut) { seen += "[" + std::string(line) + (cut ? "+]" : "]"); }, limit);
    for (const auto& chunk : chunks)
        splitter.feed(chunk);
    splitter.finish();
    return seen;
}

}  // namespace

TEST_CASE("lines do not depend on how the bytes arrive") {
    CHECK(split({"ab\ncd\n\nef\n"}) == "[ab][cd][][ef]");
    CHECK(split({"a", "b\nc", "d\n", "\nef", "\n"}) == "[ab][cd][][ef]");
    CHECK(split({"ab", "\n", "\n"}) == "[ab][]");
    CHECK(split({}).empty());
}

TEST_CASE("a last line whose end never came is handed out as cut: its last number may be half of one") {
    CHECK(split({"ab\nrx\t12"}) == "[ab][rx\t12+]");
}

TEST_CASE("a line is cut at the limit, wherever the bytes are broken") {
    CHECK(split({"123456789\nnext\n"}) == "[12345678+][next]");
    CHECK(split({"1234", "5678", "9", "0\nnext\n"}) == "[12345678+][next]");
    CHECK(split({"12345678\n"}) == "[12345678]");
    CHECK(split({"1234", "5678\n"}) == "[12345678]");
    CHECK(split({"123456789"}) == "[12345678+]");
}
