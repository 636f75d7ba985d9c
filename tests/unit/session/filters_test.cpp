// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/filters.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "filter/filter.h"
#include "host/threads.h"
#include "unit/host_containers/host_files.h"

using namespace stapgen;

namespace {

/// A second thread of this process, for as long as it lives.
class SecondThread {
  public:
    SecondThread() : thread_([this] { run(); }) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return tid_ != 0; });
    }
    SecondThread(const SecondThread&) = delete;
    SecondThread& operator=(const SecondThread&) = delete;
    ~SecondThread() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    [[nodiscard]] std::int64_t tid() const { return tid_; }

  private:
    void run() {
        std::unique_lock lock(mutex_);
        tid_ = ::gettid();
        changed_.notify_all();
        changed_.wait(lock, [this] { return over_; });
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::int64_t tid_ = 0;
    bool over_ = false;
    std::thread thread_;
};

recording::TypedFilters thread(std::int64_t tid) {
    return {{"target-tid", std::to_string(tid)}};
}

recording::TypedFilters process(std::int64_t pid) {
    return {{"target-pid", std::to_string(pid)}};
}

constexpr std::int64_t no_such = 99999999;  // above PID_MAX_LIMIT
const auto machine = host::real_system();

}  // namespace

TEST_CASE("a process's number where a thread's is asked is reported, with how many threads it has") {
    const std::int64_t pid = ::getpid();
    const auto threads_before = host::process_of(*machine, pid, true).value().threads;
    const SecondThread second;
    const auto hints = session::filters_of(*machine, thread(pid), false).value().hints;
    REQUIRE(hints.size() == 1);
    CHECK(hints.front().starts_with("-x " + std::to_string(pid) + " measures only the first of the " +
                                    std::to_string(threads_before + 1) + " threads of process " + std::to_string(pid)));
    CHECK(hints.front().ends_with("; -p " + std::to_string(pid) + " measures all of them"));
    CHECK(session::filters_of(*machine, thread(second.tid()), false).value().hints.empty());
    CHECK(session::filters_of(*machine, process(pid), false).value().hints.empty());
}

TEST_CASE("a thread and a process that are not there are reported as what they are, and a plan has them all the same") {
    CHECK(session::filters_of(*machine, thread(no_such), false).error().what == "there is no thread 99999999");
    CHECK(session::filters_of(*machine, process(no_such), false).error().what == "there is no process 99999999");
    const SecondThread second;
    CHECK(session::filters_of(*machine, process(second.tid()), false).error().what ==
          std::to_string(second.tid()) + " is a thread of process " + std::to_string(::getpid()));
    const auto planned = session::filters_of(*machine, process(no_such), true).value();
    CHECK(planned.hints == std::vector<std::string>{"there is no process 99999999"});
    CHECK(planned.target_id == no_such);
    CHECK_FALSE(planned.target);
    CHECK(planned.globals.at("stapgen_target_is_pid") == "1");
}

TEST_CASE("what is asked of packets is one program, in which a packet has to pass each of them") {
    const auto parameter = [](const recording::TypedFilters& options) {
        return session::filters_of(*machine, options, false).value().globals.at("stapgen_filter");
    };
    const auto compiled = [](const char* expression) {
        return filter::parameter_of(filter::compile(expression).value());
    };
    recording::TypedFilters options;
    options["port"] = "443";
    CHECK(parameter(options) == compiled("port 443"));
    options["addr"] = "10.0.0.0/8";
    CHECK(parameter(options) == compiled("port 443 and net 10.0.0.0/8"));
    options["filter"] = "tcp or udp";
    CHECK(parameter(options) == compiled("port 443 and net 10.0.0.0/8 and (tcp or udp)"));
    const auto typed = session::filters_of(*machine, options, false).value().as_typed;
    CHECK(typed == options);
}

TEST_CASE("one in one socket is all of them, and no number is refused") {
    const auto sampled = [](const char* typed) { return session::filters_of(*machine, {{"sample", typed}}, false); };
    const auto all = sampled("1").value();
    CHECK(all.sample == 1);
    CHECK(all.as_typed.empty());
    CHECK(all.used.empty());
    CHECK(sampled("8").value().as_typed.at("sample") == "8");
    CHECK(sampled("6").error().hint == "for example --sample 8");
    CHECK(sampled("x").error().what == "--sample: 'x' is not a whole number");
    CHECK_FALSE(session::filters_of(*machine, {{"target-pid", "x"}}, true));
}

TEST_CASE("a wrong expression is told with the option, and so is one that nothing can pass") {
    const auto error = [](const char* expression, const char* port) {
        recording::TypedFilters options{{"filter", expression}};
        if (port != nullptr) options["port"] = port;
        return session::filters_of(*machine, options, true).error().what;
    };
    CHECK(error("tcp prot 443", nullptr) == "--filter: 'tcp prot 443': syntax error");
    // Whole only with what is put around it.
    CHECK(error("tcp) or (udp", nullptr) == "--filter: 'tcp) or (udp': syntax error");
    CHECK(error("icmp", "443") ==
          "--filter: combined with the other options: 'port 443 and (icmp)': expression rejects all packets");
}

TEST_CASE("a container becomes numbers for the module, and a process's number inside that of this machine") {
    containers::HostFiles files;
    const auto id = containers::id_of('a'), path = "/system.slice/docker-" + id + ".scope";
    const auto pid = static_cast<int>(::getpid());
    const auto cgroup = files.cgroup(path);
    files.process(1, "0::/init.scope\n", containers::host_netns);
    files.process(pid, "0::" + path + "\n", containers::red_netns, std::to_string(pid) + "\t7");
    recording::TypedFilters options{{"container", id}, {"target-pid", "7"}};
    const auto filters = session::filters_of(*machine, options, false, files.root()).value();
    CHECK(filters.globals.at("stapgen_wanted_cgroups") == std::to_string(cgroup));
    CHECK(filters.globals.at("stapgen_container_netns") == "4026532201");
    CHECK(filters.target_id == pid);
    CHECK(filters.as_typed.at("container") == id);
    CHECK(filters.as_typed.at("target-pid") == std::to_string(pid));
    options["target-pid"] = "8";
    CHECK(session::filters_of(*machine, options, false, files.root()).error().what ==
          "process 8 is not in aaaaaaaaaaaa (docker aaaaaaaaaaaa)");
    const recording::TypedFilters netns{{"netns", std::to_string(pid)}};
    const auto of_netns = session::filters_of(*machine, netns, false, files.root()).value();
    CHECK(of_netns.globals == std::map<std::string, std::string>{{"stapgen_wanted_netns", "4026532201"}});
    launch::ModuleInfo without;
    CHECK(session::check_module_has(of_netns, "x.ko", without).error().what ==
          "x.ko cannot be filtered by --netns: its recipe does not have that filter");
}
