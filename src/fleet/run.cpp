// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <new>
#include <thread>

#include "base/files.h"
#include "base/parallel.h"
#include "base/process.h"
#include "base/terminal.h"
#include "base/text.h"
#include "fleet/recording_file.h"
#include "session/replay.h"

namespace stapgen::fleet {

namespace {

using std::chrono::seconds;

/// Their numbers, as they were given.
using Hosts = std::vector<std::size_t>;

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
    Run(const Job& job, const base::HeededSignals& signals)
        : job_(job), signals_(signals), board_(job.hosts), at_once_(max_hosts_at_once()) {
        for (const auto& host : job.hosts)
            remotes_.emplace_back(job.ssh, host, signals);
        for (const auto& [architecture, content] : job.programs)
            programs_.emplace(architecture, sent_file("stapgen", "", content));
    }

    /// Whatever is thrown, it ends, and the rows say why there is no more.
    void go() {
        guarded(base::numbers_below(job_.hosts.size()), [&] { measure_all(); });
        is_done_ = true;
    }
    [[nodiscard]] bool is_done() const { return is_done_; }
    [[nodiscard]] std::vector<Row> rows() const { return board_.rows(); }

  private:
    static constexpr std::size_t max_connections = 64;

    void measure_all() {
        for_all(base::numbers_below(job_.hosts.size()), [&](std::size_t host) { ask(host); });
        find_kernels();
        compile();
        for_all(alive(), [&](std::size_t host) { send(host); });
        try_canaries();
        const auto hosts = alive();
        const auto batch = std::min(job_.batch == 0 ? hosts.size() : job_.batch, at_once_);
        if (batch == at_once_ && hosts.size() > batch && !job_.quiet) {
            base::print_message(
                fmt::format("{} hosts at a time: there are no more file descriptors (ulimit -n)", batch));
        }
        for (std::size_t at = 0; at < hosts.size() && signals_.count() == 0; at += batch)
            measure({hosts.begin() + at, hosts.begin() + std::min(at + batch, hosts.size())});
        fail_all(unmeasured(), {Refusal::Kind::failed, "ended by the user before it began"});
    }

    /// What is thrown is these hosts' refusal, if they have none.
    void guarded(const Hosts& hosts, const std::function<void()>& work) {
        const auto fail = [&](const char* why) { fail_all(hosts, {Refusal::Kind::failed, short_reason(why)}); };
        try {
            work();
        } catch (const std::bad_alloc&) {
            fail("there is not enough memory here");
        } catch (const std::exception& error) {
            fail(error.what());
        }
    }

    void for_all(const Hosts& hosts, const std::function<void(std::size_t)>& work) {
        base::for_each(hosts, std::min(max_connections, at_once_),
                       [&](std::size_t host) { guarded({host}, [&] { work(host); }); });
    }

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
        if (program_for(facts) == nullptr && facts.stapgen.empty()) {
            return fmt::format("no stapgen, and no statically linked one for {} here: give --program FILE",
                               facts.architecture);
        }
        return {};
    }

    /// What the host gets; null: it has its own.
    [[nodiscard]] const SentFile* program_for(const HostFacts& facts) const {
        const auto found = programs_.find(facts.architecture);
        return found == programs_.end() ? nullptr : &found->second;
    }

