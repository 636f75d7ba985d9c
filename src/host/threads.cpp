#include "host/threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/text.h"

namespace stapgen::host {

std::vector<Thread> running_threads() {
    std::vector<Thread> threads;
    std::error_code error;
    for (const auto& process : std::filesystem::directory_iterator("/proc", error)) {
        const auto pid = base::to_int(process.path().filename().string());
        if (!pid) continue;
        std::error_code gone;
        for (const auto& task : std::filesystem::directory_iterator(process.path() / "task", gone)) {
            const auto tid = base::to_int(task.path().filename().string());
            const auto comm = base::read_file(task.path() / "comm");
            if (tid && comm) threads.push_back({*pid, *tid, std::string(base::trim(*comm))});
        }
    }
    return threads;
}

bool is_thread_named(std::string_view comm) {
    constexpr std::size_t kernel_keeps = 15;  // TASK_COMM_LEN less its NUL
    return std::ranges::any_of(running_threads(),
                               [&](const Thread& thread) { return thread.comm == comm.substr(0, kernel_keeps); });
}

base::Result<Process> process_of(std::int64_t id, bool whole) {
    // /proc lists processes only, but has a folder for every thread.
    Process process;
    const auto status = base::read_file(fmt::format("/proc/{}/status", id));
    for (const auto line : base::split(status ? *status : std::string_view{}, '\n')) {
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
    const auto comm = base::read_file(fmt::format("/proc/{}/comm", process.pid));
    if (comm) process.comm = base::trim(*comm);
    return process;
}

}  // namespace stapgen::host
