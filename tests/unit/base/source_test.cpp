// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/source.h"

#include <doctest/doctest.h>
#include <iconv.h>

#include <random>

#include "base/files.h"
#include "base/limits.h"
#include "unit/packed.h"

using namespace stapgen::base;

namespace {

constexpr std::string_view kallsyms = "ffffffff81000000 T _text\nffffffff81000100 t helper\n";

}  // namespace

TEST_CASE("a file may be packed in the usual ways") {
    const auto folder = PrivateDirectory::create();
    const auto file = folder->path() / "kallsyms";
    for (const auto& content :
         {std::string(), std::string(kallsyms), packed::gzip(kallsyms), packed::zstd(kallsyms), packed::xz(kallsyms)}) {
        REQUIRE(replace_file(file, content));
        CHECK(read_unpacked(file, limits::kernel_text_bytes) == (content.empty() ? content : std::string(kallsyms)));
    }
    auto broken = packed::gzip(kallsyms);
    broken.resize(broken.size() / 2);
    REQUIRE(replace_file(file, broken));
    const auto result = read_unpacked(file, limits::kernel_text_bytes);
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::bad_input);
}

TEST_CASE("no more is unpacked than what was asked for") {
    const auto folder = PrivateDirectory::create();
    const auto file = folder->path() / "kallsyms";
    REQUIRE(create_file(file, packed::gzip(kallsyms)));
    CHECK(read_unpacked(file, kallsyms.size()) == std::string(kallsyms));
    const auto larger = read_unpacked(file, kallsyms.size() - 1);
    REQUIRE(!larger);
    CHECK(larger.error().what.find("is larger than") != std::string::npos);
}

TEST_CASE("UTF-16 becomes UTF-8 as iconv has it, with a ? for half a character") {
    const auto folder = PrivateDirectory::create();
    const auto file = folder->path() / "text";
    const auto converted = [&](const std::string& bytes) {
        REQUIRE(replace_file(file, bytes));
        return read_unpacked(file, 1U << 24U).value();
    };
    using namespace std::string_literals;
    CHECK(converted("\xff\xfe"s + "a\0\x3d\xd8\x00\xdeg\0"s) == "a\xf0\x9f\x98\x80g");
    CHECK(converted("\xfe\xff"s + "\0a\xd8\0\0b\xdc\0\0c"s) == "a?b?c");
    CHECK(converted("\xff\xfe"s + "a\0b"s) == "a");

    const auto by_iconv = [](std::string bytes) {
        auto* const converter = ::iconv_open("UTF-8", "UTF-16LE");
        std::string text, room(4 * bytes.size(), '\0');
        char* from = bytes.data();
        std::size_t left = bytes.size();
        while (left > 0) {
            char* to = room.data();
            std::size_t space = room.size();
            const auto done = ::iconv(converter, &from, &left, &to, &space);
            text.append(room.data(), to);
            if (done != static_cast<std::size_t>(-1) || errno == EINVAL) break;
            text += '?';
            from += 2;
            left -= 2;
        }
        ::iconv_close(converter);
        return text;
    };
    // More than is read at once, a third of it halves of characters.
    std::mt19937 random(20);
    std::string bytes;
    for (int i = 0; i < 200'000; ++i) {
        const auto unit = random() % 3 == 0 ? 0xd800U + random() % 0x800U : 0x20U + random() % 0xff00U;
        bytes += {static_cast<char>(unit & 0xffU), static_cast<char>(unit >> 8U)};
    }
    CHECK(converted("\xff\xfe" + bytes) == by_iconv(bytes));
}
