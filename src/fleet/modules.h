// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fleet/members.h"

namespace stapgen::fleet {

/// The module of each host: one for each kernel, compiled here, or on hosts where this machine cannot; those come one
/// by one, and one that hangs while it compiles holds up nobody.
class Modules {
  public:
    using Clock = std::chrono::steady_clock;
    /// `at_once`: for how many hosts there are file descriptors.
    Modules(Members& members, std::size_t at_once) : members_(members), at_once_(at_once) {}

    /// Compiles here for all that are alive; the thread has hosts compile for the rest.
    [[nodiscard]] std::jthread begin();
    /// Takes what hosts have made, after all are done or at `latest`.
    void take_all(Clock::time_point latest);
    /// Waits for one more, and takes it. False: none comes any more.
    bool take_more();

    /// Those that have a module and have not begun.
    [[nodiscard]] Hosts ready() const;
    [[nodiscard]] const SentFile& of(std::size_t host) const { return *module_of_.at(host); }
    /// The hosts of each kernel.
    [[nodiscard]] const std::map<std::string, Hosts>& kernels() const { return kernels_; }
    /// Hosts for which there are descriptors beside those that compile at this moment.
    [[nodiscard]] std::size_t free_at_once();

  private:
    /// A kernel that cannot be compiled for here, and why.
    struct Left {
        const Hosts* kernel;
        std::string why;
    };
    struct Module {
        std::string content;
        std::optional<std::size_t> maker;  ///< a host; nothing: made here
    };
    /// A module that a host has compiled.
    struct Made {
        const Hosts* kernel;
        Answer<Module> module;
    };

    void find_kernels();
    std::vector<Left> compile_here();
    void compile_elsewhere(const std::vector<Left>& left);
    Answer<Module> compile_elsewhere(const Hosts& kernel, std::string why);
    Answer<std::string> compile_on(std::size_t host, const HostFacts& facts);
    void keep(const Hosts& kernel, Module made);
    bool take(Clock::time_point latest, const std::function<bool()>& is_enough);
    [[nodiscard]] bool is_trusted(std::size_t host) const;
    [[nodiscard]] std::size_t compilers_at_once() const;

    Members& members_;
    std::size_t at_once_;
    std::map<std::string, Hosts> kernels_;
    std::deque<SentFile> modules_;                      ///< its elements never move
    std::map<std::size_t, const SentFile*> module_of_;  ///< by host
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Made> made_;                     ///< and not taken yet
    std::size_t pending_ = 0;                    ///< kernels that hosts have to compile for yet
    std::atomic<std::size_t> module_bytes_ = 0;  ///< received from hosts
};

}  // namespace stapgen::fleet
