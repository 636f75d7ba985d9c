// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/terminal.h"
#include "fleet/kept.h"
#include "fleet/remote.h"

namespace stapgen::fleet {

enum class State { asking, compiling, sending, waiting, loading, measuring, done };

/// A host and how far it is.
struct Row {
    std::string host;
    HostFacts facts;
    State state = State::asking;
    std::optional<Refusal> refusal;  ///< it goes no further, or what it measured is not whole
    session::RemoteStatus status;
    std::filesystem::path recording;        ///< empty: there is none
    std::size_t kept = 0;                   ///< recordings of the seconds before that it says that it has sent
    std::optional<KeptFiles> kept_files{};  ///< once they were taken out of its recording
};

/// "unreachable", "cannot", "failed", "over budget", "lost", or how far it is.
std::string_view state_text(const Row& row);

/// The states of all hosts, for the threads that ask them and the one that shows it.
class Board {
  public:
    explicit Board(const std::vector<std::string>& hosts);

    template <class Change>
    void change(std::size_t host, Change apply) {
        const std::scoped_lock lock(mutex_);
        apply(rows_[host]);
    }
    void set(std::size_t host, State state) {
        change(host, [&](Row& row) { row.state = state; });
    }
    void fail(std::size_t host, Refusal refusal) {
        change(host, [&](Row& row) { row.refusal = std::move(refusal); });
    }
    [[nodiscard]] Row row(std::size_t host) const;
    [[nodiscard]] std::vector<Row> rows() const;

  private:
    mutable std::mutex mutex_;
    std::vector<Row> rows_;
};

/// A row for each host: its name, kernel, state, packets, p99 of the slowest stage, losses; how many recordings it has
/// kept, and why it failed.
std::string table_text(const std::vector<Row>& rows, const base::Screen& screen = {});

/// fleet.json: docs/reference/formats.md.
std::string fleet_json(const std::string& recipe, const std::vector<Row>& rows);

/// On a terminal the table, drawn anew; else a line for each host that is in another state than before, or has kept
/// more. To stderr.
class BoardView {
  public:
    BoardView(bool quiet, bool is_terminal) : quiet_(quiet), is_terminal_(is_terminal) {}
    /// `moments`: texts of those at which all were to keep the seconds before.
    void show(const std::vector<Row>& rows, const std::vector<std::string>& moments);
    /// Takes the table off the terminal.
    void end();

  private:
    bool quiet_, is_terminal_;
    std::size_t lines_ = 0, moments_ = 0;
    struct Shown {
        std::string_view state;
        std::size_t kept = 0;
    };
    std::vector<Shown> before_;
};

}  // namespace stapgen::fleet
