// SPDX-License-Identifier: GPL-2.0-or-later

#include <algorithm>

#include "base/kernel.h"
#include "base/text.h"
#include "decode/importers.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

/// The key of several ("swapper/0, SKB_DROP_REASON_NO_SOCKET") that is a reason; empty if none is.
std::string_view find_reason(std::string_view keys) {
    for (const auto key : base::split(keys, ',')) {
        const auto word = base::trim(key);
        if (word.starts_with(base::drop_reason_prefix)) return word;
    }
    return {};
}

/// "]: 12" at the end of a line.
struct Closing {
    std::string_view keys;  ///< what precedes it
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

/// Maps of bpftrace whose keys are kernel stacks that begin in a function that drops packets (@[kstack] = count(), as
/// skbdrop.bt has it), with or without a name, and other keys beside the stack:
///     @drops[swapper/0,
///         kfree_skb+115
///         __neigh_event_send+165
///     ]: 3
/// The first call that does not only drop is the place. And maps of reasons, which newer versions name:
///     @[SKB_DROP_REASON_NO_SOCKET]: 3
/// what print(args.reason) makes of each drop, and maps whose keys are reasons by the command or
/// places:
///     bpftrace -e 'tracepoint:skb:kfree_skb { @[ksym(args.location), args.reason] = count(); }'
///     @[tcp_v4_rcv, 2]: 3
/// Other maps are not understood.
class BpftraceStacks final : public DropImporter {
  public:
    BpftraceStacks() : DropImporter("bpftrace", "bpftrace") {}

    std::vector<Note> notes() const override {
        auto notes = DropImporter::notes();
        add_count(notes, cut_, "stacks without a count are ignored");
        return notes;
    }

  private:
    bool line(std::string_view line, Sink& sink) override {
        const auto text = base::trim(line);
        if (drop_ && (call(text) || close_block(text, sink))) return true;
        const bool is_probes = text.ends_with(" probe...") || text.ends_with(" probes...") ||
                               text.ends_with(" probe") || text.ends_with(" probes");
        return open(text, sink) || command(text) || reason(text, sink) ||
               text == "Tracing unusual skb drop stacks. Hit Ctrl-C to end." ||
               (is_probes && (text.starts_with("Attaching ") || text.starts_with("Attached ")));
    }

    bool command(std::string_view line) {
        const bool is_of_drops = line.find("bpftrace ") != line.npos && line.find("kfree_skb") != line.npos;
        const auto map = is_of_drops ? line.find('@') : line.npos;
        if (map == line.npos) return false;
        const auto keys = line.substr(std::min(line.find('[', map), line.size() - 1) + 1);
        key_names_.clear();
        for (const auto name : base::split(keys.substr(0, keys.find(']')), ','))
            key_names_.emplace_back(name);
        return true;
    }

    bool reason(std::string_view line, Sink& sink) {
        const bool is_name =
            line.starts_with(base::drop_reason_prefix) && std::ranges::all_of(line, base::is_word_character);
        if (is_name) report_drop({}, line, sink);
        return is_name;
    }

    /// A map whose keys the command names.
    bool named(const Closing& closing, Sink& sink) {
        const auto keys = base::split(closing.keys, ',');
        if (keys.size() != key_names_.size()) return false;
        std::string_view place, reason;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (key_names_[i].find("reason") != std::string::npos) reason = base::trim(keys[i]);
            if (key_names_[i].find("location") != std::string::npos) place = base::trim(keys[i]);
        }
        if (place.empty() && reason.empty()) return false;
        report_drop(place, reason, sink, closing.count);
        return true;
    }

    bool open(std::string_view line, Sink& sink) {
        const auto keys = behind_name(line);
        if (!keys) return false;
        if (const auto closing = read_closing(*keys)) {
            const auto reason = find_reason(closing->keys);
            if (named(*closing, sink)) return true;
            if (reason.empty()) return false;
            report_drop({}, reason, sink, closing->count);
            return true;
        }
        if (keys->find("]: ") != keys->npos) return false;
        open_drop(sink).reason = find_reason(*keys);
        return true;
    }

    bool close_block(std::string_view line, Sink& sink) {
        const auto closing = read_closing(line);
        if (!closing || !(closing->keys.empty() || closing->keys.starts_with(", "))) return false;
        const bool drops = drop_->stack.drops();
        if (drops) report_open(find_reason(closing->keys), sink, closing->count);
        drop_.reset();
        return drops;
    }

    /// Its first call says whether a stack is that of a drop.
    bool call(std::string_view line) {
        auto& stack = drop_->stack;
        if (!stack.add(line)) return false;
        if (!stack.drops() && !stack.place().empty()) drop_.reset();
        return drop_.has_value();
    }

    void close(Sink& /*sink*/) override {
        if (drop_ && drop_->stack.drops()) ++cut_;
        drop_.reset();
    }

    std::vector<std::string> key_names_;  ///< of the map in the last command
    std::int64_t cut_ = 0;                ///< stacks without a count
};

}  // namespace

const MakeImporter make_bpftrace_stacks = make_importer<BpftraceStacks>;

}  // namespace stapgen::decode
