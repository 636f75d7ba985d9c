// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "decode/record_parser.h"
#include "host/facts.h"
#include "host/system.h"
#include "launch/run.h"
#include "session/kept_lines.h"
#include "session/namer.h"
#include "session/plan.h"
#include "session/recorder.h"
#include "session/remote.h"
#include "when/watcher.h"

namespace stapgen::session {

/// At most one recording is kept in this time.
inline constexpr std::chrono::seconds kept_at_most_every{60};

/// Removes the oldest recordings that were kept in a folder of a recipe, beyond these numbers of files and bytes, not
/// the newest one.
void remove_oldest_kept(const std::filesystem::path& folder, const std::string& recipe,
                        const recording::Rotation& most);

/// Makes recordings of the seconds that have passed, when a condition holds or SIGUSR1 comes (--keep). A module that
/// aggregates has a ring of records, and prints them when it is asked to, behind the word "kept". Of one that prints
/// each record the last lines are held here.
class Keeper {
  public:
    /// Null where nothing is to be kept. `hashed` as of Recorder::create(), which has made `whole`: what is kept may
    /// come within that. Error: there is no such folder.
    static base::Result<std::unique_ptr<Keeper>> create(const host::System& machine, const MeasurePlan& plan,
                                                        const std::filesystem::path& hashed, Recorder* whole);
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    /// Takes the name of the module from the job as it is loaded; both are there until it has ended.
    void learn_module(launch::LoadJob& job);
    /// Whether it is a line of what was kept: then it is nobody else's.
    bool take(std::string_view text, bool cut, Namer& namer);
    /// Any other line.
    void line(std::string_view text, bool cut, const decode::Line& line, Namer& namer);
    /// Of who steers the measurement. The seconds before are those before it came. It is passed over where the seconds
    /// before are being kept already.
    void take(const KeepOrder& order, Namer& namer);
    /// To be called several times a second.
    void tick(Namer& namer);
    /// Nothing more comes.
    void end(Namer& namer);
    /// Why nothing can be kept of this module.
    [[nodiscard]] const std::optional<base::Error>& refusal() const { return refusal_; }

  private:
    /// A recording that is being made. Times are ns of CLOCK_MONOTONIC.
    struct Recording {
        MeasurePlan plan;
        decode::RecordParser parser;
        std::unique_ptr<Recorder> recorder;
        std::int64_t kept_at_epoch_ns = 0;
        std::int64_t begin_ns = 0, until_ns = 0;
        std::int64_t shift_ns = 0;  ///< the wall clock was set by so much between the run's beginning and that
        std::int64_t since_ns = 0;  ///< of what is by lines: all are there from then on
    };

    Keeper(const host::System& machine, const MeasurePlan& plan, recording::Setup setup, Recorder* whole);
    void say(const HeldCondition& held);
    void ask(const std::string& condition, const std::string& value, std::int64_t at_epoch_ns, Namer& namer);
    void keep(recording::Kept kept, Namer& namer);
    base::Result<void> begin(recording::Kept kept, Namer& namer);
    void begin(const decode::Ready& ready);
    void line_of_all(std::string_view text, bool cut, const decode::Line& line, Namer& namer);
    void feed(std::string_view text, Namer& namer);
    void feed_begin(Namer& namer);
    /// By the clock of the recording that is made, else of the run.
    [[nodiscard]] std::int64_t epoch_of(std::int64_t ns) const;
    void look_at_clocks();
    [[nodiscard]] const host::ClockOffsets& clocks_at(std::int64_t ns) const;
    void close(std::string broke_off, std::int64_t since_ns, Namer& namer);

    const host::System& machine_;
    const MeasurePlan& plan_;
    const KeepPlan& keep_;
    recording::Setup setup_;
    Recorder* whole_;
    when::Watcher watcher_;
    std::map<std::size_t, std::int64_t> values_;  ///< of each condition, by its number, when it held last
    base::UserSignal asked_;
    std::string module_, recipe_;
    std::vector<std::string> declared_;  ///< the header and further kinds of records, as lines
    std::optional<KeptLines> lines_;     ///< of a module that prints each record
    std::optional<decode::Ready> ready_;
    host::ClockOffsets clocks_at_ready_;
    std::optional<Recording> recording_;
    std::optional<std::int64_t> last_ns_, said_ns_;
    std::vector<std::pair<std::int64_t, host::ClockOffsets>> clocks_;  ///< since when each; never empty
    std::int64_t unkept_ = 0;
    std::optional<base::Error> refusal_;
};

}  // namespace stapgen::session
