// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/kernel_image.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/limits.h"
#include "base/unpacker.h"
#include "symbols/files/symbol_text.h"

namespace stapgen::symbols {

namespace {

// Documentation/arch/x86/boot.rst, "The Real-Mode Kernel Header".
constexpr std::size_t setup_sectors_at = 0x1f1, magic_at = 0x202, version_at = 0x206;
constexpr std::size_t payload_offset_at = 0x248, payload_size_at = 0x24c, header_end = 0x250;
constexpr std::size_t sector = 512, usual_setup_sectors = 4;
constexpr std::uint16_t first_version_with_payload = 0x0208;
/// arch/x86/boot/compressed: the last bytes of the payload, whatever its packing, are the size of what is in it.
constexpr std::size_t size_field = 4;

/// Recognised as in the kernel's scripts/extract-vmlinux.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> other_packings{{
    {std::string_view("\x5d\0\0\0", 4), "lzma"},
    {"\x89LZO", "lzo"},
    {"\x02\x21\x4c\x18", "lz4"},
}};

constexpr std::string_view extract_hint =
    "unpack it with scripts/extract-vmlinux of the kernel's source, and give that vmlinux";

/// x86 and its files are little-endian, and so is this program.
template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
    Number number{};
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

tl::unexpected<base::Error> damaged(std::string_view origin) {
    return base::bad_input(fmt::format("{} is a damaged bzImage", origin), "copy it again from the machine's /boot");
}

/// Whether it begins as an x86 bzImage (vmlinuz): "HdrS" at 0x202. The first 518 bytes are enough.
bool is_bzimage(std::string_view beginning) {
    return beginning.size() >= version_at && beginning.substr(magic_at, 4) == "HdrS";
}

/// The vmlinux in a bzImage, for boot protocol 2.08 and later (Linux 2.6.26). Errors (bad_input), each with its remedy:
/// an older protocol; damaged; its packing is not gzip, bzip2, xz or zstd.
base::Result<std::string> unpack_bzimage(std::string_view image, std::string_view origin) {
    if (image.size() < header_end) return damaged(origin);
    if (number_at<std::uint16_t>(image, version_at) < first_version_with_payload) {
        return base::bad_input(
            fmt::format("{} is of a Linux before 2.6.26, which does not state where its kernel begins", origin),
            std::string(extract_hint));
    }
    std::size_t setup_sectors = number_at<std::uint8_t>(image, setup_sectors_at);
    if (setup_sectors == 0) setup_sectors = usual_setup_sectors;
    const auto begin = (setup_sectors + 1) * sector + number_at<std::uint32_t>(image, payload_offset_at);
    const std::size_t size = number_at<std::uint32_t>(image, payload_size_at);
    if (begin > image.size() || size > image.size() - begin || size < size_field) return damaged(origin);
    auto payload = image.substr(begin, size);
    const std::size_t unpacked_size = number_at<std::uint32_t>(payload, size - size_field);

    if (base::make_unpacker(payload) == nullptr) {
        const auto known = std::ranges::find_if(
            other_packings, [&](const auto& packing) { return payload.starts_with(packing.first); });
        return base::bad_input(
            fmt::format("{} is a bzImage whose kernel is packed by {}, which stapgen does not read", origin,
                        known == other_packings.end() ? "an unknown program" : known->second),
            std::string(extract_hint));
    }
    // gzip ends with the size by itself; behind the others it was appended.
    if (!payload.starts_with("\x1f\x8b")) payload.remove_suffix(size_field);

    const auto limit =
        std::min<std::uint64_t>(base::limits::kernel_image_bytes, base::limits::held_bytes.of(payload.size()));
    if (unpacked_size > limit) {
        return base::bad_input(
            fmt::format("{} says that its kernel unpacks to {} bytes, more than {}", origin, unpacked_size, limit),
            "check that it is a kernel's image");
    }
    auto vmlinux = base::unpack(payload, unpacked_size);
    if (!vmlinux.whole || vmlinux.bytes.size() != unpacked_size) return damaged(origin);
    return std::move(vmlinux.bytes);
}

/// The kind of a file that boots a kernel but is no vmlinux and no bzImage (arm64's Image), for a message; empty:
/// unknown.
std::string_view other_boot_image(std::string_view beginning) {
    // Documentation/arch/arm64/booting.rst; drivers/firmware/efi/libstub/zboot-header.S.
    constexpr std::size_t arm64_magic_at = 0x38, zboot_magic_at = 4;
    const auto is_at = [&](std::size_t at, std::string_view magic) {
        return beginning.size() >= at && beginning.substr(at).starts_with(magic);
    };
    if (is_at(arm64_magic_at, "ARM\x64")) return "an arm64 Image: machine code without its address";
    if (is_at(0, "MZ") && is_at(zboot_magic_at, "zimg")) return "an EFI zboot image (vmlinuz.efi)";
    return {};
}

constexpr std::string_view what_to_give =
    "give vmlinux or /boot/vmlinuz-RELEASE of the kernel, its System.map, or a copy of /proc/kallsyms";

bool is_kernel(const ElfFile& elf) {
    const auto type = elf.header().e_type;
    if (type != ET_EXEC && type != ET_DYN) return false;  // arm64's is ET_DYN
    // The kernel of s390x is in the lower half, too.
    return elf.section(".init.text") != nullptr || std::ranges::any_of(elf.segments(), [](const GElf_Phdr& segment) {
               return segment.p_type == PT_LOAD && segment.p_vaddr >= upper_half;
           });
}

