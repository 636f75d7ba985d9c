#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/kernel_counters.h"
#include "base/text.h"
#include "decode/counter_reader.h"
#include "decode/netstat_sentences.h"

namespace stapgen::decode {

namespace {

constexpr std::size_t max_sentence_length = 120;

/// "netstat -su", and no sentence that begins with the word.
bool is_netstat_command(const std::vector<std::string_view>& words) {
    return words.size() > 1 &&
           std::all_of(words.begin() + 1, words.end(), [](std::string_view word) { return word.starts_with('-'); });
}

/// What `netstat -s` prints (net-tools 1.60 to 2.10): sentences, of counters that it does not know their names. Whole,
/// or what grep left of it, then without the headings.
///     Udp:
///         225645 packets received
///         InCsumErrors: 319
///     TcpExt:
///         Quick ack mode was activated 641 times
class NetstatText final : public CounterReader {
  public:
    NetstatText() : CounterReader("netstat -s", true) {}

    bool line(const CounterText& text, CounterLine& out) override {
        const auto line = text.line;
        if (line.size() > max_sentence_length) return false;
        if (is_netstat_command(command_words(line, "netstat")) || heading(line, out)) return true;
        // What it prints of a setting.
        if (group_ == "Ip" && (line == "Forwarding is enabled" || line == "Forwarding is disabled")) return true;
        std::string sentence;
        std::optional<std::uint64_t> value;
        for (const auto word : text.words) {
            if (!sentence.empty()) sentence += ' ';
            const auto number = value ? std::nullopt : base::to_unsigned(word);
            if (number) value = number;
            sentence += number ? std::string_view("%") : word;
        }
        if (!value) return false;
        auto name = name_of(sentence);
        if (!name) return false;
        if (seen_.empty()) group_ = name->substr(0, name->find('.'));
        if (base::is_counter(*name)) out.values.push_back({*std::move(name), std::string(of_namespace), *value});
        return true;
    }

    void end_block() override {
        group_.clear();
        seen_.clear();
        direction_ = {};
    }

  private:
    bool heading(std::string_view line, CounterLine& out) {
        if (line == "ICMP input histogram:" || line == "ICMP output histogram:") {
            direction_ = line == "ICMP input histogram:" ? "In" : "Out";
            if (group_.empty()) group_ = "Icmp";
            return true;
        }
        if (!line.ends_with(':') || !base::is_counter_group(line.substr(0, line.size() - 1))) return false;
        direction_ = {};
        group_ = line.substr(0, line.size() - 1);
        if (!seen_.insert(group_).second) {
            seen_ = {group_};
            out.begins_sample = true;
        }
        return true;
    }

    /// Of a sentence with '%' in the place of its number; nothing if netstat prints no such one.
    std::optional<std::string> name_of(std::string_view sentence) const {
        if (sentence.ends_with(": %")) {
            const auto text = sentence.substr(0, sentence.size() - 3);
            if (!direction_.empty()) {
                const auto counter = netstat_icmp_counter(group_, text);
                if (!counter.empty()) return fmt::format("{}.{}{}", group_, direction_, counter);
            }
            if (!base::is_counter_name(text)) return std::nullopt;
            // Where a page has lost the headings, those of IcmpMsg stand behind Icmp's.
            const bool is_type = text.starts_with("InType") || text.starts_with("OutType");
            if (group_ == "Icmp" && is_type) return fmt::format("IcmpMsg.{}", text);
            if (seen_.empty()) {
                const bool is_tcps = text.starts_with("TCP") || text == "IPReversePathFilter";
                return is_tcps ? std::optional(fmt::format("TcpExt.{}", text)) : std::nullopt;
            }
            const auto name = text.starts_with(group_) && base::is_counter_name(text.substr(group_.size()))
                                  ? text.substr(group_.size())
                                  : text;
            return fmt::format("{}.{}", group_, name);
        }
        if (sentence.ends_with('.')) sentence.remove_suffix(1);
        auto name = netstat_counter(group_, sentence);
        // What grep left has no headings.
        if (name.empty() && seen_.empty()) name = netstat_counter({}, sentence);
        return name.empty() ? std::nullopt : std::optional(std::move(name));
    }

    std::string group_;           ///< of the last heading or sentence; empty: none
    std::set<std::string> seen_;  ///< headings of this sample
    std::string_view direction_;  ///< "In" or "Out": in a histogram of ICMP's; else empty
};

}  // namespace

std::unique_ptr<CounterReader> make_netstat_text() {
    return std::make_unique<NetstatText>();
}

}  // namespace stapgen::decode
