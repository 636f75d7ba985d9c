// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string_view>
#include <thread>

#include "base/files.h"
#include "base/parallel.h"
#include "base/process.h"
#include "base/result.h"
#include "base/terminal.h"
#include "base/text.h"
#include "fleet/members.h"
#include "fleet/modules.h"
#include "fleet/results.h"
#include "session/replay.h"

namespace stapgen::fleet {

namespace {

using std::chrono::seconds;

/// A recording as it comes, in a new file of mode 0600, which is made when something comes.
class RecordingFile {
  public:
    explicit RecordingFile(std::filesystem::path path) : path_(std::move(path)) {}

    base::Result<void> write(std::string_view bytes);
    /// Empty if there is none.
    [[nodiscard]] std::filesystem::path path() const;

  private:
    std::filesystem::path path_;
    std::unique_ptr<base::Descriptor> file_;
};

base::Result<void> RecordingFile::write(std::string_view bytes) {
    if (!file_) {
        constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
        file_ = std::make_unique<base::Descriptor>(::open(path_.c_str(), flags, 0600));
    }
    while (!bytes.empty()) {
        const auto count = ::write(file_->get(), bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0)
            return base::failed(fmt::format("its recording cannot be written here: {}", std::strerror(errno)));
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

std::filesystem::path RecordingFile::path() const {
    return file_ && file_->get() >= 0 ? path_ : std::filesystem::path();
}

std::vector<std::string> measuring_argv(const Job& job, const std::string& program, const std::string& module,
                                        std::chrono::nanoseconds duration) {
    constexpr std::int64_t ns_per_ms = 1'000'000;
    std::vector<std::string> argv{program, job.has_module ? "exec" : job.recipe};
    if (job.has_module) argv.push_back(module);
    argv.insert(argv.end(), {"--remote", "-d", fmt::format("{}ms", duration.count() / ns_per_ms)});
    argv.insert(argv.end(), job.measure.begin(), job.measure.end());
    return argv;
}

class Run {
  public:
    Run(const Job& job, const base::HeededSignals& signals)
        : job_(job),
          members_(job, signals),
          at_once_(max_hosts_at_once()),
          modules_(members_, at_once_),
          keep_(job.keep.value_or(session::KeepPlan{})),
          moments_(job.hosts, keep_) {}

    /// Whatever is thrown, it ends, and the rows say why there is no more.
    void go() {
        members_.guarded(base::numbers_below(job_.hosts.size()), [&] { measure_all(); });
        is_done_ = true;
    }
    [[nodiscard]] bool is_done() const { return is_done_; }
    [[nodiscard]] std::vector<Row> rows() const { return members_.board.rows(); }
    [[nodiscard]] Moments& moments() { return moments_; }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t max_connections = 64;

    void measure_all() {
        for_all(base::numbers_below(job_.hosts.size()), [&](std::size_t host) { ask(host); });
        if (job_.has_module) {
            const auto compiling = modules_.begin();
            modules_.take_all(Clock::now() + job_.ssh.compile_wait());
            do {
                go_on(modules_.ready());
            } while (modules_.take_more());
        } else {
            go_on(members_.alive());
        }
        const auto unmeasured = members_.that([](const Row& row) { return !row.refusal && row.state != State::done; });
        members_.fail_all(unmeasured, {Refusal::Kind::failed, "ended by the user before it began"});
    }

    /// Sends what they need to hosts that have not begun yet, and measures on them.
    void go_on(const Hosts& ready) {
        for_all(ready, [&](std::size_t host) { send(host); });
        try_canaries(members_.alive(ready));
        const auto hosts = members_.alive(ready);
        const auto free = modules_.free_at_once();
        const auto batch = std::min(job_.batch == 0 ? hosts.size() : job_.batch, free);
        if (batch == free && hosts.size() > batch && !job_.quiet) {
            base::print_message(
                fmt::format("{} hosts at a time: there are no more file descriptors (ulimit -n)", batch));
        }
        for (std::size_t at = 0; at < hosts.size() && !members_.is_ended(); at += batch)
            measure({hosts.begin() + at, hosts.begin() + std::min(at + batch, hosts.size())});
    }

    void for_all(const Hosts& hosts, const std::function<void(std::size_t)>& work) {
        base::for_each(hosts, std::min(max_connections, modules_.free_at_once()),
                       [&](std::size_t host) { members_.guarded({host}, [&] { work(host); }); });
    }

    void ask(std::size_t host) {
        auto facts = members_.remotes[host].ask();
        if (!facts) return members_.board.fail(host, facts.error());
        auto why = reason_against(*facts);
        members_.board.change(host, [&](Row& row) { row.facts = *std::move(facts); });
        if (!why.empty()) members_.board.fail(host, {Refusal::Kind::cannot, std::move(why)});
    }

    /// Empty: none.
    [[nodiscard]] std::string reason_against(const HostFacts& facts) const {
        if (job_.has_module && !facts.can_load)
            return "kernel.modules_disabled is 1: no module can be loaded until the next boot";
        if (job_.has_module && facts.staprun.empty()) return "no staprun: install systemtap-runtime";
        if (members_.program_for(facts) == nullptr && facts.stapgen.empty()) {
            return fmt::format("no stapgen, and no statically linked one for {} here: give --program FILE",
                               facts.architecture);
        }
        return {};
    }

    void send(std::size_t host) {
        members_.board.set(host, State::sending);
        const auto facts = members_.board.row(host).facts;
        auto sent = members_.send_program(host, facts);
        if (sent && job_.has_module) sent = members_.remotes[host].send(facts, modules_.of(host));
        if (!sent) return members_.board.fail(host, sent.error());
        members_.board.set(host, State::waiting);
    }

    [[nodiscard]] std::vector<std::string> argv_of(std::size_t host, const HostFacts& facts,
                                                   std::chrono::nanoseconds duration) const {
        const auto module = job_.has_module ? facts.folder + "/" + modules_.of(host).name : std::string();
        return measuring_argv(job_, members_.program_on(facts), module, duration);
    }

    /// On one host of each kernel that has several, for a second: the others are spared what it does to that one.
    void try_canaries(const Hosts& living) {
        std::vector<Hosts> kernels;
        for (const auto& [key, kernel] : modules_.kernels()) {
            Hosts hosts;
            std::ranges::set_intersection(kernel, living, std::back_inserter(hosts));
            if (hosts.size() > 1) kernels.push_back(std::move(hosts));
        }
        base::for_each(base::numbers_below(kernels.size()), std::min(max_connections, modules_.free_at_once()),
                       [&](std::size_t at) { members_.guarded(kernels[at], [&] { try_kernel(kernels[at]); }); });
    }

    /// The last one is a second opinion: no single host keeps the others from being measured, but by seeming to crash.
    void try_kernel(const Hosts& kernel) {
        std::string why;
        for (const auto host : {kernel.front(), kernel.back()}) {
            const auto row = members_.board.row(host);
            const auto tried = try_canary(host, row.facts);
            if (tried || members_.is_ended()) return;
            members_.board.fail(host, tried.error());
            why += fmt::format("{}{}, {} of this kernel: {}", why.empty() ? "" : "; ", row.host,
                               why.empty() ? "the first" : "the last", tried.error().why);
            if (tried.error().kind == Refusal::Kind::lost) break;
        }
        members_.fail_all(kernel, {Refusal::Kind::failed, short_reason(why)});
    }

    /// Lost: it may have crashed.
    Answer<void> try_canary(std::size_t host, const HostFacts& facts) {
        constexpr seconds duration(1);
        const auto measured = members_.remotes[host].measure(argv_of(host, facts, duration), duration, {});
        const auto after = members_.remotes[host].ask();
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
            members_.guarded(
                {host}, [&] { measure(host, becomes_ready, [&] { return unready == 0 || Clock::now() > latest; }); });
            // Nobody waits for one that failed.
            becomes_ready();
        });
    }

    void measure(std::size_t host, const std::function<void()>& becomes_ready, const std::function<bool()>& may_begin) {
        const auto facts = members_.board.row(host).facts;
        RecordingFile file(job_.folder / (job_.hosts[host] + ".rec"));
        Remote::Run run;
        run.ready = becomes_ready;
        run.go = [&] {
            if (!may_begin()) return false;
            members_.board.set(host, State::loading);
            return true;
        };
        run.status = [&](const session::RemoteStatus& status) {
            members_.board.change(host, [&](Row& row) {
                row.state = State::measuring;
                row.status = status;
            });
        };
        // What was kept before it began is none of its.
        auto known = moments_.count();
        std::uint64_t sent = 0;
        if (job_.keep) {
            run.held = [&](const session::HeldCondition& held) { moments_.held(host, held, Clock::now()); };
            run.kept = [&] {
                members_.board.change(host, [&](Row& row) { row.kept = std::min(row.kept + 1, moments_.count()); });
            };
            run.orders = [&] { return moments_.orders_for(host, known); };
            run.further_bytes = [&] { return moments_.count() * keep_.memory; };
        }
        run.recording = [&](std::string_view bytes) {
            if (moments_.count() > 0) moments_.sent(sent += bytes.size());
            auto written = file.write(bytes);
            members_.board.change(host, [&](Row& row) { row.recording = file.path(); });
            return written;
        };
        auto measured = members_.remotes[host].measure(argv_of(host, facts, job_.duration), job_.duration, run);
        if (!measured) return members_.board.fail(host, measured.error());
        members_.board.set(host, State::done);
    }

    const Job& job_;
    Members members_;
    std::size_t at_once_;
    Modules modules_;
    session::KeepPlan keep_;
    Moments moments_;
    std::atomic<bool> is_done_ = false;
};

/// What a recording says, instead of what was said while it was made. Whether it says another state.
bool read_recording(Row& row) {
    if (row.recording.empty()) return false;
    const auto runs = session::load_foreign(row.recording, {});
    if (runs) {
        row.status = session::status_of(runs->front().reports.front());
        return false;
    }
    if (row.refusal) return false;
    row.refusal = {Refusal::Kind::lost, short_reason(runs.error().what)};
    return true;
}

std::vector<std::string> texts_of(const std::vector<Moment>& moments) {
    std::vector<std::string> texts;
    for (const auto& moment : moments)
        texts.push_back(moment.text);
    return texts;
}

}  // namespace

std::vector<std::string> commands_of(const Job& job) {
    std::vector<std::string> commands;
    for (const auto& host : job.hosts) {
        auto argv = measuring_argv(job, "stapgen", job.recipe + ".ko", job.duration);
        commands.push_back(base::shell_quoted(measuring_command(job.ssh, host, std::move(argv)).argv));
    }
    return commands;
}

base::Result<Outcome> run(const Job& job) {
    std::error_code error;
    if (!std::filesystem::create_directory(job.folder, error)) {
        return base::bad_input(
            fmt::format("cannot make the folder {}: {}", job.folder.string(), error ? error.message() : "it exists"),
            "stapgen overwrites nothing: give -o another name");
    }
    const auto index = job.folder / index_file;
    Outcome outcome;
    auto& rows = outcome.rows;
    {
        const base::HeededSignals signals;
        Run run(job, signals);
        BoardView view(job.quiet, ::isatty(STDERR_FILENO) == 1);
        std::optional<base::UserSignal> signal;
        if (job.keep) signal.emplace();
        std::jthread worker([&] { run.go(); });
        while (!run.is_done()) {
            if (signal && signal->take()) run.moments().asked(std::chrono::steady_clock::now());
            view.show(run.rows(), texts_of(run.moments().all()));
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
        }
        worker.join();
        outcome = {run.rows(), run.moments().all(), run.moments().unkept()};
        view.show(rows, texts_of(outcome.moments));
        view.end();
        STAPGEN_TRY(base::create_file(index, fleet_json(job.recipe, rows)));
    }
    // Nothing is lost any more by a user who does not wait for the rest.
    bool is_other = false;
    std::vector<std::filesystem::path> folders;
    for (const auto& moment : outcome.moments)
        folders.push_back(job.folder / moment.folder);
    for (auto& row : rows) {
        is_other = read_recording(row) || is_other;
        if (folders.empty() || row.recording.empty()) continue;
        row.kept_files = take_kept(row.recording, folders, folders.size() * job.keep->memory);
        row.kept = row.kept_files->files.size();
        is_other = true;
    }
    if (is_other) {
        STAPGEN_TRY(base::replace_file(index, fleet_json(job.recipe, rows)));
    }
    return outcome;
}

}  // namespace stapgen::fleet
