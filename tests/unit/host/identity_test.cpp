// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/elf_notes.h"
#include "fakes/system/fake_system.h"
#include "host/facts.h"

using namespace stapgen::host;
using stapgen::base::parse_build_id;

namespace {

/// A note with sizes as they are; name and content already padded.
std::string note(char name_size, char size, char type, std::string_view rest) {
    return std::string{name_size, 0, 0, 0, size, 0, 0, 0, type, 0, 0, 0}.append(rest);
}

}  // namespace

TEST_CASE("the build-id is found among other notes, and not in broken ones") {
    using namespace std::string_view_literals;
    const auto other = note(6, 5, 1, "Xen\0\0\0\0\0abcde\0\0\0"sv), same_name = note(4, 4, 5, "GNU\0wxyz"sv),
               id = note(4, 3, 3, "GNU\0\x01\xab\xff\0"sv);
    CHECK(parse_build_id(other + same_name + id + other) == "01abff");
    CHECK(parse_build_id(other + same_name).empty());
    CHECK(parse_build_id("").empty());
    const auto all = other + id;
    for (std::size_t size = 0; size + 1 < all.size(); ++size)
        CHECK(parse_build_id(all.substr(0, size)).empty());
    CHECK(parse_build_id(std::string(64, '\xff')).empty());
}

TEST_CASE("the kernel's place is reported where it can be seen, and nothing where it is hidden") {
    FakeSystem system;
    system.files["/proc/sys/kernel/hostname"] = "web-17\n";
    auto& symbols = system.files["/proc/kallsyms"];
    symbols =
        "ffffffffa1c00000 T _text\nffffffffa1c00007 T _stext\nffffffffa1c00011 t pre_etext\nffffffffa3000013 T "
        "_etext\nffffffffc0000000 t _text_of\t[mod]\n";
    auto seen = read_kernel_identity(system);
    CHECK(host_name(system) == "web-17");
    CHECK(seen.release == "6.1.0-56-amd64");
    CHECK(seen.text == 0xffffffffa1c00000);
    CHECK(seen.stext == 0xffffffffa1c00007);
    CHECK(seen.etext == 0xffffffffa3000013);
    symbols = "0000000000000000 T _text\n0000000000000000 T _etext\n";
    const auto hidden = read_kernel_identity(system);
    CHECK_FALSE(hidden.text);
    CHECK_FALSE(hidden.stext);
    CHECK_FALSE(hidden.etext);
    CHECK(host_name(FakeSystem()).empty());
}

TEST_CASE("a file is read to the word that is looked for, which may lie across two pieces, or to its end") {
    const auto system = real_system();
    const auto path = std::filesystem::temp_directory_path() / fmt::format("stapgen-read-until-{}", getpid());
    for (const std::size_t before : {0, 262'140, 262'144, 700'001}) {
        CAPTURE(before);
        std::ofstream(path) << std::string(before, '.') << " _etext\n" << std::string(1'000'003, 'x');
        const auto content = system->read_until(path, " _etext\n");
        REQUIRE(content);
        CHECK(content->find(" _etext\n") == before);
        CHECK(content->size() < before + 300'000);
        CHECK(system->read_until(path, "no such word")->size() == before + 8 + 1'000'003);
    }
    std::filesystem::remove(path);
    CHECK_FALSE(system->read_until(path, "x"));
}

TEST_CASE("a machine is known by a hash of its id, which it is not told from") {
    FakeSystem system;
    CHECK(machine_of(system).empty());
    auto& file = system.files["/etc/machine-id"];
    file = "51df0b4bc3b04c9780e299b98ca373b8\n";
    // systemd-id128 machine-id --app-specific=a25a08b247db439596714c022c0ed5ed
    CHECK(machine_of(system) == "d2f5ebf129ee49b196210dc877f5b2db");
    file = "51df0b4bc3b04c9780e299b98ca373b9\n";
    CHECK(machine_of(system).size() == 32);
    CHECK(machine_of(system) != "d2f5ebf129ee49b196210dc877f5b2db");
    for (const auto* none :
         {"", "uninitialized\n", "51df0b4bc3b04c9780e299b98ca373\n", "no hexadecimal digits are here!!\n"}) {
        file = none;
        CHECK(machine_of(system).empty());
    }
}
