// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/saturate.h"
#include "base/text.h"

namespace stapgen::launch {

namespace {

std::string filled(std::string_view text, const std::vector<std::string_view>& stars, const MessageContext& context) {
    const auto value = [&](std::string_view name) -> std::string {
        if (name == "release") return context.release.empty() ? "of the target" : context.release;
        if (name == "rebuild") return context.is_built ? "build again with " : "";
        if (name == "headers")
            return context.install_headers.empty()
                       ? "linux-headers (apt), kernel-devel (dnf), kernel-default-devel (zypper)"
                       : context.install_headers;
        if (name == "debuginfo") {
            return context.install_debuginfo.empty() ? "install the kernel's debuginfo" : context.install_debuginfo;
        }
        if (name == "log") {
            return context.is_log ? "the lines before it say why; stapgen help stap-failures explains messages"
                                  : "see the log";
        }
        const auto number = base::to_unsigned(name).value_or(0);
        if (number < 1 || number > stars.size()) return {};
        return base::printable(base::trim(stars[number - 1]));
    };
    std::string out;
    while (!text.empty()) {
        const auto open = std::min(text.find('{'), text.size());
        out += text.substr(0, open);
        text.remove_prefix(open);
        const auto close = text.find('}');
        if (close == std::string_view::npos) break;
        out += value(text.substr(1, close - 1));
        text.remove_prefix(close + 1);
    }
    return out + std::string(text);
}

/// The number that the text begins with.
std::int64_t number_in(std::string_view text) {
    text = base::trim(text);
    return base::to_int(text.substr(0, text.find_first_not_of("0123456789"))).value_or(0);
}

void add_number(std::int64_t& sum, std::string_view text) {
    base::add_saturating(sum, number_in(text));
}

/// The function of a probe: of kprobe.function("x").return it is "return of x".
std::string function_of(std::string_view probe) {
    const auto named = match("(\"*\")*", probe);
    if (!named) return base::printable(probe);
    return base::printable(fmt::format("{}{}", (*named)[1].find(".return") == 0 ? "return of " : "", (*named)[0]));
}

void add_missed(Losses& losses, std::string_view probe, std::string_view count) {
    constexpr std::size_t max_functions = 500, max_length = 200;
    const auto function = function_of(probe.substr(0, max_length));
    if (losses.missed.size() < max_functions || losses.missed.contains(function))
        add_number(losses.missed[function], count);
}

/// Whether the compiler quotes source here (" 6129 |   _stp_error(..."), in which any message may stand.
bool is_quoted_source(std::string_view line) {
    const auto number = base::trim(line.substr(0, line.find('|')));
    return number.size() < line.size() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::optional<std::vector<std::string_view>> match(std::string_view pattern, std::string_view line) {
    const bool is_open = !pattern.ends_with('*');
    auto stars = base::match(fmt::format("*{}{}", pattern, is_open ? "*" : ""), line);
    if (!stars) return std::nullopt;
    if (is_open) stars->pop_back();
    stars->erase(stars->begin());
    return stars;
}

std::optional<Diagnosis> diagnose(std::string_view line, const MessageContext& context) {
    if (is_quoted_source(line)) return std::nullopt;
    for (const auto& row : message_table()) {
        const auto stars = match(row.pattern, line);
        if (!stars) continue;
        return Diagnosis{row, filled(row.cause, *stars, context), filled(row.remedy, *stars, context),
                         std::string(line), row.explains};
    }
    return std::nullopt;
}

Diagnosis described(const MessageRow& row, const MessageContext& context) {
    static constexpr std::string_view names = "XYZ";
    std::vector<std::string_view> stars;
    std::string line;
    std::size_t used = 0;
    for (const char c : row.pattern) {
        if (c != '*') {
            line += c;
            continue;
        }
        const auto number = fmt::format("{{{}}}", stars.size() + 1);
        const bool is_named = row.cause.find(number) != row.cause.npos || row.remedy.find(number) != row.remedy.npos;
        stars.push_back(is_named && used < names.size() ? names.substr(used++, 1) : "...");
        line += stars.back();
    }
    return {row, filled(row.cause, stars, context), filled(row.remedy, stars, context), line, row.explains};
}

bool count_losses(std::string_view line, Losses& losses) {
    if (const auto counts = match("Number of errors: *, skipped probes: *", line)) {
        add_number(losses.errors, (*counts)[0]);
        add_number(losses.skipped_probes, (*counts)[1]);
    } else if (const auto returns = match("Skipped due to missed kretprobe/* on '*': *", line)) {
        add_missed(losses, (*returns)[1], (*returns)[2]);
    } else if (const auto calls = match("Skipped due to missed kprobe on '*': *", line)) {
        add_missed(losses, (*calls)[0], (*calls)[1]);
    } else if (const auto failures = match("There were * transport failures.*", line)) {
        add_number(losses.transport_failures, (*failures)[0]);
        if (const auto size = match("buffer size from *", (*failures)[1])) losses.buffer_mb = number_in(size->front());
    } else if (const auto lost = match("There were * lost messages, * lost bytes", line)) {
        add_number(losses.lost_messages, (*lost)[0]);
        add_number(losses.lost_bytes, (*lost)[1]);
    } else {
        return false;
    }
    return true;
}

std::optional<PassLine> parse_pass_line(std::string_view line) {
    if (!line.starts_with("Pass ") || line.size() < 8 || line[6] != ':') return std::nullopt;
    PassLine pass;
    pass.pass = line[5] - '0';
    if (pass.pass < 1 || pass.pass > 5) return std::nullopt;
    pass.cached = line.find(": using cached ") != std::string_view::npos;
    pass.failed = line.find(" failed.") != std::string_view::npos;
    if (const auto end = line.rfind("real ms."); end != std::string_view::npos) {
        const auto begin = line.find_last_not_of("0123456789", end == 0 ? 0 : end - 1);
        pass.real = std::chrono::milliseconds(base::to_int(line.substr(begin + 1, end - begin - 1)).value_or(0));
    } else if (!pass.cached && !pass.failed && pass.pass != 5) {
        return std::nullopt;
    }
    return pass;
}

void MessageReader::line(std::string_view text) {
    if (const auto over = parse_pass_line(text); over && !pass_failed_) {
        pass_ = over->failed ? over->pass : std::min(over->pass + 1, 5);
        pass_failed_ = over->failed;
    }
    count_losses(text, losses_);
    // stap prints the place of a parse error in the next line.
    if (const auto saw = match("saw: * at *", text);
        saw && !diagnoses_.empty() && diagnoses_.back().id == "parse-error") {
        diagnoses_.back().cause += base::printable(fmt::format(", not {} at {}", (*saw)[0], (*saw)[1]));
    }
    if (auto diagnosis = diagnose(text, context_)) {
        // A run can repeat itself without end; what counts is in the first ones.
        constexpr std::size_t max_kept = 1000;
        if (diagnoses_.size() < max_kept) diagnoses_.push_back(std::move(*diagnosis));
    }
}

const Diagnosis* MessageReader::cause() const {
    const Diagnosis* best = nullptr;
    for (const auto& diagnosis : diagnoses_) {
        const bool says_why = diagnosis.kind == MessageKind::failure;
        if (says_why && (best == nullptr || diagnosis.level > best->level)) best = &diagnosis;
    }
    if (best == nullptr) return nullptr;
    const auto deeper = std::ranges::find_if(
        diagnoses_, [&](const Diagnosis& diagnosis) { return base::contains_word(diagnosis.explains, best->id); });
    return deeper == diagnoses_.end() ? best : &*deeper;
}

base::ErrorKind error_kind(CauseLevel level) {
    if (level >= CauseLevel::system) return base::ErrorKind::cannot_here;
    return level == CauseLevel::overload ? base::ErrorKind::over_budget : base::ErrorKind::failed;
}

std::string_view pass_name(int pass) {
    static constexpr std::array<std::string_view, 6> names{
        "starting",         "parsing the script",   "looking up probe points",
        "translating to C", "compiling the module", "running"};
    return names[pass >= 1 && pass <= 5 ? static_cast<std::size_t>(pass) : 0];
}

}  // namespace stapgen::launch
