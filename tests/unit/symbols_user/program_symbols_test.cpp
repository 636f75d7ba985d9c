// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/user/program_symbols.h"

#include <doctest/doctest.h>

#include "made_elf.h"
#include "unit/packed.h"

namespace stapgen::symbols::user {

namespace {

using made::Section, made::Symbol;

const std::vector<Symbol> symbols{{"outer", 0x401010, 0x100},
                                  {"inner", 0x401050, 0x10},
                                  {"_ZN3app6encodeEi", 0x401200, 0x40},
                                  {"_encode_alias", 0x401200, 0x40, STT_FUNC, STB_LOCAL},
                                  {"by_hand", 0x401300, 0, STT_NOTYPE},
                                  {"$x", 0x401304, 0, STT_NOTYPE, STB_LOCAL},
                                  {"cache_lock", 0x404100, 40, STT_OBJECT}};

std::string with_symbols(const std::vector<Symbol>& of = symbols, bool dynamic = false) {
    return made::elf(made::symbol_sections(of, 1, dynamic), "\x12\xab\xff\x01");
}
ProgramSymbols read(std::string bytes, const ProgramSymbols::OpenDebug& open_debug = {}) {
    return ProgramSymbols::read(ProgramFile(std::move(bytes)), open_debug);
}
std::string name_at(const ProgramSymbols& of, std::uint64_t address) {
    const auto found = of.find(address);
    return found ? std::string(found->name) + "+" + std::to_string(found->offset) : "";
}

}  // namespace

TEST_CASE("an address has the name of the symbol that covers it, the innermost one") {
    for (const bool dynamic : {false, true}) {
        const auto all = read(with_symbols(symbols, dynamic));
        CHECK(name_at(all, 0x40100f) == "");
        CHECK(name_at(all, 0x401010) == "outer+0");
        CHECK(name_at(all, 0x401055) == "inner+5");
        CHECK(name_at(all, 0x401060) == "outer+80");
        CHECK(name_at(all, 0x401110) == "");
        CHECK(name_at(all, 0x401205) == "_ZN3app6encodeEi+5");
        CHECK(name_at(all, 0x401306) == "by_hand+6");
        CHECK(name_at(all, 0x404101) == "cache_lock+1");
        CHECK(all.find(0x404101)->is_data);
        CHECK(name_at(all, 0x404128) == "");
        CHECK(all.build_id() == "12abff01");
    }
}

TEST_CASE("a place in a file has the address that its segment says") {
    const auto all = read(with_symbols());
    CHECK(all.address_of(0x1000, true) == 0x401000);
    CHECK(all.address_of(0x17ff, true) == 0x4017ff);
    CHECK(all.address_of(0x2000, false) == 0x403000);
    CHECK(all.address_of(0x2fff, true) == std::nullopt);
    CHECK(all.has(0x404fff));  // .bss
    CHECK(!all.has(0x405000));
    CHECK(!all.has(0x400fff));
}

TEST_CASE("a stripped file has the names of .gnu_debugdata and of its debug file") {
    const auto full = with_symbols();
    const auto debugdata = packed::xz(full);
    const std::vector<Symbol> exported{{"exported", 0x401500, 8}};
    auto sections = made::symbol_sections(exported, 1, true);
    sections.push_back({".gnu_debugdata", debugdata});
    const auto with_debugdata = read(made::elf(sections));
    CHECK(name_at(with_debugdata, 0x401501) == "exported+1");
    CHECK(name_at(with_debugdata, 0x401011) == "outer+1");

    std::string asked;
    const auto with_debug = read(made::elf({}, "\x12\xab\xff\x01"), [&](const std::string& build_id) {
        asked = build_id;
        return std::optional(ProgramFile(full));
    });
    CHECK(asked == "12abff01");
    CHECK(name_at(with_debug, 0x401011) == "outer+1");
    // Who has names is not asked for more.
    read(full, [](const std::string&) -> std::optional<ProgramFile> {
        FAIL("asked");
        return std::nullopt;
    });
}

TEST_CASE("a damaged file has no names, and nothing happens") {
    const auto whole = with_symbols();
    const auto look = [](const std::string& bytes) {
        const auto all = read(bytes);
        for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{0x401055}, ~std::uint64_t{0}}) {
            (void)all.find(address);
            (void)all.address_of(address, true);
            (void)all.has(address);
        }
    };
    for (std::size_t size = 0; size < whole.size(); size += size < 0x200 || size > 0x2f00 ? 1 : 97)
        look(whole.substr(0, size));
    // All that says where and how large something is.
    for (std::size_t at = 0; at < whole.size(); at += at < 0x100 || at > 0x2f00 ? 1 : 97) {
        for (const char byte : {'\x00', '\x7f', '\xff'}) {
            auto changed = whole;
            changed[at] = byte;
            look(changed);
        }
    }
    for (std::size_t at = 0; at + 8 <= whole.size(); at += at < 0x100 || at > 0x2f00 ? 4 : 1000) {
        auto changed = whole;
        std::memset(changed.data() + at, 0xff, 8);
        look(changed);
    }
    CHECK(read("").build_id().empty());
    CHECK(read(std::string(100, '\x7f')).build_id().empty());
}

TEST_CASE("names of C++ are told as people write them, and none becomes endless") {
    CHECK(demangled("_ZN3app6encodeEi") == "app::encode(int)");
    CHECK(demangled("json_encode") == "json_encode");
    CHECK(demangled("_Znonsense") == "_Znonsense");
    std::string doubles = "_Z1f1AIiiE";
    for (char c = 'B'; c <= 'Z'; ++c) {
        // Each is a pair of the one before it, by the number of that.
        const auto before = 2 * (c - 'B');
        const std::string number = before == 0    ? "S_"
                                   : before <= 10 ? "S" + std::string(1, static_cast<char>('0' + before - 1)) + "_"
                                                  : "S" + std::string(1, static_cast<char>('A' + before - 11)) + "_";
        doubles += "1" + std::string(1, c) + "I" + number + number + "E";
    }
    CHECK(demangled(doubles) == doubles);
    CHECK(demangled("_Z" + std::string(5000, 'P') + "i").size() == 1024);
}

}  // namespace stapgen::symbols::user
