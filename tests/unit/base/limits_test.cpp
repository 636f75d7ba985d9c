// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/limits.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json_text.h"
#include "base/source.h"
#include "base/toml_table.h"
#include "unit/packed.h"

using namespace stapgen::base;

namespace {

std::string repeated(std::string_view text, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i)
        all += text;
    return all;
}

std::string nested(std::size_t depth) {
    return repeated("[", depth) + repeated("]", depth);
}

}  // namespace

TEST_CASE("JSON from outside is read up to a depth and a number of values") {
    CHECK(parse_json(nested(limits::json_depth)).value().is_array());
    CHECK(parse_json("nonsense").value().is_discarded());
    CHECK(parse_json(repeated("[", limits::json_depth)).value().is_discarded());
    for (const auto& deep : {nested(limits::json_depth + 1), repeated("[", 1'000'000), repeated("{\"a\":", 100'000)}) {
        const auto read = parse_json(deep);
        REQUIRE_FALSE(read);
        CHECK(read.error().kind == ErrorKind::bad_input);
        CHECK(read.error().what.find("64 deep") != std::string::npos);
    }
    const auto many = "[" + repeated("0,", limits::json_values - 2) + "0]";
    CHECK(parse_json(many).value().size() == limits::json_values - 1);
    CHECK_FALSE(parse_json("[0," + many.substr(1)));
    CHECK_FALSE(parse_json(std::string(limits::json_bytes + 1, ' ')));
}

TEST_CASE("a file that is too large is an error, and one that was only found has to be a file") {
    const auto folder = PrivateDirectory::create();
    const auto file = folder->path() / "file", pipe = folder->path() / "pipe";
    REQUIRE(create_file(file, "1234"));
    CHECK(read_named(file, 4) == "1234");
    CHECK(read_found(file, 4) == "1234");
    CHECK(read_named(file, 3).error().what.find("larger than 3 bytes") != std::string::npos);
    CHECK(read_found(file, 3).error().kind == ErrorKind::bad_input);
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(read_found(pipe, 4).error().what.find("not a regular file") != std::string::npos);
    CHECK_FALSE(read_found(folder->path() / "none", 4));
}

TEST_CASE("what is packed unpacks to so many times its bytes at most") {
    const auto folder = PrivateDirectory::create();
    const auto file = folder->path() / "packed";
    const std::string text(limits::held_bytes.free + 64 * limits::mega, '\n');
    for (const auto& bytes : {packed::gzip(text), packed::zstd(text), packed::xz(text)}) {
        REQUIRE(replace_file(file, bytes));
        const auto read = read_unpacked(file, limits::kernel_text_bytes);
        REQUIRE_FALSE(read);
        CHECK(read.error().what.find("24 times") != std::string::npos);
    }
    REQUIRE(replace_file(file, packed::gzip(std::string(limits::held_bytes.free, '\n'))));
    CHECK(read_unpacked(file, limits::kernel_text_bytes).value().size() == limits::held_bytes.free);
}

TEST_CASE("TOML is not read deeper than it is used") {
    const auto what_of = [](const std::string& text) {
        const auto read = read_toml({text, "file", "the file", "", ""}, [](TomlTable& /*table*/) {});
        return read ? std::string() : read.error().what;
    };
    for (const auto& deep : {"a = " + repeated("[", 100'000), "a = " + repeated("{a=", 100'000),
                             "a" + repeated(".a", 100'000) + " = 1\n", "[a" + repeated(".a", 100'000) + "]\n"})
        CHECK(what_of(deep) == "file: tables or lists in it are more than 16 deep");
    // Dots and brackets that nest nothing.
    const auto dots = repeated(".", 100) + repeated("[", 100);
    for (const auto& fine : {"a = \"\\\"" + dots + "\"\n", "a = '" + dots + "'\n", "a = '''\n" + dots + "'''\n",
                             "a = \"\"\"\n" + dots + "\"\"\"\n", "# " + dots + "\na = 1\n",
                             "a = [" + repeated("1.5, ", 100) + "]\n", repeated("[[a]]\nb = 1.5\n", 100)})
        CHECK(what_of(fine) == "");
}
