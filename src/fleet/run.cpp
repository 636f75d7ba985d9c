// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "base/files.h"
#include "base/text.h"
#include "launch/signals.h"
#include "session/replay.h"

namespace stapgen::fleet {

namespace {

using Hosts = std::vector<std::size_t>;

/// How often the user has asked to end.
std::atomic<int> asked_to_stop = 0;

class HeededSignals {
  public:
    HeededSignals() {
        asked_to_stop = 0;
        struct sigaction heed {};
        heed.sa_handler = [](int) { ++asked_to_stop; };
        for (const int number : launch::ending_signals())
            ::sigaction(number, &heed, &before_[number]);
    }
    HeededSignals(const HeededSignals&) = delete;
    HeededSignals& operator=(const HeededSignals&) = delete;
    ~HeededSignals() {
        for (const auto& [number, before] : before_)
            ::sigaction(number, &before, nullptr);
    }

  private:
    std::map<int, struct sigaction> before_;
};

/// Ends with all of them. ssh takes a process and some sockets each, so there are `most` at a time.
void for_each(const Hosts& hosts, std::size_t most, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < std::min(most, hosts.size()); ++i) {
        threads.emplace_back([&] {
            for (std::size_t at = next++; at < hosts.size(); at = next++)
                work(hosts[at]);
        });
    }
    for (auto& thread : threads)
        thread.join();
}

Hosts numbers_below(std::size_t end) {
    Hosts numbers(end);
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    return numbers;
}

/// A recording as it comes, in a new file.
class RecordingFile {
  public:
    explicit RecordingFile(std::filesystem::path path) : path_(std::move(path)) {}

    /// Whether it could be written.
    bool write(std::string_view bytes) {
        if (!file_) {
            constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
            file_ = std::make_unique<base::Descriptor>(::open(path_.c_str(), flags, 0600));
        }
        while (!bytes.empty()) {
            const auto count = ::write(file_->get(), bytes.data(), bytes.size());
            if (count < 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
        return true;
    }
    /// Empty if nothing came.
    [[nodiscard]] std::filesystem::path path() const { return file_ ? path_ : std::filesystem::path(); }

  private:
    std::filesystem::path path_;
    std::unique_ptr<base::Descriptor> file_;
};

std::vector<std::string> exec_argv(const Job& job, const std::string& program, const std::string& module,
                                   std::chrono::nanoseconds duration) {
    constexpr std::int64_t ns_per_ms = 1'000'000;
    std::vector<std::string> argv{program,    "exec", module,
                                  "--remote", "-d",   fmt::format("{}ms", duration.count() / ns_per_ms)};
    argv.insert(argv.end(), job.exec.begin(), job.exec.end());
    return argv;
}

class Run {
  public:
    explicit Run(const Job& job) : job_(job), board_(job.hosts) {
        for (const auto& host : job.hosts)
            remotes_.emplace_back(job.ssh, host, asked_to_stop);
        if (!job.program.empty()) program_name_ = "stapgen-" + base::sha256(job.program).substr(0, 16);
    }

    void go() {
        for_each(numbers_below(job_.hosts.size()), max_connections, [&](std::size_t host) { ask(host); });
        find_kernels();
        compile();
        for_each(alive(), max_connections, [&](std::size_t host) { send(host); });
        try_canaries();
        const auto hosts = alive();
        const auto batch = job_.batch == 0 ? hosts.size() : job_.batch;
        for (std::size_t at = 0; at < hosts.size() && asked_to_stop == 0; at += batch)
            measure({hosts.begin() + at, hosts.begin() + std::min(at + batch, hosts.size())});
        is_done_ = true;
    }
    [[nodiscard]] bool is_done() const { return is_done_; }
    [[nodiscard]] std::vector<Row> rows() const { return board_.rows(); }

  private:
    static constexpr std::size_t max_connections = 64;

    void ask(std::size_t host) {
        auto facts = remotes_[host].ask();
        if (!facts) return board_.fail(host, facts.error());
        auto why = reason_against(*facts);
        board_.change(host, [&](Row& row) { row.facts = *std::move(facts); });
        if (!why.empty()) board_.fail(host, {Refusal::Kind::cannot, std::move(why)});
    }

    /// Empty: none.
    [[nodiscard]] std::string reason_against(const HostFacts& facts) const {
        if (!facts.can_load) return "kernel.modules_disabled is 1: no module can be loaded until the next boot";
        if (facts.staprun.empty()) return "no staprun: install systemtap-runtime";
        if (job_.program.empty() && facts.stapgen.empty())
            return "no stapgen, and this one is not statically linked: give --program FILE";
        return {};
    }

    [[nodiscard]] Hosts alive() const {
        Hosts hosts;
        const auto rows = board_.rows();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!rows[i].refusal) hosts.push_back(i);
        }
        return hosts;
    }

