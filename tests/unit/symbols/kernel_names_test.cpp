// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kernel_names.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/files.h"
#include "symbols/files/symbol_text.h"

using namespace stapgen;
using namespace stapgen::symbols;

namespace {

/// Of a kernel that KASLR can move.
constexpr std::string_view map =
    "ffffffff81000000 T _text\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81049c70 t dump_kernel_offset\n"
    "ffffffff81760000 T icmp_rcv\n"
    "ffffffff81760350 t icmp_echo\n"
    "ffffffff81790000 T tcp_v4_rcv\n"
    "ffffffff81791107 T tcp_v4_early_demux\n"
    "ffffffff817a0000 t __udp4_lib_rcv\n"
    "ffffffff817a0c43 t udp_recvmsg\n"
    "ffffffff81a00000 T _etext\n";
constexpr std::int64_t names_kaslr_offset = 0x1c000000;

/// The same kernel, as a boot that was moved by `names_kaslr_offset` shows it.
constexpr std::string_view kallsyms =
    "ffffffff9d000000 T _text\n"
    "ffffffff9d000000 T _stext\n"
    "ffffffff9d049c70 t dump_kernel_offset\n"
    "ffffffff9d760000 T icmp_rcv\n"
    "ffffffff9d760350 t icmp_echo\n"
    "ffffffff9d790000 T tcp_v4_rcv\n"
    "ffffffff9d791107 T tcp_v4_early_demux\n"
    "ffffffff9d7a0000 t __udp4_lib_rcv\n"
    "ffffffff9d7a0c43 t udp_recvmsg\n"
    "ffffffff9da00000 T _etext\n"
    "ffffffffc0a31000 t nft_do_chain\t[nf_tables]\n"
    "ffffffffc0a31400 t nft_payload\t[nf_tables]\n";

struct Folder {
    base::Result<base::PrivateDirectory> folder = base::PrivateDirectory::create();
    [[nodiscard]] std::filesystem::path file(std::string_view name, std::string_view content) const {
        auto path = folder->path() / name;
        REQUIRE(base::replace_file(path, content));
        return path;
    }
};

std::string name_of(const KernelNames& names, std::uint64_t address) {
    return to_string(names.find(address, AddressKind::return_address));
}

bool mentions(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the seed's example: 0xffffffff8149a8ed lies between unix_stream_recvmsg and unix_find_other") {
    const Folder folder;
    const auto file = folder.file("System.map",
                                  "ffffffff8149a420 t unix_dgram_poll\n"
                                  "ffffffff8149a5e0 t unix_stream_recvmsg\n"
                                  "ffffffff8149ad00 t unix_find_other\n");
    const auto names = KernelNames::open({{file}, {}, {}, {}}, {});
    REQUIRE(names);
    // A kernel of that time cannot be moved.
    CHECK(names->kaslr_offset_known());
    CHECK(to_string(names->find(0xffffffff8149a8ed, AddressKind::exact)) == "unix_stream_recvmsg+0x30d/0x720");
    CHECK(to_string(names->find(0xffffffffc076e440, AddressKind::exact)) == "module or unknown");
}

TEST_CASE("no name of a kernel that can be moved before its KASLR offset is known") {
    const Folder folder;
    const auto file = folder.file("System.map", map);
    auto names = KernelNames::open({{file}, {}, {}, {}}, {});
    REQUIRE(names);
    CHECK_FALSE(names->kaslr_offset_known());
    CHECK(name_of(*names, 0xffffffff81790071) == "module or unknown");
    const auto given = KernelNames::open({{file}, {}, names_kaslr_offset, {}}, {});
    REQUIRE(given);
    CHECK(name_of(*given, 0xffffffff9d790071) == "tcp_v4_rcv+0x71/0x1107");
}

TEST_CASE("a recording says where its kernel was, and a map of another kernel is refused") {
    const Folder folder;
    const auto file = folder.file("System.map", map);
    LogKernel log;
    log.release = "6.1.0-56-amd64";
    log.text = log.stext = 0xffffffff9d000000;
    log.etext = 0xffffffff9da00000;
    const auto names = KernelNames::open({{file}, {}, {}, {}}, log);
    REQUIRE(names);
    CHECK(name_of(*names, 0xffffffff9d7a0235) == "__udp4_lib_rcv+0x235/0xc43");
    REQUIRE(names->notes().size() == 1);
    CHECK(mentions(names->notes()[0], "KASLR offset 0x1c000000"));

    log.etext = 0xffffffff9da00123;
    const auto other = KernelNames::open({{file}, {}, {}, {}}, log);
    REQUIRE_FALSE(other);
    CHECK(mentions(other.error().what, "of another kernel"));
    CHECK(mentions(other.error().hint, "6.1.0-56-amd64"));
}

TEST_CASE("a copy of kallsyms names modules, and with a map beside it gives the KASLR offset") {
    const Folder folder;
    const auto boot = folder.file("kallsyms", kallsyms);
    const auto alone = KernelNames::open({{boot}, {}, {}, {}}, {});
    REQUIRE(alone);
    CHECK(name_of(*alone, 0xffffffff9d760123) == "icmp_rcv+0x123/0x350");
    CHECK(name_of(*alone, 0xffffffffc0a31011) == "nft_do_chain+0x11/0x400 [nf_tables]");

    const auto excerpt =
        folder.file("excerpt", "ffffffff9d000000 T _stext\nffffffffc0a31000 t nft_do_chain\t[nf_tables]\n");
    const auto both = KernelNames::open({{folder.file("System.map", map), excerpt}, {}, {}, {}}, {});
    REQUIRE(both);
    CHECK(name_of(*both, 0xffffffff9d760123) == "icmp_rcv+0x123/0x350");
    CHECK(name_of(*both, 0xffffffffc0a31011) == "nft_do_chain+0x11/0x1000 [nf_tables]");
}

TEST_CASE("a copy of kallsyms of another boot is found out") {
    const Folder folder;
    auto names = KernelNames::open({{folder.file("kallsyms", kallsyms)}, {}, {}, {}}, {});
    REQUIRE(names);
    CHECK(names->kaslr_offset_is_assumed());
    // Two drop places of a boot that was moved by 0x2000000.
    const auto finding = names->infer(std::vector<std::uint64_t>{0xffffffff83790071, 0xffffffff837a0235});
    CHECK_FALSE(finding.kaslr_offset);
    CHECK_FALSE(names->kaslr_offset_known());
    REQUIRE_FALSE(names->notes().empty());
    CHECK(mentions(names->notes()[0], "is of another boot"));

    auto same = KernelNames::open({{folder.file("kallsyms", kallsyms)}, {}, {}, {}}, {});
    CHECK(same->infer(std::vector<std::uint64_t>{0xffffffff9d790071, 0xffffffff9d7a0235, 0xffffffffc0a31011})
              .kaslr_offset == 0);
    CHECK_FALSE(same->kaslr_offset_is_assumed() == false);
}

TEST_CASE("an address without a name gives the module that it is in or near") {
    const Folder folder;
    const auto modules = folder.file("modules",
                                     "nf_tables 389120 1 - Live 0xffffffffc0a31000\n"
                                     "veth 45056 0 - Live 0xffffffffc0b31000\n");
    const auto names = KernelNames::open({{folder.file("System.map", map)}, modules, names_kaslr_offset, {}}, {});
    REQUIRE(names);
    CHECK(name_of(*names, 0xffffffffc0a311f3) == "module or unknown (nf_tables+0x1f3/0x5f000)");
    CHECK(name_of(*names, 0xffffffffc0b30f00) == "module or unknown (0x100 before veth)");
    CHECK(name_of(*names, 0xffffffffc0a90300) == "module or unknown (0x300 behind nf_tables)");
    CHECK(name_of(*names, 0xffffffffd0000000) == "module or unknown");
    CHECK(name_of(*names, 0) == "module or unknown");
}

TEST_CASE("what cannot be used is reported with its remedy") {
    const Folder folder;
    const auto error = [](const NameSources& sources) {
        const auto names = KernelNames::open(sources, {});
        REQUIRE_FALSE(names);
        CHECK(names.error().kind == base::ErrorKind::bad_input);
        CHECK_FALSE(names.error().hint.empty());
        return names.error().what;
    };
    const auto file = folder.file("System.map", map);
    const auto hidden = folder.file("modules", "nf_tables 389120 1 - Live 0x0000000000000000\n");
    CHECK(mentions(error({{file}, hidden, names_kaslr_offset, {}}), "all are zero"));
    CHECK(mentions(error({{file, folder.file("again", map)}, {}, {}, {}}), "both symbol tables of the same kind"));
    CHECK(mentions(error({{}, {}, {}, "6.1"}), "nothing to take names from"));
    CHECK(mentions(error({{folder.file("zero", "0000000000000000 T _text\n")}, {}, {}, {}}), "has no addresses"));
    const auto stub =
        folder.file("System.map-6.1.0-56-amd64",
                    "ffffffffffffffff B The real System.map is in the linux-image-<version>-dbg package\n");
    CHECK(mentions(error({{stub}, {}, {}, {}}), "linux-image-6.1.0-56-amd64-dbg"));
}

TEST_CASE("the release is read out of usual names") {
    CHECK(release_in_name("/boot/System.map-6.1.0-56-amd64") == "6.1.0-56-amd64");
    CHECK(release_in_name("kallsyms-7.2.12+deb14-amd64.gz") == "7.2.12+deb14-amd64");
    CHECK(release_in_name("/usr/lib/modules/6.12.107/System.map") == "6.12.107");
    CHECK(release_in_name("/home/user/System.map").empty());
    CHECK(release_in_name("System.map-old").empty());
}

namespace {

/// Functions of a kernel that was not moved, 64 KiB apart; their names are as numbered, if they have no other.
std::string whole_map(std::string_view left_out) {
    std::string text = "ffffffff81000000 T _text\nffffffff81000000 T _stext\n";
    std::uint64_t address = 0xffffffff81010000;
    const auto add = [&](std::string_view name) {
        if (name.find(left_out) == std::string_view::npos) text += fmt::format("{:x} T {}\n", address, name);
        address += 0x10000;
    };
    for (const auto name : of_each_kernel)
        add(name);
    for (const auto word : in_each_kernel)
        add(fmt::format("{}one", word));
    for (int number = 0; number < 20; ++number)
        add(fmt::format("function_{}", number));
    return text + fmt::format("{:x} T _etext\n", address);
}

}  // namespace

TEST_CASE("a map without its tcp lines is an excerpt, whatever else it has") {
    const Folder folder;
    CHECK(KernelNames::open({{folder.file("whole", whole_map("nothing of it"))}, {}, {}, {}}, {}));
    for (const std::string_view word : in_each_kernel) {
        const auto names = KernelNames::open({{folder.file("excerpt", whole_map(word))}, {}, {}, {}}, {});
        REQUIRE_FALSE(names);
        CHECK(mentions(names.error().what, "is an excerpt: it lacks all functions with "));
    }
}

TEST_CASE("what speaks for a map leaves its names plain") {
    const Folder folder;
    const auto file = folder.file("System.map-6.1.0-56-amd64", map);
    constexpr std::uint64_t place = 0xffffffff9d790071;
    const auto checked = [&](const std::string& release, const std::vector<NamedAddress>& named,
                             const std::vector<std::uint64_t>& drops) {
        auto names = KernelNames::open({{file}, {}, names_kaslr_offset, release}, {});
        REQUIRE(names);
        REQUIRE(names->check_names(named));
        const auto said = names->check(drops);
        return std::pair(said.empty() ? "" : said.front(), name_of(*names, place));
    };
    const std::string plain = "tcp_v4_rcv+0x71/0x1107", marked = "tcp_v4_rcv?+0x71/0x1107";
    CHECK(checked("6.1.0-56-amd64", {}, {}) == std::pair(std::string(), plain));
    CHECK(checked("", {{0xffffffff9d760010, "icmp_rcv", 0x10}}, {}) == std::pair(std::string(), plain));
    CHECK(checked("", {{0xffffffff9d760010, "icmp_rcv", 0x10, 0x350}}, {}) == std::pair(std::string(), plain));

    const auto [nothing, name] = checked("", {}, {});
    CHECK(mentions(nothing, "nothing shows that"));
    CHECK(mentions(nothing, "-r RELEASE"));
    CHECK(name == plain);

    const auto [other, named] = checked("6.1.0-50-amd64", {}, {});
    CHECK(mentions(other, "is of Linux 6.1.0-56-amd64 by its name, the log is of 6.1.0-50-amd64"));
    CHECK(named == marked);
    const auto [longer, size] = checked("", {{0xffffffff9d760010, "icmp_rcv", 0x10, 0x200}}, {});
    CHECK(mentions(longer, "icmp_rcv() has 0x200 bytes in the log and 0x350 in the table"));
    CHECK(size == marked);
    // Half of the drops are where no kernel drops packets.
    const auto [half, all] = checked("", {}, {place, 0xffffffff9d760360});
    CHECK(mentions(half, "1 of 2 drop places is where no kernel is known to drop packets (icmp_echo())"));
    CHECK(all == marked);
    // Even if the release is the right one.
    CHECK(checked("6.1.0-56-amd64", {}, {place, 0xffffffff9d760360}) == std::pair(half, marked));
    // What a pipe is still to bring does not change the names of what it has brought.
    auto growing = KernelNames::open({{file}, {}, names_kaslr_offset, {}}, {});
    REQUIRE(growing);
    CHECK(mentions(growing->check({{place, 0xffffffff9d760360}}, true).front(), "such names have a ?"));
    CHECK(name_of(*growing, place) == plain);
    CHECK(to_string(growing->find(0xffffffff9d760360, AddressKind::drop_site)).starts_with("icmp_echo?+"));
    const auto [outside, none] = checked("", {}, {0xffffffff83790071});
    CHECK(mentions(outside, "(0xffffffff83790071)"));
    CHECK(none == marked);
}
