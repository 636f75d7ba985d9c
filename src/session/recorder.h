// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "decode/record.h"
#include "host/system.h"
#include "kinds/measured.h"
#include "recording/writer.h"
#include "session/namer.h"
#include "session/plan.h"

namespace stapgen::session {

/// What a recording's first line says of a measurement before its first line has come. `hashed` is the file that
/// plan.made.hash_of is about; error: it cannot be read.
base::Result<recording::Setup> recorded_setup(const host::System& machine, const MeasurePlan& plan,
                                              const std::filesystem::path& hashed);

/// Keeps the lines of a run in a file (-o), with all that is needed to understand them elsewhere. A file that cannot be
/// written any further does not end the run: that is said at once, and again by outcome().
class Recorder {
  public:
    /// Looks at the machine and creates the file. Null where no recording is wanted. `hashed` is the file that
    /// plan.made.hash_of is about. Errors: the one cannot be created, or the other read.
    static base::Result<std::unique_ptr<Recorder>> create(const host::System& machine, const MeasurePlan& plan,
                                                          const std::filesystem::path& hashed);
    /// The same with these facts. `plan` has an output, and must outlive it.
    static base::Result<std::unique_ptr<Recorder>> create(const host::System& machine, const MeasurePlan& plan,
                                                          recording::Setup setup);

    /// The same, whose lines `take` gets instead of a file.
    static std::unique_ptr<Recorder> to_lines(const host::System& machine, const MeasurePlan& plan,
                                              recording::Setup setup, std::function<void(std::string_view line)> take);

    /// A line of the script as it came, and what the parser made of it. `cut`: its end is missing; it is kept so that
    /// no reader takes it for a record. `namer`: of this machine, for what is known before or behind the lines.
    void line(std::string_view text, bool cut, const decode::Line& parsed, Namer& namer);
    /// A line of another recording, behind the header's.
    void kept_line(std::string_view text);
    /// To be called several times a second: what came a second ago is in the file.
    void tick(Namer& namer);
    /// Writes the facts of the measurement that are not in the lines.
    void end(const kinds::Measured& measured, Namer& namer, std::int64_t kept_since_epoch_ns = 0);
    /// Whether the next line needs a further file.
    [[nodiscard]] bool is_full() const { return writer_->is_full(); }
    [[nodiscard]] base::Result<void> outcome() const;

  private:
    Recorder(const host::System& machine, const MeasurePlan& plan) : machine_(machine), plan_(plan) {}
    recording::Setup setup(Namer& namer);
    /// Beside what is known at the end only.
    recording::Outcome outcome_so_far(Namer& namer);
    void write_held(Namer& namer);
    void report_failure();

    const host::System& machine_;
    const MeasurePlan& plan_;
    recording::Setup setup_;  ///< what does not change
    const decode::Header* header_ = nullptr;
    std::vector<std::string> held_;      ///< the header and what follows of declarations: the setup depends on all
    std::set<std::uint64_t> addresses_;  ///< whose names are in the last line
    bool reported_ = false;
    std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
    std::unique_ptr<recording::Writer> writer_;
};

}  // namespace stapgen::session