    void find_kernels() {
        const auto rows = board_.rows();
        for (const auto host : alive()) {
            const auto& facts = rows[host].facts;
            kernels_[fmt::format("{} {} {}", facts.release, facts.architecture, facts.build_id)].push_back(host);
            board_.set(host, State::compiling);
        }
    }

    void fail_all(const Hosts& hosts, const Refusal& refusal) {
        for (const auto host : hosts)
            board_.fail(host, refusal);
    }

    [[nodiscard]] std::string program_on(const HostFacts& facts) const {
        return job_.program.empty() ? facts.stapgen : facts.folder + "/" + program_name_;
    }

    void compile() {
        std::vector<const Hosts*> left;
        std::vector<std::string> reasons;
        for (auto& [key, kernel] : kernels_) {
            auto made = asked_to_stop > 0 ? base::failed("ended before it started")
                                          : job_.compile(board_.rows()[kernel.front()].facts);
            auto content = made ? base::read_file(*made) : tl::make_unexpected(made.error());
            if (content) {
                keep_module(kernel, *std::move(content));
            } else {
                left.push_back(&kernel);
                reasons.push_back(content.error().what);
            }
        }
        // Emulators and small machines take minutes for it.
        std::vector<Answer<std::string>> made(left.size());
        for_each(numbers_below(left.size()), max_connections,
                 [&](std::size_t at) { made[at] = compile_elsewhere(*left[at], reasons[at]); });
        for (std::size_t i = 0; i < left.size(); ++i) {
            if (made[i]) {
                keep_module(*left[i], *std::move(made[i]));
            } else {
                fail_all(*left[i], made[i].error());
            }
        }
    }

    void keep_module(const Hosts& kernel, std::string content) {
        const auto name = fmt::format("{}-{}.ko", job_.recipe, base::sha256(content).substr(0, 16));
        for (const auto host : kernel)
            module_of_.emplace(host, name);
        modules_.emplace(name, std::move(content));
    }

    /// On the first of its hosts that can; `why` this machine cannot.
    Answer<std::string> compile_elsewhere(const Hosts& kernel, std::string why) {
        for (const auto host : kernel) {
            const auto row = board_.rows()[host];
            if (row.facts.stap.empty() || asked_to_stop > 0) continue;
            auto built = compile_on(host, row.facts);
            if (built) return built;
            why += fmt::format("; {}: {}", row.host, built.error().why);
        }
        return tl::make_unexpected(Refusal{Refusal::Kind::cannot, "no module: " + why});
    }

    Answer<std::string> compile_on(std::size_t host, const HostFacts& facts) {
        const auto& remote = remotes_[host];
        if (!job_.program.empty()) {
            if (auto sent = remote.send(facts, program_name_, job_.program); !sent)
                return tl::make_unexpected(sent.error());
        }
        const auto file = fmt::format("{}/{}.built.ko", facts.folder, job_.recipe);
        std::vector<std::string> argv{program_on(facts), "build", job_.recipe, "-q", "-o", file};
        argv.insert(argv.end(), job_.build.begin(), job_.build.end());
        if (auto built = remote.output_of(argv); !built) return tl::make_unexpected(built.error());
        return remote.output_of({"cat", file});
    }

    void send(std::size_t host) {
        board_.set(host, State::sending);
        const auto facts = board_.rows()[host].facts;
        const auto& module = module_of_.at(host);
        auto sent = job_.program.empty() ? Answer<void>() : remotes_[host].send(facts, program_name_, job_.program);
        if (sent) sent = remotes_[host].send(facts, module, modules_.at(module));
        if (!sent) return board_.fail(host, sent.error());
        board_.set(host, State::waiting);
    }

    [[nodiscard]] std::vector<std::string> exec_argv(const HostFacts& facts, const std::string& module,
                                                     std::chrono::nanoseconds duration) const {
        return fleet::exec_argv(job_, program_on(facts), facts.folder + "/" + module, duration);
    }

    /// On one host of each kernel that has several, for a second: the others are spared what it does to that one.
    void try_canaries() {
        Hosts canaries;
        const auto living = alive();
        std::map<std::size_t, const Hosts*> kernel_of;
        for (const auto& [key, kernel] : kernels_) {
            const auto first = std::ranges::find_if(
                kernel, [&](std::size_t host) { return std::ranges::find(living, host) != living.end(); });
            if (kernel.size() < 2 || first == kernel.end()) continue;
            canaries.push_back(*first);
            kernel_of.emplace(*first, &kernel);
        }
        for_each(canaries, max_connections, [&](std::size_t host) {
            const auto row = board_.rows()[host];
            auto tried = try_canary(host, row.facts, module_of_.at(host));
            if (tried) return;
            fail_all(*kernel_of.at(host), {Refusal::Kind::failed, fmt::format("{}, the first of this kernel: {}",
                                                                              row.host, tried.error().why)});
            board_.fail(host, tried.error());
        });
    }

