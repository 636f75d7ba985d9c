#include "cli/threads.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/files.h"
#include "base/text.h"

namespace stapgen::cli {

namespace {

/// Calls `visit` for every thread, until it says false. Threads that end meanwhile are passed over.
template <class Visit>
void each_thread(Visit visit) {
    std::error_code error;
    for (const auto& process : std::filesystem::directory_iterator("/proc", error)) {
        const auto pid = base::to_int(process.path().filename().string());
        if (!pid) continue;
        std::error_code gone;
        for (const auto& task : std::filesystem::directory_iterator(process.path() / "task", gone)) {
            const auto tid = base::to_int(task.path().filename().string());
            const auto comm = base::read_file(task.path() / "comm");
            if (tid && comm && !visit(Thread{*pid, *tid, std::string(base::trim(*comm))})) return;
        }
    }
}

}  // namespace

std::vector<Thread> threads_named(std::string_view comm) {
    constexpr std::size_t kernel_keeps = 15;  // TASK_COMM_LEN less its NUL
    std::vector<Thread> found;
    each_thread([&](const Thread& thread) {
        if (thread.comm == comm.substr(0, kernel_keeps)) found.push_back(thread);
        return true;
    });
    return found;
}

base::Result<Thread> thread_of(std::int64_t tid) {
    base::Result<Thread> result =
        base::bad_input(fmt::format("there is no thread {}", tid),
                        "'ps -eLo pid,tid,comm' lists the threads; --comm NAME takes all of a name");
    each_thread([&](const Thread& thread) {
        if (thread.tid != tid) return true;
        result = thread;
        return false;
    });
    return result;
}

}  // namespace stapgen::cli
