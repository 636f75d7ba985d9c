// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "fleet/host_facts.h"
#include "launch/child_process.h"
#include "session/remote.h"

/// One host, reached by the user's own ssh: their config, keys and jump hosts. It never asks for a password.
namespace stapgen::fleet {

struct SshOptions {
    std::string program = "ssh";
    std::vector<std::string> options;  ///< for each -o
    bool sudo = false;                 ///< measure by `sudo -n`
    /// For a host to be reached and to answer; again, until it is ready to measure; and to end, once it was asked to.
    /// Twice as long may a run take beyond its duration, to load the module and to send what is left.
    std::chrono::milliseconds connect_timeout = std::chrono::seconds(30);

    /// For a host to compile: 10 minutes by default. The first time, on a busy or emulated machine, takes minutes.
    [[nodiscard]] std::chrono::milliseconds compile_time() const { return 20 * connect_timeout; }
    /// How long the others wait for one that compiles, to begin together.
    [[nodiscard]] std::chrono::milliseconds compile_wait() const { return 4 * connect_timeout; }
};

/// A file that a host gets into its folder.
struct SentFile {
    std::string name, content;
    std::string hash;  ///< SHA-256, hexadecimal
};

/// Its name has some of the hash in it.
SentFile sent_file(std::string_view name, std::string_view ending, std::string content);

class Remote {
  public:
    /// `signals`: at the first one all is to end in order, at the next at once. Both must outlive it.
    Remote(const SshOptions& options, std::string host, const base::HeededSignals& signals)
        : options_(options), host_(std::move(host)), signals_(signals) {}

    [[nodiscard]] const std::string& host() const { return host_; }

    /// Asks it what it is, and makes a folder there.
    Answer<HostFacts> ask() const;
    /// Puts a file into that folder, mode 0700, unless it has it.
    Answer<void> send(const HostFacts& facts, const SentFile& file) const;
    /// The module that a `stapgen build` makes there, within compile_time(); `argv` without -o. `take` is asked for
    /// room for the bytes that come; false: there is no more here.
    Answer<std::string> build(const HostFacts& facts, std::vector<std::string> argv,
                              const std::function<bool(std::size_t bytes)>& take) const;

    struct Run {
        std::function<void()> ready = [] {};  ///< it waits for go()
        std::function<bool()> go = [] {
            return true;
        };  ///< whether to begin; asked several times a second from then on
        std::function<void(const session::RemoteStatus& status)> status = [](const auto&) {};
        std::function<void(const session::HeldCondition& held)> held = [](const auto&) {};
        std::function<void()> kept = [] {};  ///< it has sent a recording of the seconds before
        /// Lines for it; asked several times a second while it measures.
        std::function<std::string()> orders = [] { return std::string(); };
        /// Bytes that its recording may have beside what it may have by its time.
        std::function<std::size_t()> further_bytes = [] { return std::size_t{0}; };
        /// An error ends it.
        std::function<base::Result<void>(std::string_view bytes)> recording = [](auto) { return base::Result<void>(); };
    };
    /// Measures: `argv` is there a `stapgen exec --remote`, or that of a recipe without a module. Until it has ended.
    Answer<void> measure(const std::vector<std::string>& argv, std::chrono::nanoseconds duration, const Run& run) const;

  private:
    struct Allowance {
        std::size_t bytes;
        std::chrono::milliseconds time;
        std::function<bool(std::size_t bytes)> take = [](std::size_t) { return true; };
    };
    /// The output of the script.
    Answer<std::string> run(const std::string& script, std::string input, const Allowance& allowed) const;

    const SshOptions& options_;
    std::string host_;
    const base::HeededSignals& signals_;
};

/// How many hosts there are descriptors for, now; 1 or more.
std::size_t max_hosts_at_once();

/// The command that Remote::measure() starts here.
launch::Command measuring_command(const SshOptions& options, const std::string& host, std::vector<std::string> argv);

}  // namespace stapgen::fleet