    [[nodiscard]] Hosts hosts_that(bool (*is_one)(const Row& row)) const {
        Hosts hosts;
        const auto rows = board_.rows();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (is_one(rows[i])) hosts.push_back(i);
        }
        return hosts;
    }
    [[nodiscard]] Hosts alive() const {
        return hosts_that([](const Row& row) { return !row.refusal; });
    }
    [[nodiscard]] Hosts unmeasured() const {
        return hosts_that([](const Row& row) { return !row.refusal && row.state != State::done; });
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
            board_.change(host, [&](Row& row) {
                if (!row.refusal && row.state != State::done) row.refusal = refusal;
            });
    }

    [[nodiscard]] std::string program_on(const HostFacts& facts) const {
        const auto* program = program_for(facts);
        return program == nullptr ? facts.stapgen : facts.folder + "/" + program->name;
    }

    void compile() {
        std::vector<const Hosts*> kernels(kernels_.size());
        std::ranges::transform(kernels_, kernels.begin(), [](const auto& kernel) { return &kernel.second; });
        std::vector<base::Result<std::string>> made_here(kernels.size(), base::failed("ended by the user"));
        base::for_each(base::numbers_below(kernels.size()), base::usable_cpus(), [&](std::size_t at) {
            if (signals_.count() > 0) return;
            guarded(*kernels[at], [&] {
                auto made = job_.compile(board_.row(kernels[at]->front()).facts);
                made_here[at] = made ? base::read_file(*made) : tl::make_unexpected(made.error());
            });
        });
        std::vector<std::pair<const Hosts*, std::string>> left;
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            if (!made_here[i]) left.emplace_back(kernels[i], made_here[i].error().what);
            if (made_here[i]) keep_module(*kernels[i], *std::move(made_here[i]));
        }
        // Emulators and small machines take minutes for it.
        std::vector<Answer<std::string>> made(left.size(), tl::make_unexpected(Refusal{}));
        base::for_each(base::numbers_below(left.size()), std::min(max_connections, at_once_), [&](std::size_t at) {
            const auto& [kernel, why] = left[at];
            guarded(*kernel, [&] { made[at] = compile_elsewhere(*kernel, why); });
        });
        for (std::size_t i = 0; i < left.size(); ++i) {
            if (made[i]) {
                keep_module(*left[i].first, *std::move(made[i]));
            } else {
                fail_all(*left[i].first, made[i].error());
            }
        }
    }

    void keep_module(const Hosts& kernel, std::string content) {
        if (job_.sign) {
            auto is_signed = job_.sign(content, board_.row(kernel.front()).facts);
            if (!is_signed) return fail_all(kernel, {Refusal::Kind::cannot, short_reason(is_signed.error().what)});
            content = *std::move(is_signed);
        }
        const auto& module = modules_.emplace_back(sent_file(job_.recipe, ".ko", std::move(content)));
        for (const auto host : kernel)
            module_of_.emplace(host, &module);
    }

    /// On those of its hosts that the user trusts with it; for itself alone on any host. `why` this machine cannot.
    Answer<std::string> compile_elsewhere(const Hosts& kernel, std::string why) {
        bool is_asked = false;
        for (const auto host : kernel) {
            const auto row = board_.row(host);
            const bool is_trusted = std::ranges::find(job_.compile_on, row.host) != job_.compile_on.end();
            if (row.facts.stap.empty() || signals_.count() > 0 || (kernel.size() > 1 && !is_trusted)) continue;
            is_asked = true;
            auto built = compile_on(host, row.facts);
            if (built) return built;
            why += fmt::format("; {}: {}", row.host, built.error().why);
        }
        if (!is_asked && kernel.size() > 1)
            why += "; to have one of these hosts compile for all of them, name it: --compile-on HOST";
        return tl::make_unexpected(Refusal{Refusal::Kind::cannot, "no module: " + short_reason(why)});
    }

    Answer<std::string> compile_on(std::size_t host, const HostFacts& facts) {
        const auto& remote = remotes_[host];
        if (auto sent = send_program(host, facts); !sent) return tl::make_unexpected(sent.error());
        std::vector<std::string> argv{program_on(facts), "build", job_.recipe};
        argv.insert(argv.end(), job_.build.begin(), job_.build.end());
        return remote.build(facts, std::move(argv));
    }

    Answer<void> send_program(std::size_t host, const HostFacts& facts) const {
        const auto* program = program_for(facts);
        return program == nullptr ? Answer<void>() : remotes_[host].send(facts, *program);
    }

    void send(std::size_t host) {
        board_.set(host, State::sending);
        const auto facts = board_.row(host).facts;
        auto sent = send_program(host, facts);
        if (sent) sent = remotes_[host].send(facts, *module_of_.at(host));
        if (!sent) return board_.fail(host, sent.error());
        board_.set(host, State::waiting);
    }

    [[nodiscard]] std::vector<std::string> exec_argv(std::size_t host, const HostFacts& facts,
                                                     std::chrono::nanoseconds duration) const {
        return fleet::exec_argv(job_, program_on(facts), facts.folder + "/" + module_of_.at(host)->name, duration);
    }

    /// On one host of each kernel that has several, for a second: the others are spared what it does to that one.
    void try_canaries() {
        const auto living = alive();
        std::vector<Hosts> kernels;
        for (const auto& [key, kernel] : kernels_) {
            Hosts hosts;
            std::ranges::set_intersection(kernel, living, std::back_inserter(hosts));
            if (hosts.size() > 1) kernels.push_back(std::move(hosts));
        }
        base::for_each(base::numbers_below(kernels.size()), std::min(max_connections, at_once_),
                       [&](std::size_t at) { guarded(kernels[at], [&] { try_kernel(kernels[at]); }); });
    }

    /// The last one is a second opinion: no single host keeps the others from being measured, but by seeming to crash.
    void try_kernel(const Hosts& kernel) {
        std::string why;
        for (const auto host : {kernel.front(), kernel.back()}) {
            const auto row = board_.row(host);
            const auto tried = try_canary(host, row.facts);
            if (tried || signals_.count() > 0) return;
            board_.fail(host, tried.error());
            why += fmt::format("{}{}, {} of this kernel: {}", why.empty() ? "" : "; ", row.host,
                               why.empty() ? "the first" : "the last", tried.error().why);
            if (tried.error().kind == Refusal::Kind::lost) break;
        }
        fail_all(kernel, {Refusal::Kind::failed, short_reason(why)});
    }

    /// Lost: it may have crashed.
    Answer<void> try_canary(std::size_t host, const HostFacts& facts) {
        constexpr seconds duration(1);
        const auto measured = remotes_[host].measure(exec_argv(host, facts, duration), duration, {});
        const auto after = remotes_[host].ask();
        if (after && after->boot_id == facts.boot_id) {
            if (measured || measured.error().kind != Refusal::Kind::lost) return measured;
            return tl::make_unexpected(Refusal{Refusal::Kind::failed, measured.error().why});
        }
        if (after) return tl::make_unexpected(Refusal{Refusal::Kind::lost, "it rebooted during the run"});
        return tl::make_unexpected(Refusal{Refusal::Kind::lost, "after the run: " + after.error().why});
    }

    void measure(const Hosts& hosts) {
        std::atomic<std::size_t> unready = hosts.size();
        // All are ready or given up by then; if there are fewer threads than hosts, nobody waits for what has none.
        const auto latest = Clock::now() + job_.ssh.connect_timeout + seconds(10);
        base::for_each(hosts, hosts.size(), [&](std::size_t host) {
            bool is_ready = false;
            const auto becomes_ready = [&] {
                if (!std::exchange(is_ready, true)) --unready;
            };
            guarded({host},
                    [&] { measure(host, becomes_ready, [&] { return unready == 0 || Clock::now() > latest; }); });
            // Nobody waits for one that failed.
            becomes_ready();
        });
    }

    void measure(std::size_t host, const std::function<void()>& becomes_ready, const std::function<bool()>& may_begin) {
        const auto facts = board_.row(host).facts;
        RecordingFile file(job_.folder / (job_.hosts[host] + ".rec"));
        Remote::Run run;
        run.ready = becomes_ready;
        run.go = [&] {
            if (!may_begin()) return false;
            board_.set(host, State::loading);
            return true;
        };
        run.status = [&](const session::RemoteStatus& status) {
            board_.change(host, [&](Row& row) {
                row.state = State::measuring;
                row.status = status;
            });
        };
        run.recording = [&](std::string_view bytes) {
            auto written = file.write(bytes);
            board_.change(host, [&](Row& row) { row.recording = file.path(); });
            return written;
        };
        auto measured = remotes_[host].measure(exec_argv(host, facts, job_.duration), job_.duration, run);
        if (!measured) return board_.fail(host, measured.error());
        board_.set(host, State::done);
    }

    using Clock = std::chrono::steady_clock;

    const Job& job_;
    const base::HeededSignals& signals_;
    Board board_;
    std::size_t at_once_;
    std::vector<Remote> remotes_;
    std::map<std::string, SentFile> programs_;          ///< by architecture
    std::map<std::string, Hosts> kernels_;              ///< those of one kernel
    std::deque<SentFile> modules_;                      ///< its elements never move
    std::map<std::size_t, const SentFile*> module_of_;  ///< by host
    std::atomic<bool> is_done_ = false;
};

