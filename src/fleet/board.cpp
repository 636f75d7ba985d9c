// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/board.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/terminal.h"
#include "show/model/texts.h"
#include "show/text/sections.h"

namespace stapgen::fleet {

Board::Board(const std::vector<std::string>& hosts) {
    for (const auto& host : hosts)
        rows_.emplace_back().host = host;
}

Row Board::row(std::size_t host) const {
    const std::scoped_lock lock(mutex_);
    return rows_[host];
}

std::vector<Row> Board::rows() const {
    const std::scoped_lock lock(mutex_);
    return rows_;
}

std::string_view state_text(const Row& row) {
    constexpr std::string_view refusals[] = {"unreachable", "cannot", "failed", "over budget", "lost"};
    constexpr std::string_view states[] = {"asking", "compiling", "sending", "waiting", "loading", "measuring", "done"};
    if (row.refusal) return refusals[static_cast<std::size_t>(row.refusal->kind)];
    return states[static_cast<std::size_t>(row.state)];
}

std::string table_text(const std::vector<Row>& rows, const base::Screen& screen) {
    using show::Kind;
    show::Table table;
    table.columns = {
        {"HOST", Kind::head}, {"KERNEL", Kind::text}, {"STATE", Kind::text}, {"PACKETS"}, {"LOST"}, {"P99"},
        {"STAGE", Kind::text}};
    const bool is_kept = std::ranges::any_of(rows, [](const Row& row) { return row.kept > 0; });
    const bool is_why = std::ranges::any_of(rows, [](const Row& row) { return row.refusal.has_value(); });
    if (is_kept) table.columns.push_back({"KEPT"});
    if (is_why) table.columns.push_back({"WHY", Kind::text});
    for (const auto& row : rows) {
        const auto& status = row.status;
        const auto or_dash = [](const std::string& text) { return show::Cell{.text = text.empty() ? "-" : text}; };
        auto& cells = table.rows.emplace_back();
        cells = {{row.host},
                 or_dash(row.facts.release),
                 {.text = std::string(state_text(row)), .ink = row.refusal ? base::Ink::bad : base::Ink::plain},
                 or_dash(status.is_measuring ? fmt::to_string(status.reported) : ""),
                 or_dash(status.is_measuring ? fmt::to_string(status.lost) : ""),
                 or_dash(status.p99_ns ? show::duration_text(*status.p99_ns) : ""),
                 or_dash(status.stage)};
        if (is_kept) cells.push_back(or_dash(row.kept > 0 ? fmt::to_string(row.kept) : ""));
        if (is_why) cells.push_back({row.refusal ? row.refusal->why : ""});
    }
    return show::text_of(table, screen);
}

namespace {

nlohmann::ordered_json kept_json(const KeptFiles& kept) {
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    for (const auto& [file, facts, is_whole] : kept.files) {
        files.push_back({{"file", (file.parent_path().filename() / file.filename()).string()},
                         {"condition", short_reason(facts.condition)},
                         {"value", short_reason(facts.value)},
                         {"at_epoch_ns", facts.at_epoch_ns},
                         {"whole", is_whole}});
    }
    return files;
}

}  // namespace

std::string fleet_json(const std::string& recipe, const std::vector<Row>& rows) {
    nlohmann::ordered_json hosts = nlohmann::ordered_json::array();
    for (const auto& row : rows) {
        nlohmann::ordered_json host{{"host", row.host},
                                    {"name", row.facts.name},
                                    {"state", state_text(row)},
                                    {"kernel", row.facts.release},
                                    {"build_id", row.facts.build_id},
                                    {"recording", row.recording.filename().string()}};
        if (row.refusal) host["why"] = row.refusal->why;
        if (row.kept_files) {
            host["kept"] = kept_json(*row.kept_files);
            if (!row.kept_files->why.empty()) host["kept_why"] = row.kept_files->why;
        }
        hosts.push_back(std::move(host));
    }
    return nlohmann::ordered_json{{"schema", "stapgen.fleet/1"}, {"recipe", recipe}, {"hosts", std::move(hosts)}}.dump(
               2, ' ', false, nlohmann::json::error_handler_t::replace) +
           '\n';
}

void BoardView::show(const std::vector<Row>& rows, const std::vector<std::string>& moments) {
    if (quiet_) return;
    if (is_terminal_) {
        const auto screen = base::screen_of(STDERR_FILENO);
        auto text = table_text(rows, screen);
        if (!moments.empty()) {
            const auto last = fmt::format("kept {} times, last at {}", moments.size(), moments.back());
            text += last.substr(0, screen.width) + '\n';
        }
        end();
        std::cerr << text << std::flush;
        lines_ = static_cast<std::size_t>(std::ranges::count(text, '\n'));
        return;
    }
    for (; moments_ < moments.size(); ++moments_)
        base::print_message(fmt::format("{}: all keep the seconds before", moments[moments_]));
    before_.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto state = state_text(rows[i]);
        if (std::exchange(before_[i].kept, rows[i].kept) < rows[i].kept)
            base::print_message(fmt::format("{}: kept {}", rows[i].host, rows[i].kept));
        if (std::exchange(before_[i].state, state) == state) continue;
        base::print_message(
            fmt::format("{}: {}{}", rows[i].host, state, rows[i].refusal ? ": " + rows[i].refusal->why : ""));
    }
}

void BoardView::end() {
    // CSI A, CSI J: ECMA-48.
    if (lines_ > 0) std::cerr << fmt::format("\x1b[{}A\x1b[J", lines_) << std::flush;
    lines_ = 0;
}

}  // namespace stapgen::fleet
