// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/module_file.h"

#include "fake_kernel.h"

using namespace stapgen::symbols;
using namespace fake_kernel;

namespace {

ModuleFile read_module(const std::filesystem::path& path) {
    auto read = read_module_file(path);
    if (!read) FAIL(read.error().what);
    return *std::move(read);
}

std::string lines_of(const ModuleFile& file) {
    std::string text;
    for (const auto& function : file.functions)
        text += std::to_string(function.offset) + " " + function.type + " " + function.name + "\n";
    return text;
}

constexpr std::string_view functions =
    "0 T filter_first\n67 t filter_second\n101 t filter_cold\n128 T cleanup_module\n160 T filter_in_c\n";

}  // namespace

TEST_CASE("a module's functions lie as the kernel lays out its code, what is for the start left out") {
    const auto file = read_module(module);
    CHECK(file.name == "fake_filter");
    CHECK(file.release == "6.12.117-fake");
    CHECK(file.build_id.size() == 40);
    CHECK(lines_of(file) == functions);
}

TEST_CASE("a module may be packed") {
    const auto bytes = content(module);
    for (const auto& packed_bytes : {gzip(bytes), xz(bytes), zstd(bytes)}) {
        const File file(packed_bytes);
        CHECK(lines_of(read_module(file.path())) == functions);
    }
}

TEST_CASE("a kernel that cannot unload modules does not keep their end") {
    auto bytes = content(module);
    bytes.replace(bytes.find("mod_unload"), 10, "modxunload");
    const File file(bytes);
    CHECK(lines_of(read_module(file.path())) ==
          "0 T filter_first\n67 t filter_second\n101 t filter_cold\n128 T filter_in_c\n");
}

TEST_CASE("a module that does not have its name has that of its file") {
    auto bytes = content(module);
    bytes.replace(bytes.find("name=fake"), 4, "nome");
    const File file(bytes, "fake-other.ko");
    CHECK(read_module(file.path()).name == "fake_other");
}

TEST_CASE("behind arm64's table of far calls, which grows as it is loaded, no place is given") {
    auto bytes = content(module);
    constexpr std::size_t machine_at = 0x12;
    bytes[machine_at] = '\xb7';  // EM_AARCH64
    const auto name = bytes.rfind(".text.unlikely");
    REQUIRE(name != std::string::npos);
    bytes.replace(name, 14, std::string(".plt\0unlikely!", 14));
    const File file(bytes);
    CHECK(lines_of(read_module(file.path())) == "0 T filter_first\n67 t filter_second\n");
}

TEST_CASE("behind a module's last byte only a return address is its own: that of its last call") {
    constexpr std::uint64_t base = 0xffffffffc0400000, size = 192;
    const ModuleNames names({{"fake_filter", base, size}}, {read_module(module)}, {}, "");
    const auto name_of = [&](std::uint64_t address, AddressKind kind) {
        const auto found = names.find(address, kind);
        return found ? found->name : std::string();
    };
    using enum AddressKind;
    CHECK(name_of(base, exact) == "filter_first");
    CHECK(name_of(base + size - 1, exact) == "filter_in_c");
    CHECK(name_of(base + size, exact).empty());
    CHECK(name_of(base + size, return_address) == "filter_in_c");
    CHECK(name_of(base + size + 1, return_address).empty());
    // A function that ends with a call to one that never returns: behind it is the next one.
    CHECK(name_of(base + 67, exact) == "filter_second");
    CHECK(name_of(base + 67, return_address) == "filter_first");
    CHECK(name_of(base, return_address).empty());
}

TEST_CASE("what is no module is reported") {
    const auto kernel = read_module_file(vmlinux);
    REQUIRE(!kernel);
    CHECK(kernel.error().what.ends_with("is an ELF file, but not a kernel module"));
    const auto text = read_module_file(system_map);
    REQUIRE(!text);
    CHECK(text.error().what.ends_with("is not a kernel module"));
    CHECK(!read_module_file("/no/such/module.ko"));
}

TEST_CASE("a module that is damaged anywhere is read or refused") {
    const auto bytes = content(module);
    for (std::size_t at = 4; at < bytes.size(); at += 5) {
        auto damaged = bytes;
        damaged[at] = static_cast<char>(~damaged[at]);
        const File file(damaged);
        const auto made = read_module_file(file.path());
        if (made) CHECK(made->functions.size() <= 2 * bytes.size() / 24);
    }
}

TEST_CASE("a module's file is found by its name, whatever its packing") {
    const File plain("one", "nf_tables.ko");
    const auto folder = plain.folder() / "kernel" / "net";
    std::filesystem::create_directories(folder);
    for (const auto* name : {"virtio-net.ko.xz", "nf_tables_set.ko", "ext4.ko.zst", "sch_fq.ko.gz", "veth.ko.debug"})
        REQUIRE(stapgen::base::create_file(folder / name, "x"));
    CHECK(find_module_file(plain.folder(), "nf_tables") == plain.path());
    CHECK(find_module_file(plain.folder(), "virtio_net") == folder / "virtio-net.ko.xz");
    CHECK(find_module_file(plain.folder(), "virtio-net") == folder / "virtio-net.ko.xz");
    CHECK(find_module_file(plain.folder(), "ext4") == folder / "ext4.ko.zst");
    CHECK(find_module_file(plain.folder(), "sch_fq") == folder / "sch_fq.ko.gz");
    CHECK(find_module_file(plain.folder(), "veth") == folder / "veth.ko.debug");
    CHECK(find_module_file(plain.folder(), "tables").empty());
    CHECK(find_module_file("/no/such/folder", "veth").empty());
}
