#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stapgen::recording {

/// A new file of one zstd frame, mode 0600. What has been flushed can be read whatever happens afterwards. Every error
/// is `failed`; after one in a write the file is not to be written any further.
class PackedFile {
  public:
    /// Fails if `path` is there already, even as a dangling symbolic link.
    static base::Result<PackedFile> create(const std::filesystem::path& path);
    PackedFile(PackedFile&&) noexcept;
    PackedFile& operator=(PackedFile&&) noexcept;
    ~PackedFile();  ///< closes it as it is

    base::Result<void> write(std::string_view text);
    /// All that was written is in the file.
    base::Result<void> flush();
    /// Ends the frame and closes the file.
    base::Result<void> finish();

    [[nodiscard]] const std::filesystem::path& path() const;
    [[nodiscard]] std::uint64_t size() const;  ///< bytes in the file

  private:
    struct State;
    explicit PackedFile(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace stapgen::recording
