// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "bundle/walk.h"
#include "table/row.h"

namespace stapgen::bundle {

using table::Key, table::Separate, table::Known, table::About, table::Shape, table::Shown;

/// A line of a file in the archive.
struct Place {
    SharedText file;
    std::int64_t line = 0;

    /// For a person.
    [[nodiscard]] std::string path() const { return file == nullptr ? "" : base::printable(*file); }
};

/// The value of a counter or a setting; the first file that has it counts, and the largest of its samples.
struct Reading {
    std::uint64_t value = 0;
    Place place;
    std::int64_t sample = 0;      ///< of a counter: the number of the last sample in the file
    std::uint64_t of_sample = 0;  ///< what that has so far; of rises, all of them
    bool is_rise = false;         ///< not since boot, but since the tool ran before
    std::int64_t over_ns = 0;     ///< or in this time, which the tool says
};

/// Lines of a log that have a text.
struct LogLines {
    std::int64_t count = 0;
    Place first;
    std::string first_text;  ///< for a terminal
};

/// Two sources that say different things of one fact.
struct Conflict {
    std::string what, first, second;
    Place first_place, second_place;

    static constexpr About about{.name = "conflicts"};
    static constexpr void columns(auto&& column) {
        column(Key(), "what", &Conflict::what);
        column(Key(), "first", [](const Conflict& row) { return base::printable(row.first); });
        column(Key(), "first_file", [](const Conflict& row) { return row.first_place.path(); });
        column(Key(), "second", [](const Conflict& row) { return base::printable(row.second); });
        column(Key(), "second_file", [](const Conflict& row) { return row.second_place.path(); });
    }
};

/// All that is known of a host from an archive.
struct Evidence {
    std::map<std::pair<std::string, std::string>, Reading> counters;  ///< by name and what it is of
    std::map<std::string, Reading, std::less<>> settings;             ///< by the name that sysctl has, or of a State
    std::map<std::string, LogLines> logs;                             ///< by text
    std::int64_t log_lines = 0;                                       ///< that look like those of the kernel's log
    std::optional<double> uptime_s;
    std::string host;     ///< its name; empty: no file says it
    std::string release;  ///< of its kernel, as `uname -r` prints it; empty: no file says it
    Place release_place;
    std::vector<Conflict> conflicts;  ///< each once
    /// Paths of files with drops or a recording, which are no counters; and of the kernel's symbols and modules.
    std::vector<std::string> results, symbols, modules;
    /// Offsets that panics printed ("Kernel Offset: 0x1c000000 from 0xffffffff81000000"), wherever one is in the logs.
    std::set<std::int64_t> kaslr_offsets;
    std::string refused_names;  ///< why its symbols name no drops, for a person; empty: they do, or there are none
    /// Numbers of files: read, known but nothing in them, not known.
    std::int64_t read = 0, empty = 0, unknown = 0;
    std::int64_t left_out = 0;  ///< counters and settings for which there was no room
    Walked walked;
};

/// Finds the rules' texts in the kernel's log, in a text that comes in pieces.
class LogText {
  public:
    LogText(const std::string& name, std::vector<std::string> texts)
        : name_(std::make_shared<const std::string>(name)), texts_(std::move(texts)) {}
    /// Whole lines, each with its '\n'.
    void feed(std::string_view lines);
    [[nodiscard]] const Evidence& evidence() const { return evidence_; }

  private:
    SharedText name_;
    std::vector<std::string> texts_;
    Evidence evidence_;
    std::int64_t lines_ = 0;
};

/// Reads an archive or folder, charged to `budget`. `texts` are what to look for in logs. Errors: those of walk().
base::Result<Evidence> read_evidence(const std::filesystem::path& path, const std::vector<std::string>& texts,
                                     const std::shared_ptr<base::Budget>& budget);

}  // namespace stapgen::bundle
