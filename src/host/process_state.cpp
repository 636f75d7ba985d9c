#include "host/process_state.h"

#include <fmt/format.h>

#include "base/text.h"

namespace stapgen::host {

namespace {

std::optional<ProcessState> read_state(const System& system, std::int64_t id) {
    // /proc lists processes only, but has a folder for every thread.
    return parse_process_state(system.read(fmt::format("/proc/{}/stat", id)).value_or(""));
}

}  // namespace

std::optional<ProcessState> parse_process_state(std::string_view stat) {
    // The name is in parentheses, and may hold blanks and parentheses itself.
    const auto name_end = stat.rfind(')');
    if (name_end == std::string_view::npos) return std::nullopt;
    const auto fields = base::words(stat.substr(name_end + 1));
    constexpr std::size_t state = 0, threads = 17, start = 19;
    if (fields.size() <= start || fields[state].size() != 1) return std::nullopt;
    const auto count = base::to_int(fields[threads]);
    const auto begun = base::to_int(fields[start]);
    if (!count || !begun) return std::nullopt;
    return ProcessState{fields[state].front(), *count, *begun};
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
