// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/system.h"

namespace stapgen::host {

struct Thread {
    std::int64_t pid = 0, tid = 0;
    std::string comm;
};

/// The threads of this machine that are there now, as /proc has them, in the order of their numbers.
std::vector<Thread> running_threads(const System& system);

/// Whether a thread of this machine is named `comm`; 15 bytes count, as the kernel keeps no more.
bool is_thread_named(const System& system, std::string_view comm);

struct Process {
    std::int64_t pid = 0, threads = 0;
    std::string comm;  ///< of its first thread
};

/// The process of a thread of this machine, or with `whole` that process itself. Errors (bad_input): there is none of
/// that number; with `whole` it is the number of another thread than the first.
base::Result<Process> process_of(const System& system, std::int64_t id, bool whole);

/// The facts of /proc/ID/stat about a thread; of a process they are about its first thread.
struct ProcessState {
    char state = '?';                  ///< 'Z' and 'X' have ended
    std::int64_t threads = 0;          ///< of the process, those that have ended and are not collected yet among them
    std::int64_t started_at = 0;       ///< clock ticks since boot; a number that is used again has another
    std::int64_t cpu_ticks = 0;        ///< of its own
    std::int64_t child_cpu_ticks = 0;  ///< of those that it has started and waited for
    std::int64_t resident_pages = 0;
};

/// The text of that file: proc(5). Nothing if it is no such text.
std::optional<ProcessState> parse_process_state(std::string_view stat);

/// Resources of a process: CPU time since it began, and memory now.
struct ProcessUse {
    std::chrono::nanoseconds cpu{0};
    std::int64_t resident_bytes = 0;
};
/// Without its children; nothing where there is none of that number.
ProcessUse use_of_process(const System& system, std::int64_t pid);
/// With all that it has started, and what these have: also those that have ended and were waited for.
ProcessUse use_of_tree(const System& system, std::int64_t pid);

/// The thread or process a measurement is about. It is looked at by its number, which may be used again.
class Task {
  public:
    /// The thread `id`; with `whole_process` all threads of its process. Nothing if there is none now.
    static std::optional<Task> find(const System& system, std::int64_t id, bool whole_process);

    [[nodiscard]] std::int64_t id() const { return id_; }
    /// Whether it is gone. A process has ended with its last thread, whoever collects it when.
    [[nodiscard]] bool has_ended(const System& system) const;
    [[nodiscard]] std::string name() const;  ///< "process 4711", "thread 4713"

  private:
    std::int64_t id_ = 0;
    bool whole_process_ = false;
    std::int64_t started_at_ = 0;
};

}  // namespace stapgen::host