    Answer<void> try_canary(std::size_t host, const HostFacts& facts, const std::string& module) {
        Remote::Run run{[] {}, [] { return true; }, [](const session::RemoteStatus&) {}, [](std::string_view) {}};
        if (auto ran = remotes_[host].measure(exec_argv(facts, module, std::chrono::seconds(1)), run); !ran) return ran;
        const auto after = remotes_[host].ask();
        if (!after) return tl::make_unexpected(after.error());
        if (after->boot_id == facts.boot_id) return {};
        return tl::make_unexpected(Refusal{Refusal::Kind::lost, "it rebooted during the run"});
    }

    void measure(const Hosts& hosts) {
        std::atomic<std::size_t> unready = hosts.size();
        for_each(hosts, hosts.size(), [&](std::size_t host) {
            const auto facts = board_.rows()[host].facts;
            RecordingFile file(job_.folder / (job_.hosts[host] + ".rec"));
            bool is_ready = false, is_written = true;
            const auto becomes_ready = [&] {
                if (!std::exchange(is_ready, true)) --unready;
            };
            Remote::Run run;
            run.ready = becomes_ready;
            run.go = [&] {
                if (unready > 0) return false;
                board_.set(host, State::loading);
                return true;
            };
            run.status = [&](const session::RemoteStatus& status) {
                board_.change(host, [&](Row& row) {
                    row.state = State::measuring;
                    row.status = status;
                });
            };
            run.recording = [&](std::string_view bytes) { is_written = is_written && file.write(bytes); };
            auto measured = remotes_[host].measure(exec_argv(facts, module_of_.at(host), job_.duration), run);
            // Nobody waits for one that failed.
            becomes_ready();
            board_.change(host, [&](Row& row) { row.recording = file.path(); });
            if (measured && !is_written)
                measured = tl::make_unexpected(Refusal{Refusal::Kind::lost, "its recording could not be written here"});
            if (!measured) return board_.fail(host, measured.error());
            board_.set(host, State::done);
        });
    }

    const Job& job_;
    Board board_;
    std::vector<Remote> remotes_;
    std::string program_name_;
    std::map<std::string, Hosts> kernels_;          ///< those of one kernel
    std::map<std::string, std::string> modules_;    ///< name -> content
    std::map<std::size_t, std::string> module_of_;  ///< host -> name
    std::atomic<bool> is_done_ = false;
};

/// What a recording says, instead of what was said while it was made.
void read_recording(Row& row) {
    if (row.recording.empty()) return;
    const auto runs = session::load_runs({row.recording}, {}, {});
    if (!runs) {
        if (!row.refusal) row.refusal = {Refusal::Kind::lost, runs.error().what};
        return;
    }
    row.status = session::status_of(runs->front().reports.front());
}

std::string fleet_json(const Job& job, const std::vector<Row>& rows) {
    nlohmann::ordered_json hosts = nlohmann::ordered_json::array();
    for (const auto& row : rows) {
        nlohmann::ordered_json host{{"host", row.host},
                                    {"name", row.facts.name},
                                    {"state", state_text(row)},
                                    {"kernel", row.facts.release},
                                    {"build_id", row.facts.build_id},
                                    {"recording", row.recording.filename().string()}};
        if (row.refusal) host["why"] = row.refusal->why;
        hosts.push_back(std::move(host));
    }
    return nlohmann::ordered_json{{"schema", "stapgen.fleet/1"}, {"recipe", job.recipe}, {"hosts", std::move(hosts)}}
               .dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
           '\n';
}

}  // namespace

std::vector<std::string> commands_of(const Job& job) {
    std::vector<std::string> commands;
    const std::atomic<int> never = 0;
    for (const auto& host : job.hosts) {
        commands.push_back(base::shell_quoted(
            Remote(job.ssh, host, never).measuring_argv(exec_argv(job, "stapgen", job.recipe + ".ko", job.duration))));
    }
    return commands;
}

base::Result<std::vector<Row>> run(const Job& job) {
    std::error_code error;
    if (!std::filesystem::create_directory(job.folder, error)) {
        return base::bad_input(
            fmt::format("cannot make the folder {}: {}", job.folder.string(), error ? error.message() : "it exists"),
            "stapgen overwrites nothing: give -o another name");
    }
    const HeededSignals heeded;
    const launch::IgnoredPipeSignal ignored;
    Run run(job);
    BoardView view(job.quiet, ::isatty(STDERR_FILENO) == 1);
    std::thread worker([&] { run.go(); });
    while (!run.is_done()) {
        view.show(run.rows());
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    worker.join();
    auto rows = run.rows();
    view.show(rows);
    view.end();
    for (auto& row : rows)
        read_recording(row);
    if (auto written = base::create_file(job.folder / "fleet.json", fleet_json(job, rows)); !written)
        return tl::make_unexpected(written.error());
    return rows;
}

}  // namespace stapgen::fleet
