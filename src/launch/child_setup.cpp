// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/child_setup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/files.h"
#include "base/process.h"

namespace stapgen::launch {

ChildSetup::ChildSetup(const Command& command)
    : command_(command),
      parent_(::getpid()),
      uid_map_(fmt::format("{0} {0} 1\n", ::geteuid())),
      gid_map_(fmt::format("{0} {0} 1\n", ::getegid())) {
    if (::pipe2(report_, O_CLOEXEC | O_NONBLOCK) != 0) report_[0] = report_[1] = -1;
}

ChildSetup::~ChildSetup() {
    for (const int fd : report_) {
        if (fd >= 0) ::close(fd);
    }
}

void ChildSetup::fail(Step step, int mount) const {
    const Report report{step, errno, mount};
    if (::write(report_[1], &report, sizeof report) < 0) ::_exit(126);
    ::_exit(127);
}

void ChildSetup::run() const {
    // Descriptors that Boost and others left open are not the child's; Boost's own error pipe must last until exec.
    ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
    // A group of its own, so that a Ctrl-C on the terminal reaches us alone.
    ::setpgid(0, 0);
    // If we die the child is asked to end, and takes its module out. Lost over staprun's set-user-ID exec.
    ::prctl(PR_SET_PDEATHSIG, SIGINT);
    if (::getppid() != parent_) {
        errno = ESRCH;
        fail(Step::parent_gone);
    }
    // exec keeps ignored signals and the mask, and both are ours, not the child's.
    for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGXFSZ})
        ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    base::restore_descriptor_limit();
    if (!command_.mounts.empty()) enter_namespace();
    const auto& folder = command_.working_directory;
    if (!folder.empty() && ::chdir(folder.c_str()) != 0) fail(Step::folder);
}

namespace {

bool make_root_private() {
    return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

bool write_once(const char* path, const char* text, std::size_t size) {
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool written = ::write(fd, text, size) == static_cast<ssize_t>(size);
    ::close(fd);
    return written;
}

}  // namespace

std::optional<ChildSetup::Step> ChildSetup::make_namespace() const {
    if (::unshare(CLONE_NEWNS) != 0) {
        // Without root it takes a user namespace, in which we stay who we are. Enough to compile.
        if (errno != EPERM || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return Step::namespaces;
        write_once("/proc/self/setgroups", "deny", 4);
        if (!write_once("/proc/self/uid_map", uid_map_.c_str(), uid_map_.size()) ||
            !write_once("/proc/self/gid_map", gid_map_.c_str(), gid_map_.size())) {
            fail(Step::namespaces);  // by now we are nobody
        }
    }
    if (make_root_private()) return std::nullopt;
    if (errno != EINVAL) return Step::private_root;
    // In a chroot / need not be a mount point, and the mount that it lies in has no name here. Who enters a mount
    // namespace, be it the one that he is in, has its root for /.
    const int root = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int here = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const auto self = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
    if (root < 0 || here < 0 || self < 0 || ::setns(self, CLONE_NEWNS) != 0) return Step::private_root;
    const bool is_private = make_root_private();
    if (::fchdir(root) != 0 || ::chroot(".") != 0 || ::fchdir(here) != 0) fail(Step::private_root);
    if (!is_private) return Step::private_root;
    return std::nullopt;
}

void ChildSetup::enter_namespace() const {
    const auto& mounts = command_.mounts;
    if (const auto failed = make_namespace()) {
        if (std::ranges::all_of(mounts, &host::BindMount::optional)) return;
        fail(*failed);
    }
    bool goes_on = true;
    for (std::size_t i = 0; i < mounts.size(); ++i) {
        const auto& mount = mounts[i];
        if (mount.optional && !goes_on) continue;
        if (::mount(mount.source.c_str(), mount.target.c_str(), nullptr, MS_BIND, nullptr) == 0) continue;
        if (!mount.optional) fail(Step::mount, static_cast<int>(i));
        goes_on = false;
    }
}

base::Result<void> ChildSetup::failure() {
    Report report{};
    const auto count = ::read(report_[0], &report, sizeof report);
    if (count != static_cast<ssize_t>(sizeof report)) return {};
    const std::string reason = std::strerror(report.number);
    switch (report.step) {
        case Step::parent_gone:
            return base::failed("stapgen ended while it started a program");
        case Step::folder:
            return base::failed(
                fmt::format("cannot work in the folder {}: {}", command_.working_directory.string(), reason));
        case Step::namespaces:
            return base::cannot_here(
                fmt::format("cannot make a mount namespace for stap: {}", reason),
                "run it as root (in a container: with CAP_SYS_ADMIN), or use --no-workaround symbol-table and "
                "give stap a real /boot/System.map of that kernel");
        case Step::private_root:
            return base::cannot_here(fmt::format("cannot keep mounts for stap to itself: {}", reason),
                                     "in a chroot, make its folder a mount point before: mount --bind DIR DIR");
        case Step::mount:
            break;
    }
    const auto& mount = command_.mounts[static_cast<std::size_t>(report.mount)];
    return base::cannot_here(
        fmt::format("cannot show stap {} as {}: {}", mount.source.string(), mount.target.string(), reason),
        "as root, copy the first to the second, or use --no-workaround symbol-table");
}

bool stap_takes_as_tmpdir(std::string_view folder) {
    constexpr auto* allowed = "-/._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return folder.starts_with('/') && folder.find_first_not_of(allowed) == std::string_view::npos;
}

std::map<std::string, std::string> child_environment() {
    std::map<std::string, std::string> environment;
    // The part of the caller's environment: who we are, and where debuginfo may come from. Nothing that changes what a
    // program does (LD_PRELOAD, KCFLAGS, SYSTEMTAP_*), so that a result does not depend on a shell.
    for (const auto* name :
         {"USER", "LOGNAME", "TZ", "DEBUGINFOD_URLS", "DEBUGINFOD_TIMEOUT", "http_proxy", "https_proxy", "no_proxy"}) {
        if (const char* value = std::getenv(name); value != nullptr) environment[name] = value;
    }
    // Children read what is there.
    for (const auto* name : {"HOME", "DEBUGINFOD_CACHE_PATH"}) {
        if (const auto folder = base::trusted_folder(name)) environment[name] = *folder;
    }
    if (::geteuid() == 0) environment.try_emplace("HOME", "/root");
    if (const char* value = std::getenv("TMPDIR"); value != nullptr && stap_takes_as_tmpdir(value)) {
        if (::geteuid() != 0 || base::only_root_replaces(value)) environment["TMPDIR"] = value;
    }
    auto& path = environment["PATH"];
    for (const auto& folder : host::program_folders())
        path += (path.empty() ? "" : ":") + folder.string();
    environment["LC_ALL"] = "C";
    // Where the kernel takes signed modules only, stap -p4 would hand the script to a compile server, which signs.
    environment["SYSTEMTAP_NOSIGN"] = "1";
    // A cache of our own: stap also caches failures, some of them made under other flags.
    environment["SYSTEMTAP_DIR"] = (base::cache_directory() / "systemtap").string();
    return environment;
}

}  // namespace stapgen::launch
