// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace stapgen::fleet {

/// A recording as it comes, in a new file of mode 0600, which is made when something comes.
class RecordingFile {
  public:
    explicit RecordingFile(std::filesystem::path path) : path_(std::move(path)) {}

    base::Result<void> write(std::string_view bytes);
    /// Empty if there is none.
    [[nodiscard]] std::filesystem::path path() const;

  private:
    std::filesystem::path path_;
    std::unique_ptr<base::Descriptor> file_;
};

}  // namespace stapgen::fleet
