// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/process.h"
#include "fleet/run.h"

namespace stapgen::fleet {

/// Hosts by their numbers, as they were given.
using Hosts = std::vector<std::size_t>;

/// The hosts of a run: how each is reached, and how far it has come.
class Members {
  public:
    Members(const Job& job, const base::HeededSignals& signals);

    const Job& job;
    Board board;
    std::vector<Remote> remotes;

    /// The user has ended the run.
    [[nodiscard]] bool is_ended() const { return signals_.count() > 0; }
    /// Those that `is_one`.
    [[nodiscard]] Hosts that(bool (*is_one)(const Row& row)) const;
    /// Without a refusal; of all, or among these.
    [[nodiscard]] Hosts alive() const;
    [[nodiscard]] Hosts alive(const Hosts& among) const;

    /// Those that are neither done nor refused get this refusal.
    void fail_all(const Hosts& hosts, const Refusal& refusal);
    /// An exception is these hosts' refusal, if they have none.
    void guarded(const Hosts& hosts, const std::function<void()>& work);

    /// The program that the host gets; null: it has its own.
    [[nodiscard]] const SentFile* program_for(const HostFacts& facts) const;
    /// Its path there.
    [[nodiscard]] std::string program_on(const HostFacts& facts) const;
    [[nodiscard]] Answer<void> send_program(std::size_t host, const HostFacts& facts) const;

  private:
    const base::HeededSignals& signals_;
    std::map<std::string, SentFile> programs_;  ///< by architecture
};

}  // namespace stapgen::fleet
