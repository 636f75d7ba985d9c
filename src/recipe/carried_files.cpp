// SPDX-License-Identifier: GPL-2.0-or-later
#include "recipe/carried_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "base/files.h"
#include "base/text.h"

namespace stapgen::recipe {

namespace {

namespace fs = std::filesystem;

std::string hashes_of(std::span<const CarriedFile> files) {
    std::string list;
    for (const auto& [path, content] : files)
        list += fmt::format("{}  {}\n", base::sha256(content), path);
    return list;
}

}  // namespace

/// Another definition, of src/static, goes before this one.
[[gnu::weak]] std::span<const CarriedFile> carried_files() {
    return {};
}

base::Result<void> write_files(std::span<const CarriedFile> files, const fs::path& folder) {
    for (const auto& [path, content] : files) {
        const auto file = folder / path;
        std::error_code error;
        fs::create_directories(file.parent_path(), error);
        if (auto created = base::create_file(file, content); !created) return created;
    }
    return {};
}

base::Result<fs::path> unpack(std::span<const CarriedFile> files, const fs::path& cache) {
    base::make_cache(cache);
    auto folder = base::cache_entry(cache, "program", hashes_of(files));
    const auto write = [&](const fs::path& fresh) { return write_files(files, fresh); };
    STAPGEN_TRY(base::make_cache_entry(folder, write));
    if (::geteuid() == 0) {
        STAPGEN_TRY(base::only_root_writes(folder));
    }
    return folder;
}

}  // namespace stapgen::recipe
