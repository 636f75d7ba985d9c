// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "base/files.h"
#include "cli/options/spec.h"

namespace stapgen::cli {

/// The file of a report instead of stdout: new, for its owner only, which gets its name when all is in it.
class NewFile {
  public:
    /// From now on stdout is that file. Without a path it stays what it is.
    static base::Result<NewFile> open(const std::optional<std::filesystem::path>& path);
    /// Not if it could not be written whole, which the program's end says.
    base::Result<void> keep();

  private:
    NewFile() = default;
    std::filesystem::path path_;
    std::unique_ptr<base::Descriptor> file_;
};

/// -o of a command that prints one document.
OptionSpec new_file_option(std::optional<std::filesystem::path>& path);

}  // namespace stapgen::cli
