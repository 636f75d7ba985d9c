// SPDX-License-Identifier: GPL-2.0-or-later
#include "recipe/carried_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/files.h"
#include "base/text.h"

namespace stapgen::recipe {

namespace {

namespace fs = std::filesystem;

std::string name_of(std::span<const CarriedFile> files) {
    std::string list;
    for (const auto& [path, content] : files)
        list += fmt::format("{}  {}\n", base::sha256(content), path);
    return "program-" + base::sha256(list).substr(0, 16);
}

/// Made beside it, and renamed when it is whole: who is at it at the same time has the same.
base::Result<void> make(std::span<const CarriedFile> files, const fs::path& folder) {
    auto fresh = folder.string() + ".XXXXXX";
    if (::mkdtemp(fresh.data()) == nullptr) {
        return base::failed(fmt::format("cannot make {}: {}", folder.string(), std::strerror(errno)));
    }
    auto written = write_files(files, fresh);
    std::error_code error, ignored;
    if (written) fs::rename(fresh, folder, error);
    fs::remove_all(fresh, ignored);
    if (written && !fs::is_directory(folder, ignored)) {
        return base::failed(fmt::format("cannot make {}: {}", folder.string(), error.message()));
    }
    return written;
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
    auto folder = cache / name_of(files);
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        base::make_cache(cache);
        if (auto made = make(files, folder); !made) return tl::make_unexpected(made.error());
    }
    if (::geteuid() == 0) {
        if (auto trusted = base::only_root_writes(folder); !trusted) return tl::make_unexpected(trusted.error());
    }
    return folder;
}

}  // namespace stapgen::recipe
