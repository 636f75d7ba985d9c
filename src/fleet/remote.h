// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/child_process.h"
#include "session/remote.h"

/// One host, reached by the user's own ssh: their config, keys and jump hosts. It never asks for a password.
namespace stapgen::fleet {

struct SshOptions {
    std::string program = "ssh";
    std::vector<std::string> options;  ///< for each -o
    bool sudo = false;                 ///< measure by `sudo -n`
};

/// What a host says of itself.
struct HostFacts {
    std::string folder, files;  ///< its user's own, for modules and program; what is in it: " A B "
    std::string name, release, architecture, build_id;  ///< build_id: hexadecimal; empty: not known
    std::string boot_id;                                ///< another one: it was started anew
    std::string stapgen, stap, staprun;                 ///< where they are; empty: nowhere
    bool is_root = false, can_load = true;              ///< can_load: modules_disabled is not set
};

/// Why a host has no numbers.
struct Refusal {
    enum class Kind { unreachable, cannot, failed, over_budget, lost } kind = Kind::cannot;
    std::string why;
};
template <class T>
using Answer = tl::expected<T, Refusal>;

class Remote {
  public:
    /// `stop` is asked several times a second; it is 1 where all is to end in order, more where at once. Both must
    /// outlive it.
    Remote(const SshOptions& options, std::string host, const std::atomic<int>& stop)
        : options_(options), host_(std::move(host)), stop_(stop) {}

    [[nodiscard]] const std::string& host() const { return host_; }

    /// Asks it what it is, and makes a folder there.
    Answer<HostFacts> ask() const;
    /// Puts a file into that folder, mode 0700, unless it has it. `name` ends with a hash of the content.
    Answer<void> send(const HostFacts& facts, const std::string& name, const std::string& content) const;
    /// What a command prints there.
    Answer<std::string> output_of(const std::vector<std::string>& argv) const;

    struct Run {
        std::function<void()> ready;  ///< it waits for go()
        std::function<bool()> go;     ///< whether to begin; asked several times a second from then on
        std::function<void(const session::RemoteStatus& status)> status;
        std::function<void(std::string_view bytes)> recording;
    };
    /// Measures: `argv` is there a `stapgen exec --remote`. Until it has ended.
    Answer<void> measure(const std::vector<std::string>& argv, const Run& run) const;
    /// What measure() starts here.
    [[nodiscard]] std::vector<std::string> measuring_argv(const std::vector<std::string>& argv) const;

  private:
    [[nodiscard]] launch::Command command(const std::string& script) const;
    [[nodiscard]] launch::Command measuring_command(std::vector<std::string> argv) const;
    Answer<std::string> run(const std::string& script, std::string input) const;
    Answer<void> check(const base::Result<launch::Ending>& ending, const std::string& said, bool had_begun) const;

    const SshOptions& options_;
    std::string host_;
    const std::atomic<int>& stop_;
};

}  // namespace stapgen::fleet
