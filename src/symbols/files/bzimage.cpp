#include "symbols/files/bzimage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "base/unpacker.h"

namespace stapgen::symbols {

namespace {

// Documentation/arch/x86/boot.rst, "The Real-Mode Kernel Header".
constexpr std::size_t setup_sectors_at = 0x1f1, magic_at = 0x202, version_at = 0x206;
constexpr std::size_t payload_offset_at = 0x248, payload_size_at = 0x24c, header_end = 0x250;
constexpr std::size_t sector = 512, usual_setup_sectors = 4;
constexpr std::uint16_t first_version_with_payload = 0x0208;
/// arch/x86/boot/compressed: the last bytes of the payload, whatever its packing, are the size of what is in it.
constexpr std::size_t size_field = 4;
constexpr std::size_t unpacked_limit = std::size_t{1} << 30;

/// As scripts/extract-vmlinux of the kernel tells them apart.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> other_packings{{
    {std::string_view("\x5d\0\0\0", 4), "lzma"},
    {"\x89LZO", "lzo"},
    {"\x02\x21\x4c\x18", "lz4"},
}};

constexpr std::string_view extract_hint =
    "unpack it by scripts/extract-vmlinux of the kernel's source, and give the vmlinux that it makes";

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

}  // namespace

bool is_bzimage(std::string_view beginning) {
    return beginning.size() >= version_at && beginning.substr(magic_at, 4) == "HdrS";
}

base::Result<std::string> unpack_bzimage(std::string_view image, std::string_view origin) {
    if (image.size() < header_end) return damaged(origin);
    if (number_at<std::uint16_t>(image, version_at) < first_version_with_payload) {
        return base::bad_input(
            fmt::format("{} is of a Linux before 2.6.26: where its kernel begins is not told", origin),
            std::string(extract_hint));
    }
    std::size_t setup_sectors = number_at<std::uint8_t>(image, setup_sectors_at);
    if (setup_sectors == 0) setup_sectors = usual_setup_sectors;
    const auto begin = (setup_sectors + 1) * sector + number_at<std::uint32_t>(image, payload_offset_at);
    const std::size_t size = number_at<std::uint32_t>(image, payload_size_at);
    if (begin > image.size() || size > image.size() - begin || size < size_field) return damaged(origin);
    auto payload = image.substr(begin, size);
    const std::size_t unpacked_size = number_at<std::uint32_t>(payload, size - size_field);

    const auto unpacker = base::make_unpacker(payload);
    if (unpacker == nullptr) {
        const auto known = std::ranges::find_if(
            other_packings, [&](const auto& packing) { return payload.starts_with(packing.first); });
        return base::bad_input(
            fmt::format("{} is a bzImage whose kernel is packed by {}, which is not read here", origin,
                        known == other_packings.end() ? "an unknown program" : known->second),
            std::string(extract_hint));
    }
    // gzip ends with the size by itself; behind the others it was appended.
    if (!payload.starts_with("\x1f\x8b")) payload.remove_suffix(size_field);

    std::string out;
    std::size_t made = 0;
    for (;;) {
        constexpr std::size_t piece = std::size_t{1} << 20;
        if (out.size() - made < piece) out.resize(std::max(2 * out.size(), piece));
        const auto step = unpacker->step(payload, std::span(out).subspan(made), true);
        payload.remove_prefix(step.taken);
        made += step.made;
        if (step.damaged || made > std::min(unpacked_size, unpacked_limit)) return damaged(origin);
        if (step.taken == 0 && step.made == 0) break;
    }
    if (!unpacker->complete() || made != unpacked_size) return damaged(origin);
    out.resize(made);
    return out;
}

std::string_view other_boot_image(std::string_view beginning) {
    // Documentation/arch/arm64/booting.rst; drivers/firmware/efi/libstub/zboot-header.S.
    constexpr std::size_t arm64_magic_at = 0x38, zboot_magic_at = 4;
    const auto is_at = [&](std::size_t at, std::string_view magic) {
        return beginning.size() >= at && beginning.substr(at).starts_with(magic);
    };
    if (is_at(arm64_magic_at, "ARM\x64")) return "an arm64 Image: machine code without a word on where it belongs";
    if (is_at(0, "MZ") && is_at(zboot_magic_at, "zimg")) return "an EFI zboot image (vmlinuz.efi)";
    return {};
}

}  // namespace stapgen::symbols
