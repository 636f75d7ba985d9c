// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/threads.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace stapgen::host {

namespace {

/// The names in the folder that are numbers, in their order.
std::set<std::int64_t> numbers_in(const System& system, const std::string& folder) {
    std::set<std::int64_t> numbers;
    for (const auto& name : system.list(folder)) {
        if (const auto number = base::to_int(name)) numbers.insert(*number);
    }
    return numbers;
}

std::optional<ProcessState> read_state(const System& system, std::int64_t id) {
    // /proc lists processes only, but has a folder for every thread.
    return parse_process_state(system.read(fmt::format("/proc/{}/stat", id)).value_or(""));
}

}  // namespace

std::vector<Thread> running_threads(const System& system) {
    std::vector<Thread> threads;
    for (const auto pid : numbers_in(system, "/proc")) {
        const auto tasks = fmt::format("/proc/{}/task", pid);
        for (const auto tid : numbers_in(system, tasks)) {
            const auto comm = system.read(fmt::format("{}/{}/comm", tasks, tid));
            if (comm) threads.push_back({pid, tid, std::string(base::trim(*comm))});
        }
    }
    return threads;
}

bool is_thread_named(const System& system, std::string_view comm) {
    constexpr std::size_t kernel_keeps = 15;  // TASK_COMM_LEN less its NUL
    return std::ranges::any_of(running_threads(system),
                               [&](const Thread& thread) { return thread.comm == comm.substr(0, kernel_keeps); });
}

base::Result<Process> process_of(const System& system, std::int64_t id, bool whole) {
    Process process;
    const auto status = system.read(fmt::format("/proc/{}/status", id)).value_or("");
    for (const auto line : base::split(status, '\n')) {
        const auto words = base::words(line);
        if (words.size() != 2) continue;
        if (words[0] == "Tgid:") process.pid = base::to_int(words[1]).value_or(0);
        if (words[0] == "Threads:") process.threads = base::to_int(words[1]).value_or(0);
    }
    if (process.pid == 0 && whole) {
        return base::bad_input(fmt::format("there is no process {}", id),
                               "'ps -e' lists the processes; --comm NAME takes all threads of a name");
    }
    if (process.pid == 0) {
        return base::bad_input(fmt::format("there is no thread {}", id),
                               "'ps -eLo pid,tid,comm' lists the threads; --comm NAME takes all of a name");
    }
    if (whole && process.pid != id) {
        return base::bad_input(fmt::format("{} is a thread of process {}", id, process.pid),
                               fmt::format("give -x {} for the thread or -p {} for the process", id, process.pid));
    }
    process.comm = base::trim(system.read(fmt::format("/proc/{}/comm", process.pid)).value_or(""));
    return process;
}

std::optional<ProcessState> parse_process_state(std::string_view stat) {
    // The name is in parentheses, and may hold blanks and parentheses itself.
    const auto name_end = stat.rfind(')');
    if (name_end == std::string_view::npos) return std::nullopt;
    const auto fields = base::words(stat.substr(name_end + 1));
    constexpr std::size_t state = 0, times = 11, threads = 17, start = 19, resident = 21;
    if (fields.size() <= resident || fields[state].size() != 1) return std::nullopt;
    const auto number = [&](std::size_t field) { return base::to_int(fields[field]).value_or(0); };
    if (!base::to_int(fields[threads]) || !base::to_int(fields[start])) return std::nullopt;
    return ProcessState{fields[state].front(),
                        number(threads),
                        number(start),
                        number(times) + number(times + 1),
                        number(times + 2) + number(times + 3),
                        number(resident)};
}

namespace {

std::chrono::nanoseconds ns_of_ticks(std::int64_t ticks) {
    return std::chrono::nanoseconds(std::chrono::seconds(1)) * ticks / std::max(1L, ::sysconf(_SC_CLK_TCK));
}

/// A tree of processes has no circle, but is read while it changes.
constexpr int max_depth = 16;

void add_tree(const System& system, std::int64_t pid, int depth, ProcessUse& use) {
    const auto state = read_state(system, pid);
    if (!state || depth > max_depth) return;
    use.cpu += ns_of_ticks(state->cpu_ticks + state->child_cpu_ticks);
    use.resident_bytes += state->resident_pages * ::sysconf(_SC_PAGESIZE);
    const auto tasks = fmt::format("/proc/{}/task", pid);
    for (const auto tid : numbers_in(system, tasks)) {
        const auto children = system.read(fmt::format("{}/{}/children", tasks, tid)).value_or("");
        for (const auto child : base::words(children)) {
            if (const auto number = base::to_int(child)) add_tree(system, *number, depth + 1, use);
        }
    }
}

}  // namespace

ProcessUse use_of_process(const System& system, std::int64_t pid) {
    const auto state = read_state(system, pid).value_or(ProcessState());
    return {ns_of_ticks(state.cpu_ticks), state.resident_pages * ::sysconf(_SC_PAGESIZE)};
}

ProcessUse use_of_tree(const System& system, std::int64_t pid) {
    ProcessUse use;
    add_tree(system, pid, 0, use);
    return use;
}

std::optional<Task> Task::find(const System& system, std::int64_t id, bool whole_process) {
    const auto state = read_state(system, id);
    if (!state) return std::nullopt;
    Task task;
    task.id_ = id;
    task.whole_process_ = whole_process;
    task.started_at_ = state->started_at;
    return task;
}

bool Task::has_ended(const System& system) const {
    const auto state = read_state(system, id_);
    if (!state || state->started_at != started_at_) return true;
    const bool thread_ended = state->state == 'Z' || state->state == 'X';
    return thread_ended && (!whole_process_ || state->threads <= 1);
}

std::string Task::name() const {
    return fmt::format("{} {}", whole_process_ ? "process" : "thread", id_);
}

}  // namespace stapgen::host
