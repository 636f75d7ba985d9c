// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/remote.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <iostream>

#include "base/text.h"
#include "kinds/latency/latency.h"

namespace stapgen::session {

namespace {

constexpr std::string_view mark = "@stapgen ", says_kept = "kept ", says_held = "held ", says_keep = "keep ";

/// What a line of a child says behind such a word; nothing of another line.
std::optional<std::string_view> behind(std::string_view line, std::string_view word) {
    if (!line.starts_with(mark) || !line.substr(mark.size()).starts_with(word)) return std::nullopt;
    return base::trim(line.substr(mark.size() + word.size()));
}

/// A number that is not below 0.
std::optional<std::int64_t> count_of(std::string_view word) {
    const auto number = base::to_int(word);
    return number && *number >= 0 ? number : std::nullopt;
}

std::optional<KeepOrder> parse_order(std::string_view line) {
    constexpr std::size_t longest_host = 255;
    if (!line.starts_with(says_keep)) return std::nullopt;
    const auto words = base::split(line.substr(says_keep.size()), ' ');
    if (words.size() < 2 || words.size() > 3) return std::nullopt;
    const auto moment = count_of(words[0]), number = count_of(words[1]);
    if (!moment || *moment == 0 || !number) return std::nullopt;
    KeepOrder order{*moment, static_cast<std::size_t>(*number), {}};
    if (words.size() == 3) order.host = words[2];
    if (order.host.size() > longest_host || base::printable(order.host) != order.host) return std::nullopt;
    return order;
}

/// Whether there is something to read, or an end.
bool is_readable(int descriptor, int timeout_ms) {
    pollfd poll{descriptor, POLLIN, 0};
    return ::poll(&poll, 1, timeout_ms) > 0;
}

}  // namespace

RemoteStatus status_of(const kinds::Measured& measured) {
    RemoteStatus status;
    status.is_measuring = true;
    status.reported = measured.accounting.reported;
    status.lost = measured.accounting.lost_total();
    for (const auto& [name, stats] : kinds::latency::whole_of(measured.of<rows::Stage>())) {
        const auto p99 = stats->percentile(99);
        if (!p99 || (status.p99_ns && *p99 <= *status.p99_ns)) continue;
        status.p99_ns = p99;
        status.stage = name;
    }
    return status;
}

std::string status_line(const RemoteStatus& status) {
    if (!status.is_measuring) return fmt::format("{}ready\n", mark);
    auto line = fmt::format("{}{} {}", mark, status.reported, status.lost);
    if (status.p99_ns) line += fmt::format(" {} {}", status.stage, *status.p99_ns);
    return line + '\n';
}

std::string kept_line(const KeptRecording& kept) {
    return fmt::format("{}{}{} {}\n", mark, says_kept, kept.at_epoch_ns, kept.file);
}

std::optional<KeptRecording> parse_kept(std::string_view line) {
    constexpr std::size_t most_bytes = 4096;
    const auto said = behind(line, says_kept);
    if (!said || said->find(' ') == std::string_view::npos) return std::nullopt;
    const auto at = count_of(said->substr(0, said->find(' ')));
    if (!at) return std::nullopt;
    const auto file = said->substr(said->find(' ') + 1);
    if (file.size() > most_bytes || base::printable(file) != file) return std::nullopt;
    return KeptRecording{*at, std::string(file)};
}

std::string held_line(const HeldCondition& held) {
    return fmt::format("{}{}{} {}\n", mark, says_held, held.number, held.value);
}

std::optional<HeldCondition> parse_held(std::string_view line) {
    const auto said = behind(line, says_held);
    const auto words = base::split(said.value_or(""), ' ');
    if (words.size() != 2) return std::nullopt;
    const auto number = count_of(words[0]), value = count_of(words[1]);
    if (!number || !value) return std::nullopt;
    return HeldCondition{static_cast<std::size_t>(*number), *value};
}

std::string order_line(const KeepOrder& order) {
    return fmt::format("{}{} {}{}{}\n", says_keep, order.moment, order.number, order.host.empty() ? "" : " ",
                       order.host);
}

void OrderReader::add(std::string_view bytes, const std::function<void(const KeepOrder& order)>& take) {
    constexpr std::size_t longest = 512;
    for (const char c : bytes) {
        if (c != '\n') {
            is_too_long_ = is_too_long_ || line_.size() >= longest;
            if (!is_too_long_) line_ += c;
            continue;
        }
        if (const auto order = parse_order(line_); order && !is_too_long_ && take) take(*order);
        line_.clear();
        is_too_long_ = false;
    }
}

std::optional<RemoteStatus> parse_status(std::string_view line) {
    if (!line.starts_with(mark)) return std::nullopt;
    const auto words = base::split(base::trim(line.substr(mark.size())), ' ');
    RemoteStatus status;
    if (words.size() == 1 && words[0] == "ready") return status;
    if (words.size() != 2 && words.size() != 4) return std::nullopt;
    const auto seen = base::to_int(words[0]), lost = base::to_int(words[1]);
    if (!seen || !lost) return std::nullopt;
    status.is_measuring = true;
    status.reported = *seen;
    status.lost = *lost;
    if (words.size() == 4) {
        // It gets to a terminal, and comes from another machine.
        constexpr std::size_t max_stage = 64;
        if (words[2].size() > max_stage || base::printable(words[2]) != words[2]) return std::nullopt;
        status.stage = words[2];
        status.p99_ns = base::to_int(words[3]);
        if (!status.p99_ns) return std::nullopt;
    }
    return status;
}

void Said::add(std::string_view line) {
    constexpr std::size_t max_line = 4096, most = 2 * max_line;
    if (line.empty()) return;
    text_.append(line.substr(0, max_line)).append(1, '\n');
    if (text_.size() > most) text_.erase(0, text_.find('\n', text_.size() - most) + 1);
}

std::string last_line_of(std::string_view said) {
    std::string last;
    for (const auto line : base::split(said, '\n')) {
        if (!base::trim(line).empty()) last = base::printable(base::trim(line));
    }
    return last;
}

std::string reason_of(std::string_view said) {
    constexpr std::string_view name = "stapgen: ";
    std::string reason;
    for (const auto line : base::split(said, '\n')) {
        if (line.starts_with(name) && !line.starts_with("stapgen: measuring"))
            reason = base::printable(line.substr(name.size()));
    }
    return reason.empty() ? last_line_of(said) : reason;
}

base::Result<void> RemoteControl::wait_for_go() {
    std::cerr << status_line({}) << std::flush;
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) == 1) {
        if (byte == '\n') return {};
    }
    return base::failed("--remote: stdin closed before the start line",
                        "'stapgen fleet run' uses --remote; without it the measurement starts at once");
}

bool RemoteControl::tick(const analyze::Analyzer* analyzer, const std::function<void(const KeepOrder& order)>& keep) {
    const auto now = std::chrono::steady_clock::now();
    if (analyzer != nullptr && now - said_ >= std::chrono::seconds(1)) {
        said_ = now;
        std::cerr << status_line(status_of(analyzer->measured())) << std::flush;
    }
    char bytes[64];
    while (is_readable(STDIN_FILENO, 0)) {
        const auto count = ::read(STDIN_FILENO, bytes, sizeof(bytes));
        if (count <= 0) return true;
        orders_.add({bytes, static_cast<std::size_t>(count)}, keep);
    }
    return false;
}

}  // namespace stapgen::session
