// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/source.h"
#include "base/text.h"
#include "symbols/files/kernel_image.h"
#include "unit/packed.h"

/// The kernel of tests/fakes/kernel, and what a test does to it.
namespace fake_kernel {

inline const std::filesystem::path vmlinux = FAKE_VMLINUX, system_map = FAKE_SYSTEM_MAP, module = FAKE_MODULE;

inline std::string content(const std::filesystem::path& path) {
    auto read = stapgen::base::read_unpacked(path, std::size_t{2} << 30U);
    REQUIRE(read);
    return *std::move(read);
}

inline stapgen::base::Result<stapgen::symbols::KernelImage> kernel_image(const std::filesystem::path& path) {
    return stapgen::symbols::FileBytes::read(path).and_then([&](stapgen::symbols::FileBytes&& bytes) {
        return stapgen::symbols::KernelImage::read(std::move(bytes), path.string());
    });
}

/// Of a symbol in System.map.
inline std::uint64_t address_of(std::string_view name) {
    const auto map = content(system_map);
    for (const auto line : stapgen::base::split(map, '\n')) {
        const auto words = stapgen::base::words(line);
        if (words.size() == 3 && words[2] == name) return *stapgen::base::to_unsigned(words[0], 16);
    }
    FAIL(name);
    return 0;
}

using packed::gzip, packed::xz, packed::zstd;

inline std::string little_endian(std::uint64_t number, int bytes) {
    std::string out;
    for (; bytes > 0; --bytes, number >>= 8)
        out += static_cast<char>(number & 0xff);
    return out;
}

/// A bzImage of boot protocol 2.15 around a payload, as arch/x86/boot/header.S lays it out: 3 sectors of setup, then
/// 101 bytes that are not the payload.
inline std::string bzimage(std::string_view payload) {
    constexpr std::size_t sectors = 3, before = 101;
    std::string image((sectors + 1) * 512 + before, '\x5a');
    image[0x1f1] = sectors;
    image.replace(0x202, 4, "HdrS");
    image.replace(0x206, 2, little_endian(0x020f, 2));
    image.replace(0x248, 4, little_endian(before, 4));
    image.replace(0x24c, 4, little_endian(payload.size(), 4));
    return image.append(payload).append(67, '\x5a');
}

/// A file of its own for each test.
class File {
  public:
    explicit File(std::string_view bytes, const std::string& name = "file") : path_(folder_->path() / name) {
        REQUIRE(stapgen::base::create_file(path_, bytes));
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path folder() const { return folder_->path(); }

  private:
    stapgen::base::Result<stapgen::base::PrivateDirectory> folder_ = stapgen::base::PrivateDirectory::create();
    std::filesystem::path path_;
};

}  // namespace fake_kernel