tl::unexpected<base::Error> no_kernel(const ElfFile& elf, std::string_view origin) {
    if (elf.header().e_type == ET_REL) {
        const bool module = elf.section(".modinfo") != nullptr;
        return base::bad_input(
            fmt::format("{} is {}, not a kernel", origin, module ? "a kernel module" : "an object file"),
            std::string(what_to_give));
    }
    return base::bad_input(
        fmt::format("{} is an ELF file, but not a kernel: {}", origin,
                    elf.header().e_type == ET_CORE ? "it is a memory dump" : "it is another program or a library"),
        std::string(what_to_give));
}

/// "6.1.0-56-amd64" out of "Linux version 6.1.0-56-amd64 (builder@...".
std::string release_in(std::string_view data) {
    constexpr std::string_view before = "Linux version ";
    constexpr std::size_t max_release_length = 64;  // __NEW_UTS_LEN
    for (auto at = data.find(before); at != std::string_view::npos; at = data.find(before, at + 1)) {
        const auto rest = data.substr(at + before.size(), max_release_length + 1);
        const auto end = rest.find(' ');
        if (end != std::string_view::npos && rest[0] >= '0' && rest[0] <= '9') return std::string(rest.substr(0, end));
    }
    return {};
}

std::string release_of(const ElfFile& elf) {
    for (const auto& section : elf.sections()) {
        if (!section.allocated() || section.is_code()) continue;
        auto release = release_in({section.bytes.data(), section.bytes.size()});
        if (!release.empty()) return release;
    }
    for (const auto& segment : elf.segments()) {
        if (segment.p_type != PT_LOAD) continue;
        const auto bytes = elf.bytes(segment.p_offset, segment.p_filesz);
        auto release = release_in({bytes.data(), bytes.size()});
        if (!release.empty()) return release;
    }
    return {};
}

// Lengths are bounded wherever a string of the data is read: one string may be all of it and every type may have it.
constexpr std::size_t max_name_length = 128;

bool is_named(const btf* types, const btf_type* type, std::string_view name) {
    const char* its = btf__name_by_offset(types, type->name_off);
    return its != nullptr && std::string_view(its, strnlen(its, name.size() + 1)) == name;
}

}  // namespace

KernelImage::KernelImage(ElfFile elf) : elf_(std::move(elf)), build_id_(elf_.build_id()), release_(release_of(elf_)) {}

bool KernelImage::looks_like_one(std::string_view beginning) {
    if (is_bzimage(beginning) || !other_boot_image(beginning).empty()) return true;
    // e_type, in the byte order of most.
    return ElfFile::looks_like_one(beginning) && beginning.size() >= sizeof(Elf64_Ehdr) &&
           (beginning[EI_NIDENT] == ET_EXEC || beginning[EI_NIDENT] == ET_DYN);
}

base::Result<KernelImage> KernelImage::read(FileBytes file, const std::string& origin) {
    if (is_bzimage(file.text())) {
        STAPGEN_LET(auto vmlinux, unpack_bzimage(file.text(), origin));
        file = FileBytes(std::move(vmlinux));
    }
    if (!ElfFile::looks_like_one(file.text())) {
        const auto other = other_boot_image(file.text());
        if (!other.empty()) return base::bad_input(fmt::format("{} is {}", origin, other), std::string(what_to_give));
        return base::bad_input(fmt::format("{} is neither a vmlinux nor a bzImage (vmlinuz)", origin),
                               std::string(what_to_give));
    }
    STAPGEN_LET(auto elf, ElfFile::open(std::move(file), origin));
    if (!is_kernel(elf)) return no_kernel(elf, origin);
    return KernelImage(std::move(elf));
}

std::string KernelImage::symbol_text() const {
    return nm_text(elf_);
}

std::span<const std::byte> KernelImage::btf() const {
    const auto* const section = elf_.section(".BTF");
    return section == nullptr ? std::span<const std::byte>() : std::as_bytes(section->bytes);
}

base::Result<Btf> Btf::parse(std::span<const std::byte> data) {
    libbpf_set_print(nullptr);
    errno = EFBIG;
    btf* types = nullptr;
    if (data.size() <= std::numeric_limits<std::uint32_t>::max()) {
        types = btf__new(data.data(), static_cast<std::uint32_t>(data.size()));
    }
    if (types == nullptr) {
        return base::bad_input(
            fmt::format("the kernel's type information (BTF) cannot be read: {}", std::strerror(errno)),
            "it is damaged, truncated, or of a newer kernel than this stapgen supports: try another copy");
    }
    return Btf({types, btf__free});
}

std::vector<Enumerator> Btf::enumeration(std::string_view name) const {
    std::vector<Enumerator> found;
    for (std::uint32_t id = 1; found.empty() && id < btf__type_cnt(types_.get()); ++id) {
        const btf_type* type = btf__type_by_id(types_.get(), id);
        if (!btf_is_enum(type) || !is_named(types_.get(), type, name)) continue;
        for (const auto& entry : std::span(btf_enum(type), btf_vlen(type))) {
            const char* its = btf__name_by_offset(types_.get(), entry.name_off);
            if (its == nullptr) continue;
            found.push_back({std::string(its, strnlen(its, max_name_length)), static_cast<std::uint32_t>(entry.val)});
        }
    }
    return found;
}

}  // namespace stapgen::symbols
