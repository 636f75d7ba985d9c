// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/kernel_image.h"

#include <algorithm>
#include <regex>

#include "fake_kernel.h"
#include "symbols/files/symbol_table.h"

using namespace stapgen;
using namespace stapgen::symbols;
using namespace fake_kernel;

namespace {

KernelImage read_image(const std::filesystem::path& path) {
    auto image = fake_kernel::kernel_image(path);
    if (!image) FAIL(image.error().what);
    return std::move(*image);
}

base::Error image_error(std::string_view bytes) {
    const File file(bytes);
    const auto image = fake_kernel::kernel_image(file.path());
    REQUIRE(!image);
    CHECK(image.error().kind == base::ErrorKind::bad_input);
    CHECK(!image.error().hint.empty());
    return image.error();
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("a vmlinux has its release, build-id and BTF") {
    const auto image = read_image(vmlinux);
    CHECK(image.release() == "6.12.117-fake");
    CHECK(image.build_id().size() == 40);
    CHECK(image.build_id().find_first_not_of("0123456789abcdef") == std::string::npos);
    REQUIRE(image.btf().size() == 7);
    CHECK(std::to_integer<int>(image.btf()[0]) == 0x9f);
}

TEST_CASE("the symbols of a vmlinux are those of nm, to the byte") {
    const auto text = read_image(vmlinux).symbol_text();
    CHECK(std::regex_replace(text, std::regex("( [0-9a-f]{16})? (.) "), " $2 ") == content(system_map));
    const auto table = SymbolTable::parse(text);
    REQUIRE(table);
    CHECK(table->markers().stext == 0xffffffff81000000);
    CHECK(table->markers().einittext == address_of("_einittext"));
    const auto symbol = table->find(address_of("place_free") + 1);
    REQUIRE(symbol);
    CHECK(symbol->name == "place_free");
}

TEST_CASE("a vmlinux may be packed as a whole") {
    const auto plain = read_image(vmlinux);
    const auto bytes = content(vmlinux);
    for (const auto& packed_bytes : {gzip(bytes), xz(bytes), zstd(bytes)}) {
        const File file(packed_bytes);
        const auto image = read_image(file.path());
        CHECK(image.build_id() == plain.build_id());
        CHECK(image.symbol_text() == plain.symbol_text());
    }
}

TEST_CASE("a bzImage holds its vmlinux packed by gzip, xz or zstd") {
    const auto plain = read_image(vmlinux);
    const auto bytes = content(vmlinux);
    const auto size = little_endian(bytes.size(), 4);
    for (const auto& payload : {gzip(bytes), xz(bytes) + size, zstd(bytes) + size}) {
        const auto made = bzimage(payload);
        CHECK(KernelImage::looks_like_one(made.substr(0, 518)));
        const File file(made);
        const auto image = read_image(file.path());
        CHECK(image.release() == "6.12.117-fake");
        CHECK(image.build_id() == plain.build_id());
        CHECK(image.btf().size() == 7);
    }
}

TEST_CASE("a bzImage without the size of setup has four sectors of it") {
    const auto bytes = content(vmlinux);
    auto made = bzimage(zstd(bytes) + little_endian(bytes.size(), 4));
    made.insert(4 * 512, 512, '\x5a');
    made[0x1f1] = 0;
    const File file(made);
    CHECK(read_image(file.path()).release() == "6.12.117-fake");
}

TEST_CASE("a bzImage of another packing is reported by its name, with the remedy") {
    const auto size = little_endian(101, 4);
    const auto lz4 = image_error(bzimage("\x02\x21\x4c\x18 and so on" + size));
    CHECK(contains(lz4.what, "packed by lz4"));
    CHECK(contains(lz4.hint, "scripts/extract-vmlinux"));
    CHECK(contains(image_error(bzimage("\x89LZO and so on" + size)).what, "packed by lzo"));
    CHECK(contains(image_error(bzimage(std::string("\x5d\0\0\0\x04", 5) + size)).what, "packed by lzma"));
    CHECK(contains(image_error(bzimage("none of these" + size)).what, "packed by an unknown program"));
}

TEST_CASE("a bzImage older than its payload's place is reported") {
    auto made = bzimage("payload");
    made[0x206] = 0x07;
    CHECK(contains(image_error(made).what, "before 2.6.26"));
}

TEST_CASE("a bzImage cut off anywhere, or of another size than it says, is damaged") {
    const auto bytes = content(vmlinux);
    const auto payload = xz(bytes);
    const auto made = bzimage(payload + little_endian(bytes.size(), 4));
    for (std::size_t size = 0x208; size < made.size() - 67; size += 97)
        CHECK(contains(image_error(std::string_view(made).substr(0, size)).what, "damaged bzImage"));
    for (const auto wrong : {bytes.size() - 1, bytes.size() + 1, std::size_t{0}})
        CHECK(contains(image_error(bzimage(payload + little_endian(wrong, 4))).what, "damaged bzImage"));
    CHECK(contains(image_error(bzimage(payload + little_endian(0xffffffff, 4))).what,
                   "unpacks to 4294967295 bytes, more than"));
}

TEST_CASE("what is no kernel is reported as what it is") {
    CHECK(contains(image_error(content(module)).what, "is a kernel module, not a kernel"));
    CHECK(contains(image_error(content("/proc/self/exe")).what, "another program or a library"));
    CHECK(contains(image_error("ffffffff81000000 T _text\n").what, "neither a vmlinux nor a bzImage"));
    CHECK(contains(image_error("").what, "neither a vmlinux nor a bzImage"));
    CHECK(contains(image_error("\x7f"
                               "ELF")
                       .what,
                   "damaged ELF file"));
    auto other_class = content(vmlinux);
    other_class[4] = 1;
    CHECK(contains(image_error(other_class).what, "32-bit"));
    auto dump = content(vmlinux);
    dump[16] = 4;
    CHECK(contains(image_error(dump).what, "memory dump"));
    const auto missing = fake_kernel::kernel_image("/no/such/vmlinux");
    REQUIRE(!missing);
    CHECK(contains(missing.error().what, "No such file"));
}

TEST_CASE("images of arm64 that are no ELF file are reported") {
    std::string image(64, '\0');
    image.replace(0x38, 4, "ARM\x64");
    CHECK(contains(image_error(image).what, "arm64 Image"));
    CHECK(contains(image_error(gzip(image)).what, "arm64 Image"));
    CHECK(contains(image_error(std::string("MZ\0\0zimg", 8)).what, "zboot"));
}

TEST_CASE("files that begin as a kernel does are known by their beginning") {
    const auto beginning_of = [](const std::filesystem::path& path) { return content(path).substr(0, 600); };
    CHECK(KernelImage::looks_like_one(beginning_of(vmlinux)));
    CHECK(!KernelImage::looks_like_one(beginning_of(module)));
    CHECK(!KernelImage::looks_like_one(beginning_of(system_map)));
    CHECK(!KernelImage::looks_like_one(""));
}

TEST_CASE("without section headers a vmlinux has its release and build-id, and no symbols") {
    auto bytes = content(vmlinux);
    bytes.replace(0x28, 8, 8, '\0');  // e_shoff
    bytes.replace(0x3a, 6, 6, '\0');  // e_shentsize, e_shnum, e_shstrndx
    const File file(bytes);
    const auto image = read_image(file.path());
    CHECK(image.release() == "6.12.117-fake");
    CHECK(image.build_id() == read_image(vmlinux).build_id());
    CHECK(image.symbol_text().empty());
}

TEST_CASE("a vmlinux that is damaged anywhere is read or refused") {
    const auto bytes = content(vmlinux);
    std::size_t refused = 0;
    for (std::size_t size = 0; size < bytes.size(); size += 211) {
        const File file(std::string_view(bytes).substr(0, size));
        const auto image = fake_kernel::kernel_image(file.path());
        if (!image) ++refused;
        if (image) CHECK(image->symbol_text().size() <= content(system_map).size());
    }
    CHECK(refused > 0);
    // The ELF header, and the headers of the sections.
    const auto headers = bytes.size() - 20 * 64;
    for (std::size_t at = 4; at < bytes.size(); at = at < 64 ? at + 1 : std::max(headers, at + 3)) {
        auto damaged = bytes;
        damaged[at] = static_cast<char>(~damaged[at]);
        const File file(damaged);
        const auto image = fake_kernel::kernel_image(file.path());
        if (image) CHECK(image->symbol_text().size() < 3 * bytes.size());
    }
}