/// What a recording says, instead of what was said while it was made. Whether it says another state.
bool read_recording(Row& row) {
    if (row.recording.empty()) return false;
    const auto runs = session::load_runs({row.recording}, {}, {});
    if (runs) {
        row.status = session::status_of(runs->front().reports.front());
        return false;
    }
    if (row.refusal) return false;
    row.refusal = {Refusal::Kind::lost, short_reason(runs.error().what)};
    return true;
}

}  // namespace

std::vector<std::string> commands_of(const Job& job) {
    std::vector<std::string> commands;
    for (const auto& host : job.hosts) {
        auto argv = exec_argv(job, "stapgen", job.recipe + ".ko", job.duration);
        commands.push_back(base::shell_quoted(measuring_command(job.ssh, host, std::move(argv)).argv));
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
    const auto index = job.folder / "fleet.json";
    std::vector<Row> rows;
    {
        const base::HeededSignals signals;
        Run run(job, signals);
        BoardView view(job.quiet, ::isatty(STDERR_FILENO) == 1);
        std::jthread worker([&] { run.go(); });
        while (!run.is_done()) {
            view.show(run.rows());
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
        }
        worker.join();
        rows = run.rows();
        view.show(rows);
        view.end();
        if (auto written = base::create_file(index, fleet_json(job.recipe, rows)); !written)
            return tl::make_unexpected(written.error());
    }
    // Nothing is lost any more by a user who does not wait for the rest.
    bool is_other = false;
    for (auto& row : rows)
        is_other = read_recording(row) || is_other;
    if (is_other) {
        if (auto written = base::replace_file(index, fleet_json(job.recipe, rows)); !written)
            return tl::make_unexpected(written.error());
    }
    return rows;
}

}  // namespace stapgen::fleet
