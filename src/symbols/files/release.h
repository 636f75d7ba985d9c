#pragma once

#include <filesystem>
#include <string>

namespace stapgen::symbols {

/// The kernel release that a file's name ends in (System.map-6.1.0-56-amd64, vmlinuz-...) or that its folder is named
/// after (/usr/lib/modules/RELEASE/System.map); empty if neither.
std::string release_in_name(const std::filesystem::path& file);

}  // namespace stapgen::symbols
