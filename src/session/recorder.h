#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "analyze/summary.h"
#include "base/result.h"
#include "decode/record.h"
#include "host/identity.h"
#include "host/system.h"
#include "recording/writer.h"
#include "session/names.h"
#include "session/plan.h"

namespace stapgen::session {

/// What a recording says of where the module came from.
struct RecordedOrigin {
    std::optional<std::map<std::string, std::string>> parameters;  ///< nothing for a module that was made before
    std::string hash_of;                                           ///< "script", "module" or "recipe"
    std::filesystem::path hashed;                                  ///< the file of that
    std::string stap_version;
};

/// Keeps the lines of a run in a file (-o), with all that is needed to understand them elsewhere. A file that cannot be
/// written any further does not end the run: that is said at once, and again by outcome().
class Recorder {
  public:
    /// Looks at the machine and creates the file. Null where no recording is wanted.
    static base::Result<std::unique_ptr<Recorder>> create(const host::System& machine, const MeasurePlan& plan,
                                                          const RecordedOrigin& origin);

    /// A line of the script as it came. `cut`: its end is missing; it is kept so that no reader takes it for a record.
    void line(std::string_view text, bool cut, const decode::Header* header);
    /// Notes the addresses in it, whose names the last line tells.
    void record(const decode::Record& record);
    /// To be called several times a second: what came a second ago is in the file.
    void tick();
    /// Of the summary what the lines do not tell.
    void end(const analyze::Summary& summary);
    [[nodiscard]] base::Result<void> outcome() const;

    [[nodiscard]] Names& names() { return names_; }

  private:
    Recorder(const host::System& machine, const MeasurePlan& plan) : machine_(machine), plan_(plan) {}
    recording::Head head();
    recording::Tail tail(bool continued);
    void tell_failure();

    const host::System& machine_;
    const MeasurePlan& plan_;
    recording::Head known_;  ///< what does not change
    const decode::Header* header_ = nullptr;
    std::set<std::uint64_t> addresses_;
    recording::Tail last_;  ///< what end() was told
    Names names_;
    bool told_ = false;
    std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
    std::unique_ptr<recording::Writer> writer_;
};

}  // namespace stapgen::session
