// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "recording/facts.h"

namespace stapgen::recording {

/// When a further file is begun, and how many are kept.
struct Rotation {
    std::uint64_t bytes = 0;  ///< a file ends at the first line beyond this size; 0: never
    std::int64_t files = 0;   ///< number of newest files kept; 0: all
};

/// "64MB" or "64MB,5". From 100 kB on; 1 to 10,000 files.
base::Result<Rotation> parse_rotation(std::string_view text);

/// Where part 0, 1, 2, ... of a recording is: FILE, FILE.1, FILE.2, ...
std::filesystem::path part_path(const std::filesystem::path& file, std::int64_t part);

class PackedFile;

/// Puts the lines of a script into a recording. After an error it writes no more, and what was flushed stays readable.
class Writer {
  public:
    /// Creates the file; "-" is stdout. Fails if it exists, or a second part of this name if there is to be
    /// one.
    static base::Result<std::unique_ptr<Writer>> create(const std::filesystem::path& file, const Rotation& rotation);
    /// Hands out the lines of a recording instead, without their '\n'.
    static std::unique_ptr<Writer> to_lines(std::function<void(std::string_view line)> take);
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    /// Removes the file if no line came.
    ~Writer();

    /// Whether the part is as large as one may be.
    [[nodiscard]] bool is_full() const;
    /// Ends it; the next line needs a further one.
    void rotate(Outcome outcome);
    /// Whether the next line needs a part: it is the first, or the one before it has ended.
    [[nodiscard]] bool needs_part() const { return !is_open_ && !ended_ && !failure_; }
    void begin_part(Setup setup);
    /// A line without its '\n'. It is passed over where there is no part.
    void line(std::string_view text);
    /// Afterwards all that came so far is in the file.
    void flush();
    /// The last line of its own, unless there was no other.
    void end(Outcome outcome);

    [[nodiscard]] std::int64_t lines() const { return lines_before_ + lines_; }  ///< that came before the error
    [[nodiscard]] const std::optional<base::Error>& failure() const { return failure_; }

  private:
    Writer(const std::filesystem::path& first_path, std::unique_ptr<PackedFile> file, const Rotation& rotation);
    base::Result<void> put(std::string_view lines);
    void write_trailer(Outcome outcome, bool continued);
    void keep_for_repeating(std::string_view text);
    bool note(const base::Result<void>& done);

    std::unique_ptr<PackedFile> file_;  ///< null: to `take_`
    std::function<void(std::string_view line)> take_;
    std::filesystem::path first_path_;
    Rotation rotation_;
    std::string run_id_;
    std::int64_t part_ = 0, lines_before_ = 0, lines_ = 0;
    bool begun_ = false, is_open_ = false, unflushed_ = false, ended_ = false;
    std::string header_, fields_, ready_;  ///< lines that each part has
    std::optional<base::Error> failure_;
};

}  // namespace stapgen::recording
