#include "symbols/files/kernel_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "symbols/files/bzimage.h"
#include "symbols/files/elf_file.h"
#include "symbols/files/nm_text.h"

namespace stapgen::symbols {

namespace {

constexpr std::string_view what_to_give =
    "give vmlinux or /boot/vmlinuz-RELEASE of the kernel, its System.map, or a copy of /proc/kallsyms";

bool is_kernel(const ElfFile& elf) {
    const auto type = elf.header().e_type;
    if (type != ET_EXEC && type != ET_DYN) return false;  // arm64's is ET_DYN
    // Of s390x the kernel is in the lower half, too.
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

bool is_freed_after_boot(std::string_view section) {
    return section.starts_with(".init") || section.starts_with(".exit") || section.starts_with(".altinstr");
}

std::vector<CodeRange> code_of(const ElfFile& elf) {
    std::vector<CodeRange> code;
    for (const auto& section : elf.sections()) {
        if (!section.is_code() || section.bytes.empty()) continue;
        code.push_back({section.header.sh_addr, std::as_bytes(section.bytes), is_freed_after_boot(section.name)});
    }
    if (code.empty()) {
        for (const auto& segment : elf.segments()) {
            // What is writable, too, is data and code of the boot in one.
            if (segment.p_type != PT_LOAD || (segment.p_flags & (PF_X | PF_W)) != PF_X) continue;
            const auto bytes = elf.bytes(segment.p_offset, segment.p_filesz);
            if (!bytes.empty()) code.push_back({segment.p_vaddr, std::as_bytes(bytes), false});
        }
    }
    std::ranges::sort(code, {}, &CodeRange::address);
    return code;
}

}  // namespace

KernelImage::KernelImage(ElfFile elf)
    : elf_(std::move(elf)), build_id_(elf_.build_id()), release_(release_of(elf_)), code_(code_of(elf_)) {}

bool KernelImage::looks_like_one(std::string_view beginning) {
    if (is_bzimage(beginning) || !other_boot_image(beginning).empty()) return true;
    // e_type, in the byte order of most.
    return ElfFile::looks_like_one(beginning) && beginning.size() >= sizeof(Elf64_Ehdr) &&
           (beginning[EI_NIDENT] == ET_EXEC || beginning[EI_NIDENT] == ET_DYN);
}

base::Result<KernelImage> KernelImage::read(const std::filesystem::path& path) {
    return FileBytes::read(path).and_then([&](FileBytes&& file) { return read(std::move(file), path.string()); });
}

base::Result<KernelImage> KernelImage::read(FileBytes file, const std::string& origin) {
    if (is_bzimage(file.text())) {
        auto vmlinux = unpack_bzimage(file.text(), origin);
        if (!vmlinux) return tl::make_unexpected(std::move(vmlinux.error()));
        file = FileBytes(std::move(*vmlinux));
    }
    if (!ElfFile::looks_like_one(file.text())) {
        const auto other = other_boot_image(file.text());
        if (!other.empty()) return base::bad_input(fmt::format("{} is {}", origin, other), std::string(what_to_give));
        return base::bad_input(fmt::format("{} is neither a vmlinux nor a bzImage (vmlinuz)", origin),
                               std::string(what_to_give));
    }
    auto elf = ElfFile::open(std::move(file), origin);
    if (!elf) return tl::make_unexpected(std::move(elf.error()));
    if (!is_kernel(*elf)) return no_kernel(*elf, origin);
    return KernelImage(*std::move(elf));
}

Architecture KernelImage::architecture() const {
    if (elf_.header().e_machine == EM_X86_64) return Architecture::x86_64;
    return elf_.header().e_machine == EM_AARCH64 ? Architecture::arm64 : Architecture::other;
}

std::string KernelImage::symbol_text() const {
    return nm_text(elf_);
}

std::span<const std::byte> KernelImage::btf() const {
    const auto* const section = elf_.section(".BTF");
    return section == nullptr ? std::span<const std::byte>() : std::as_bytes(section->bytes);
}

}  // namespace stapgen::symbols
