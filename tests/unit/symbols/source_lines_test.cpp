// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/source_lines.h"

#include <fmt/format.h>

#include <cstring>

#include "fake_kernel.h"
#include "symbols/files/module_file.h"

using namespace stapgen;
using namespace stapgen::symbols;
using namespace fake_kernel;

namespace {

SourceLines open(const std::filesystem::path& path) {
    auto lines = SourceLines::open(path);
    if (!lines) FAIL(lines.error().what);
    return *std::move(lines);
}

std::string at(const SourceLines& lines, std::uint64_t address) {
    std::string text;
    for (const auto& frame : lines.at(address))
        text += fmt::format("{} {}:{}{}\n", frame.function, frame.file, frame.line, frame.inlined ? " inlined" : "");
    return text;
}

/// The number of the one line of a file of tests/fakes/kernel that has `part` in it.
int line_of(std::string_view file, std::string_view part) {
    const auto text = content(std::filesystem::path(FAKE_KERNEL_SOURCE) / file);
    const auto lines = base::split(text, '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].find(part) != std::string_view::npos) return static_cast<int>(i) + 1;
    }
    FAIL(part);
    return 0;
}

constexpr std::string_view core = "net/fake_core.c";

}  // namespace

TEST_CASE("an address has its line, and the functions inlined there from the innermost out") {
    const auto lines = open(vmlinux);
    CHECK(at(lines, address_of("place_free")) ==
          fmt::format("kfree_skb_reason {}:{}\n", core, line_of(core, "PLACE(free)")));
    CHECK(at(lines, address_of("place_inlined")) ==
          fmt::format("checked {0}:{1} inlined\nvalidated {0}:{2} inlined\nfake_rcv {0}:{3}\n", core,
                      line_of(core, "PLACE(inlined)"), line_of(core, "return checked(length)"),
                      line_of(core, "if (validated(length))")));
    CHECK(at(lines, address_of("place_init")) == fmt::format("fake_init {}:{}\n", core, line_of(core, "PLACE(init)")));
    // The byte before a return address is in the call.
    CHECK(at(lines, address_of("place_after_call") - 1) ==
          fmt::format("fake_rcv {}:{}\n", core, line_of(core, "kfree_skb_reason(3)")));
}

TEST_CASE("an address outside of all code has no line") {
    const auto lines = open(vmlinux);
    CHECK(lines.at(0).empty());
    CHECK(lines.at(address_of("_etext")).empty());
    CHECK(lines.at(address_of("packets")).empty());
    CHECK(lines.at(address_of("_text") - 1).empty());
    CHECK(lines.at(~std::uint64_t{0}).empty());
}

TEST_CASE("a module's lines are those of the places its functions are loaded to") {
    const auto lines = open(module);
    const auto file = read_module_file(module);
    REQUIRE(file);
    const auto in_c = line_of("net/fake_filter.c", "filtered += length");
    CHECK(file->functions.back().name == "filter_in_c");
    CHECK(at(lines, file->functions.back().offset) == fmt::format("filter_in_c net/fake_filter.c:{}\n", in_c));
    // Code of the start is loaded elsewhere, and what is at 0 is none of it.
    CHECK(at(lines, 0).find("filter_start") == std::string::npos);
    CHECK(at(lines, 32).find("filter_start") == std::string::npos);
}

TEST_CASE("packed files have lines, too") {
    const auto bytes = content(vmlinux);
    for (const auto& packed_bytes : {gzip(bytes), xz(bytes), zstd(bytes)}) {
        const File file(packed_bytes);
        CHECK(!open(file.path()).at(address_of("place_free")).empty());
    }
}

TEST_CASE("a file without DWARF is reported, with the package that has it") {
    auto bytes = content(vmlinux);
    bytes.replace(bytes.rfind(".debug_info"), 11, ".nebug_info");
    const File file(bytes);
    for (const auto& path : {file.path(), system_map}) {
        const auto lines = SourceLines::open(path);
        REQUIRE(!lines);
        CHECK(lines.error().what.find("has no DWARF") != std::string::npos);
        CHECK(lines.error().hint.find("linux-image-RELEASE-dbg") != std::string::npos);
    }
    CHECK(!SourceLines::open("/no/such/vmlinux"));
}

TEST_CASE("a section whose size is wrong is read or refused with a reason") {
    constexpr std::size_t first_header_at = 0x28, header_size = 64, size_at = 32;  // Elf64_Ehdr, Elf64_Shdr
    const auto bytes = content(module);
    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data() + first_header_at, sizeof header);
    for (; header + header_size <= bytes.size(); header += header_size) {
        auto damaged = bytes;
        damaged[header + size_at + 1] = static_cast<char>(damaged[header + size_at + 1] ^ 8);
        const File file(damaged);
        const auto lines = SourceLines::open(file.path());
        if (!lines) CHECK_FALSE(lines.error().what.empty());
    }
}

TEST_CASE("DWARF that is damaged anywhere is read or refused") {
    const auto bytes = content(vmlinux);
    const auto place = address_of("place_inlined");
    for (std::size_t at = 4; at < bytes.size(); at += at < 0x3000 ? 503 : 13) {
        auto damaged = bytes;
        damaged[at] = static_cast<char>(~damaged[at]);
        const File file(damaged);
        const auto lines = SourceLines::open(file.path());
        if (lines) CHECK(lines->at(place).size() < 100);
    }
}
