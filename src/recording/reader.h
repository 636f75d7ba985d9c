// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "base/source.h"
#include "recording/facts.h"

namespace stapgen::recording {

/// Reads any text by whole lines, from a file, a pipe or a terminal, plain or compressed by zstd, gzip, bzip2 or xz,
/// which it sees by itself. The two lines that a recording has of its own are taken out wherever they stand, so that a
/// paste of a recording reads as its file. Its memory is constant.
class Reader {
  public:
    /// "-" is stdin. Reads the beginning: header() is known if it is the first line. Errors: it cannot be read; it is
    /// a recording of a newer version.
    static base::Result<Reader> open(const std::filesystem::path& path);
    /// The same of a copy of something in an input with that budget; null: it is an input of its own.
    static base::Result<Reader> open(const std::filesystem::path& path, const std::shared_ptr<base::Budget>& budget);

    /// The next piece of the text: whole lines, each with its '\n', at most 1 MiB; valid until the next call. Empty at
    /// the end of the input, and where another recording begins. Of a line longer than 1 MiB the beginning is handed
    /// out. An error comes after all that could be read before it (damaged data: with the offset), and only once.
    base::Result<std::string_view> next();

    /// After next() was empty: goes on to the recording that begins there, if that was the reason. Then header() is
    /// its header, and next() goes on.
    bool next_recording();

    /// In a further part of a run, leaves out the lines that repeat those of earlier parts. To be called when header()
    /// is known and before next().
    void skip_repeated();

    /// Once next() was empty, or an error: what follows the last '\n'. Not to be trusted: it may have been cut short.
    [[nodiscard]] std::string_view last_partial_line() const;

    [[nodiscard]] const std::optional<Header>& header() const { return header_; }
    [[nodiscard]] const std::optional<Trailer>& trailer() const { return trailer_; }

    /// Once next() was empty: compressed data that ends in the middle, or a recording without its last line.
    [[nodiscard]] bool cut_short() const;

  private:
    explicit Reader(std::unique_ptr<base::Source> source);
    base::Result<void> begin();
    base::Result<void> fill();
    base::Result<bool> take_own(std::string_view line);
    std::string_view hand_out(std::size_t size);
    void end();

    std::unique_ptr<base::Source> source_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, whole_ = 0, end_ = 0;  ///< handed out up to, whole lines up to, filled up to
    bool in_long_line_ = false, at_end_ = false, another_ = false;
    std::int64_t to_skip_ = 0;
    std::optional<Header> header_;
    std::optional<Trailer> trailer_;
};

/// Files that belong together: the parts of one run, or one file of anything.
struct Run {
    std::string id;  ///< empty: no recording of ours
    std::vector<std::filesystem::path> files;
    /// First and last number of parts that are not there, before or between those that are. Whether some are missing
    /// behind the last one is in its trailer: `continued`.
    std::vector<std::pair<std::int64_t, std::int64_t>> missing;
};

/// Groups files by run in the order in which each run first occurs, and puts its parts in order. A recording is known
/// by its first line. What is no regular file ("-", a pipe) cannot be looked into twice and is a run of its own.
/// `budget` as of Reader::open(). Errors: a file cannot be read; two files are the same part of a run.
base::Result<std::vector<Run>> runs_of(const std::vector<std::filesystem::path>& files,
                                       const std::shared_ptr<base::Budget>& budget = {});

}  // namespace stapgen::recording
