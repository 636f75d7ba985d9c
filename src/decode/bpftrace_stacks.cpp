#include "decode/bpftrace_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/saturate.h"
#include "base/text.h"
#include "decode/kernel_event.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

constexpr std::string_view of_reasons = "SKB_DROP_REASON_";

/// The key of several ("swapper/0, SKB_DROP_REASON_NO_SOCKET") that is a reason; empty if none is.
std::string_view find_reason(std::string_view keys) {
    for (const auto key : base::split(keys, ',')) {
        const auto word = base::trim(key);
        if (word.starts_with(of_reasons)) return word;
    }
    return {};
}

/// "]: 12" at the end of a line.
struct Closing {
    std::string_view keys;  ///< what stands before
    Value count;
};

std::optional<Closing> read_closing(std::string_view line) {
    constexpr std::string_view border = "]: ";
    const auto at = line.rfind(border);
    if (at == std::string_view::npos) return std::nullopt;
    Closing closing{line.substr(0, at), {}};
    Scan scan{line.substr(at + border.size())};
    if (!scan.count(closing.count.number, closing.count.raw) || !base::trim(scan.rest).empty()) return std::nullopt;
    return closing;
}

/// The text behind "@name["; nothing if the line does not begin so.
std::optional<std::string_view> behind_name(std::string_view line) {
    if (!line.starts_with('@')) return std::nullopt;
    const auto bracket = line.find('[');
    if (bracket == std::string_view::npos) return std::nullopt;
    if (!std::ranges::all_of(line.substr(1, bracket - 1), base::is_word_character)) return std::nullopt;
    return line.substr(bracket + 1);
}

}  // namespace

BpftraceStacks::BpftraceStacks() : TraceImporter("bpftrace", 1, make_drops_header("bpftrace")) {}

bool BpftraceStacks::line(std::string_view line, Sink& sink) {
    const auto text = base::trim(line);
    if (open_ && (call(text) || close(text, sink))) return true;
    const bool is_probes = text.ends_with(" probe...") || text.ends_with(" probes...") || text.ends_with(" probe") ||
                           text.ends_with(" probes");
    return open(text, sink) || text == "Tracing unusual skb drop stacks. Hit Ctrl-C to end." ||
           (is_probes && (text.starts_with("Attaching ") || text.starts_with("Attached ")));
}

bool BpftraceStacks::open(std::string_view line, Sink& sink) {
    const auto keys = behind_name(line);
    if (!keys) return false;
    if (const auto closing = read_closing(*keys)) {
        const auto reason = find_reason(closing->keys);
        if (reason.empty()) return false;
        drop(unknown_place, reason, closing->count, sink);
        return true;
    }
    if (keys->find("]: ") != keys->npos) return false;
    count_cut();
    open_ = true;
    reason_ = find_reason(*keys);
    stack_.clear();
    return true;
}

/// Its first call tells whether a stack is that of a drop.
bool BpftraceStacks::call(std::string_view line) {
    if (!stack_.add(line)) return false;
    open_ = stack_.drops() || stack_.place().empty();
    return open_;
}

bool BpftraceStacks::close(std::string_view line, Sink& sink) {
    const auto closing = read_closing(line);
    if (!closing || !(closing->keys.empty() || closing->keys.starts_with(", "))) return false;
    open_ = false;
    if (!stack_.drops()) return false;
    if (reason_.empty()) reason_ = find_reason(closing->keys);
    drop(stack_.place().empty() ? unknown_place : std::string_view(stack_.place()), reason_, closing->count, sink);
    return true;
}

void BpftraceStacks::count_cut() {
    if (open_ && stack_.drops()) ++cut_;
    open_ = false;
}

void BpftraceStacks::drop(std::string_view place, std::string_view reason, const Value& count, Sink& sink) {
    const std::array values{Value{place}, reason_value(reason), count};
    base::add_saturating(reported_, count.number);
    send(sink, Record{&schema(), values});
}

void BpftraceStacks::finished(Sink& sink) {
    count_cut();
    send_end(reported_, sink);
}

std::vector<Note> BpftraceStacks::notes() const {
    auto notes = TraceImporter::notes();
    if (cut_ > 0)
        notes.emplace_back(fmt::format("{} stacks have no count below them, and are not counted", cut_),
                           NoteKind::count);
    return notes;
}

}  // namespace stapgen::decode
