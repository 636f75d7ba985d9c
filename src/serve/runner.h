// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "host/net_counters.h"
#include "host/system.h"
#include "launch/child_process.h"
#include "recipe/recipe.h"
#include "serve/drop_names.h"
#include "serve/recording_stream.h"
#include "serve/status.h"
#include "serve/totals.h"
#include "session/remote.h"

namespace stapgen::serve {

/// Between two tries of what fails at once: from the first on twice as long each time, up to the longest. A run that
/// went on for that long begins anew.
inline constexpr std::chrono::seconds first_wait{5}, longest_wait{600};
std::chrono::seconds wait_after(std::chrono::seconds before, std::chrono::nanoseconds lasted,
                                std::chrono::seconds first = first_wait);

/// A recipe to be measured without an end, by a child that is a stapgen of its own.
struct RecipeJob {
    std::string name;
    std::vector<std::string> argv;                   ///< with --remote
    std::map<std::string, std::string> environment;  ///< further variables
    recipe::Recipe recipe{};                         ///< nothing of one that is not here, but for its module
    std::chrono::seconds wait = serve::first_wait;   ///< the first one, where it fails
};

/// Keeps one recipe running, in a thread of its own.
class Runner {
  public:
    /// `stop` is 1 where it is to end in order, more where at once. All that is given must outlive it.
    Runner(const RecipeJob& job, const host::System& machine, SeriesLimit& limit, const std::atomic<int>& stop);

    /// Until it is stopped.
    void run();

    /// From any thread.
    [[nodiscard]] Status status() const;
    /// Whether this machine cannot do it, by the first try, in which nothing was measured. From any thread.
    [[nodiscard]] bool cannot_begin() const;

  private:
    using Clock = std::chrono::steady_clock;
    struct End {
        Failure failure = Failure::failed;
        std::string why;
    };
    /// Objects that live as long as a child.
    struct Child {
        RecordingStream stream;
        session::Said said;  ///< that may say why it ends
        bool is_ready = false, has_begun = false;
        int heeded = 0;  ///< of stop_
        host::NetCounters counters_before;
        host::ProcessUse use;
        Clock::time_point looked_at;
    };

    End run_once();
    /// An exception becomes its end.
    End run_guarded();
    void begin(Child& child);
    void add(Child& child, kinds::Measured interval);
    void on_error_line(Child& child, std::string_view line);
    void tick(Child& child, launch::Control& control);
    void take(Child& child);
    void finish(Child& child);
    void set_state(State state);
    void wait(std::chrono::seconds time);

    const RecipeJob& job_;
    const host::System& machine_;
    const std::atomic<int>& stop_;
    DropNames names_;
    mutable std::mutex mutex_;  ///< of all below
    Status status_;             ///< but for what is in totals_
    host::ProcessUse use_before_;
    Totals totals_;
};

}  // namespace stapgen::serve
