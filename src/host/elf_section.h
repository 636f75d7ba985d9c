#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace stapgen::host {

/// The first `limit` bytes of a section of an ELF file. Nothing if it cannot be read, is no ELF file or has no section
/// of this name.
std::optional<std::string> elf_section(const std::filesystem::path& file, std::string_view name, std::size_t limit);

}  // namespace stapgen::host
