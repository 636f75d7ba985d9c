#include "launch/messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/saturate.h"
#include "base/text.h"
#include "launch/message_table.h"

namespace stapgen::launch {

namespace {

std::string filled(std::string_view text, const std::vector<std::string_view>& stars, const MessageContext& context) {
    const auto value = [&](std::string_view name) -> std::string {
        if (name == "release") return context.release.empty() ? "of the target" : context.release;
        if (name == "rebuild") return context.is_built ? "build again with " : "";
        if (name == "headers")
            return context.install_headers.empty() ? "install linux-headers" : context.install_headers;
        if (name == "debuginfo") {
            return context.install_debuginfo.empty() ? "install the kernel's debuginfo" : context.install_debuginfo;
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

/// Adds the number that the text begins with.
void add_number(std::int64_t& sum, std::string_view text) {
    sum = base::saturating_add(sum, number_in(text));
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

std::optional<Diagnosis> diagnose(std::string_view line, const MessageContext& context) {
    if (is_quoted_source(line)) return std::nullopt;
    for (const auto& row : message_table()) {
        const auto stars = match(row.pattern, line);
        if (!stars) continue;
        Diagnosis diagnosis;
        diagnosis.id = row.id;
        diagnosis.pass = row.pass;
        diagnosis.kind = row.kind;
        diagnosis.rank = row.rank;
        diagnosis.checks = row.checks;
        diagnosis.explains = row.explains;
        diagnosis.cause = filled(row.cause, *stars, context);
        diagnosis.remedy = filled(row.remedy, *stars, context);
        diagnosis.line = line;
        return diagnosis;
    }
    return std::nullopt;
}

bool count_losses(std::string_view line, Losses& losses) {
    const auto found = [&](std::string_view pattern, auto add) {
        const auto stars = match(pattern, line);
        if (stars) add(*stars);
        return stars.has_value();
    };
    return found("Number of errors: *, skipped probes: *",
                 [&](const auto& stars) {
                     add_number(losses.errors, stars[0]);
                     add_number(losses.skipped_probes, stars[1]);
                 }) ||
           found("Skipped due to missed kretprobe/* on '*': *",
                 [&](const auto& stars) { add_missed(losses, stars[1], stars[2]); }) ||
           found("Skipped due to missed kprobe on '*': *",
                 [&](const auto& stars) { add_missed(losses, stars[0], stars[1]); }) ||
           found("There were * transport failures.*",
                 [&](const auto& stars) {
                     add_number(losses.transport_failures, stars[0]);
                     if (const auto size = match("buffer size from *", stars[1])) {
                         losses.buffer_mb = number_in(size->front());
                     }
                 }) ||
           found("There were * lost messages, * lost bytes", [&](const auto& stars) {
               add_number(losses.lost_messages, stars[0]);
               add_number(losses.lost_bytes, stars[1]);
           });
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
    // Of a parse error stap tells the place in the next line.
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
        const bool says_why = diagnosis.kind == MessageKind::failure || diagnosis.kind == MessageKind::summary;
        if (says_why && (best == nullptr || diagnosis.rank > best->rank)) best = &diagnosis;
    }
    if (best == nullptr) return nullptr;
    for (const auto& diagnosis : diagnoses_) {
        const auto explained = base::words(diagnosis.explains);
        if (std::ranges::find(explained, best->id) != explained.end()) return &diagnosis;
    }
    return best;
}

std::string_view pass_name(int pass) {
    switch (pass) {
        case 1:
            return "parsing the script";
        case 2:
            return "looking up probe points";
        case 3:
            return "translating to C";
        case 4:
            return "compiling the module";
        case 5:
            return "running";
        default:
            return "starting";
    }
}

}  // namespace stapgen::launch
