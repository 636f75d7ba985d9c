#include "cli/threads.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/files.h"
#include "base/text.h"

namespace stapgen::cli {

bool is_thread_named(std::string_view comm) {
    constexpr std::size_t kernel_keeps = 15;  // TASK_COMM_LEN less its NUL
    std::error_code error;
    for (const auto& process : std::filesystem::directory_iterator("/proc", error)) {
        if (!base::to_int(process.path().filename().string())) continue;
        std::error_code gone;
        for (const auto& task : std::filesystem::directory_iterator(process.path() / "task", gone)) {
            const auto name = base::read_file(task.path() / "comm");
            if (name && base::trim(*name) == comm.substr(0, kernel_keeps)) return true;
        }
    }
    return false;
}

base::Result<std::int64_t> process_of(std::int64_t tid) {
    // /proc lists processes only, but has a folder for every thread.
    const auto status = base::read_file(fmt::format("/proc/{}/status", tid));
    for (const auto line : base::split(status ? *status : std::string_view{}, '\n')) {
        const auto words = base::words(line);
        if (words.size() != 2 || words[0] != "Tgid:") continue;
        if (const auto pid = base::to_int(words[1])) return *pid;
    }
    return base::bad_input(fmt::format("there is no thread {}", tid),
                           "'ps -eLo pid,tid,comm' lists the threads; --comm NAME takes all of a name");
}

}  // namespace stapgen::cli
