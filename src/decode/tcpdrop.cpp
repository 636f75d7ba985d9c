#include "decode/tcpdrop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "decode/kernel_event.h"

namespace stapgen::decode {

namespace {

bool is_number(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, base::is_digit);
}

/// "20:49:06".
bool is_clock(std::string_view text) {
    return text.size() == 8 && text[2] == ':' && text[5] == ':' && is_number(text.substr(0, 2)) &&
           is_number(text.substr(3, 2)) && is_number(text.substr(6));
}

/// "10.32.119.56:443", "fe80::1:443".
bool is_endpoint(std::string_view text) {
    const auto colon = text.rfind(':');
    return colon != std::string_view::npos && colon > 0 && is_number(text.substr(colon + 1));
}

bool is_enclosed(std::string_view text) {
    return text.size() >= 2 && text.front() == '(' && text.back() == ')';
}

}  // namespace

TcpDrop::TcpDrop() : TraceImporter("bcc tcpdrop", 1, make_drops_header("tcpdrop")) {}

bool TcpDrop::line(std::string_view line, Sink& sink) {
    if (row(line, sink) || (open_ && stack_.add(line))) return true;
    if (line.starts_with("TIME ") && line.find("SADDR:SPORT") != line.npos && line.find("(FLAGS)") != line.npos) {
        begin(sink);
        return true;
    }
    return line.starts_with("WARNING: tcp_drop() ");
}

bool TcpDrop::row(std::string_view line, Sink& sink) {
    if (!base::is_digit(line[0])) return false;
    const auto words = base::words(line);
    constexpr std::size_t without_reason = 8, with_reason = 10;
    if (words.size() != without_reason && words.size() != with_reason) return false;
    const bool is_row = is_clock(words[0]) && is_number(words[1]) && (words[2] == "4" || words[2] == "6") &&
                        is_endpoint(words[3]) && words[4] == ">" && is_endpoint(words[5]) && is_enclosed(words[7]);
    if (!is_row) return false;
    std::string_view reason;
    if (words.size() == with_reason) {
        if (!is_enclosed(words[9])) return false;
        reason = words[9].substr(1, words[9].size() - 2);
        if (!is_number(reason)) return false;
        has_reasons_ = true;
    }
    close(sink);
    begin(sink);
    open_ = true;
    reason_ = reason;
    return true;
}

void TcpDrop::close(Sink& sink) {
    if (!open_) return;
    open_ = false;
    if (stack_.place().empty()) ++placeless_;
    const std::array values{stack_.place().empty() ? Value{unknown_place} : Value{stack_.place()},
                            reason_value(reason_), Value{"1", 1}};
    ++reported_;
    send(sink, Record{&schema(), values});
    stack_.clear();
}

void TcpDrop::finished(Sink& sink) {
    close(sink);
    send_end(reported_, sink);
}

std::vector<Note> TcpDrop::notes() const {
    auto notes = TraceImporter::notes();
    if (has_reasons_) {
        notes.emplace_back(
            "reasons are the kernel's numbers, which --release names: the names beside them are of a list in tcpdrop, "
            "made for Linux 6.14");
    }
    if (placeless_ > 0)
        notes.emplace_back(fmt::format("{} drops have no calls below them, and no place", placeless_), NoteKind::count);
    return notes;
}

}  // namespace stapgen::decode
