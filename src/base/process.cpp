// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/process.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "base/files.h"

namespace stapgen::base {

namespace {

namespace fs = std::filesystem;

std::atomic<int> asked = 0, heeding = 0;
std::atomic<bool> user_asked = false;  ///< set by a handler: it is lock-free
/// Of both: who begins to heed signals is asked by each that did not end the program before.
std::mutex counting;
std::once_flag taken;
rlimit limit_before{};

struct Registry {
    std::mutex mutex;
    std::multiset<fs::path> paths;
};
/// Never destroyed: a signal may come while the program ends.
Registry& unfinished() {
    static auto& registry = *new Registry;
    return registry;
}

void remove_unfinished() {
    auto& [mutex, paths] = unfinished();
    // Never unlocked: other threads go on, and would make the next one between this and the end.
    mutex.lock();
    for (const auto& path : paths) {
        std::error_code ignored;
        auto gone = path;
        // Under another name nothing new gets into a folder.
        if (fs::is_directory(path, ignored)) fs::rename(path, gone += ".gone", ignored);
        fs::remove_all(gone, ignored);
    }
}

[[noreturn]] void die_of(int number) {
    remove_unfinished();
    ::signal(number, SIG_DFL);
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, number);
    ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    for (;;)
        ::kill(::getpid(), number);
}

bool is_ignored(int number) {
    struct sigaction current {};
    ::sigaction(number, nullptr, &current);
    return current.sa_handler == SIG_IGN;
}

void wait_for_signals(const sigset_t& signals) {
    for (;;) {
        int number = 0;
        if (::sigwait(&signals, &number) != 0) continue;
        const std::scoped_lock lock(counting);
        ++asked;
        // One that a shell had us ignore, as of a job in the background, ends only what heeds it.
        if (heeding == 0 && !is_ignored(number)) die_of(number);
    }
}

}  // namespace

void take_signals() {
    std::call_once(taken, [] {
        ::signal(SIGPIPE, SIG_IGN);
        ::signal(SIGXFSZ, SIG_IGN);
        sigset_t signals;
        ::sigemptyset(&signals);
        ::sigaddset(&signals, SIGINT);
        ::sigaddset(&signals, SIGTERM);
        if (!is_ignored(SIGHUP)) ::sigaddset(&signals, SIGHUP);
        ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
        std::thread([signals] { wait_for_signals(signals); }).detach();
    });
}

HeededSignals::HeededSignals() {
    take_signals();
    const std::scoped_lock lock(counting);
    before_ = asked;
    ++heeding;
}

HeededSignals::~HeededSignals() {
    const std::scoped_lock lock(counting);
    --heeding;
}

int HeededSignals::count() const {
    return asked - before_;
}

UserSignal::UserSignal() {
    user_asked = false;
    struct sigaction action {};
    action.sa_handler = [](int) { user_asked = true; };
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGUSR1, &action, nullptr);
}

UserSignal::~UserSignal() {
    ::signal(SIGUSR1, SIG_DFL);
}

bool UserSignal::take() {
    return user_asked.exchange(false);
}

Unfinished::Unfinished(const std::function<fs::path()>& make) {
    auto& [mutex, paths] = unfinished();
    const std::scoped_lock lock(mutex);
    path_ = make();
    if (!path_.empty()) paths.insert(path_);
}

Unfinished::~Unfinished() {
    auto& [mutex, paths] = unfinished();
    const std::scoped_lock lock(mutex);
    if (const auto found = paths.find(path_); found != paths.end()) paths.erase(found);
}

void raise_descriptor_limit() {
    if (::getrlimit(RLIMIT_NOFILE, &limit_before) != 0) return;
    auto raised = limit_before;
    raised.rlim_cur = raised.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &raised);
}

void restore_descriptor_limit() {
    if (limit_before.rlim_max > 0) ::setrlimit(RLIMIT_NOFILE, &limit_before);
}

std::size_t free_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    const auto open = entries_of("/dev/fd").size();
    return limit.rlim_cur - std::min<std::size_t>(open, limit.rlim_cur);
}

}  // namespace stapgen::base
