// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/kernel.h"
#include "base/text.h"
#include "decode/counter_reader.h"

namespace stapgen::decode {

std::vector<std::string_view> command_words(std::string_view line, std::string_view command) {
    if (line.find(command) == std::string_view::npos) return {};
    auto words = base::words(line.substr(0, line.find_first_of("|;&>")));
    const auto found = std::ranges::find_if(words, [&](std::string_view word) {
        return word == command || (word.ends_with(command) && word[word.size() - command.size() - 1] == '/');
    });
    const auto is_before = [](std::string_view word) {
        return word == "sudo" || word == "watch" || word == "time" || word.starts_with('-') || base::is_digit(word[0]);
    };
    if (found == words.end() || !std::all_of(words.begin(), found, is_before)) return {};
    words.erase(words.begin(), found);
    return words;
}

bool is_device_name(std::string_view text) {
    constexpr std::size_t max_length = 32;  // the kernel's have 15 bytes at most, and an alias a number behind them
    return !text.empty() && text.size() <= max_length && std::ranges::all_of(text, [](char c) {
        return base::is_word_character(c) || c == '.' || c == '-' || c == ':' || c == '+';
    });
}

namespace {

/// Of one counter's name; what is longer is none.
constexpr std::size_t max_counter_name_length = 100;

bool is_column_name(std::string_view word) {
    return !word.empty() && word.size() <= max_counter_name_length && !base::is_digit(word[0]) &&
           std::ranges::all_of(word, base::is_word_character);
}

/// "0.0", "-0.3", "1e+03": a rate of nstat's.
bool is_rate(std::string_view word) {
    return word.find('.') != std::string_view::npos &&
           word.find_first_not_of("0123456789.e+-") == std::string_view::npos;
}

/// "nstat -az", "nstat 'TcpExt*'", and no sentence that begins with the word.
bool is_nstat_command(const std::vector<std::string_view>& words) {
    return !words.empty() && std::all_of(words.begin() + 1, words.end(), [](std::string_view word) {
        return word.starts_with('-') || word.find('*') != std::string_view::npos || base::grouped_counter_name(word);
    });
}

/// /proc/net/snmp and /proc/net/netstat: a line of names and one of values for each group.
///     Udp: InDatagrams NoPorts InErrors OutDatagrams
///     Udp: 225645 9337 1408 236183
class SnmpFile final : public CounterReader {
  public:
    SnmpFile() : CounterReader("/proc/net/snmp") {}

    bool line(const CounterText& text, CounterLine& out) override {
        const auto& words = text.words;
        if (words.size() < 2 || !words[0].ends_with(':')) return false;
        const auto group = words[0].substr(0, words[0].size() - 1);
        if (!base::is_counter_group(group)) return false;
        if (std::ranges::all_of(words.begin() + 1, words.end(), is_column_name)) {
            names_.insert_or_assign(std::string(group), std::vector<std::string>(words.begin() + 1, words.end()));
            return true;
        }
        const auto names = names_.find(group);
        // Where a mail has broken the line, which value is whose is not known.
        if (names == names_.end() || names->second.size() != words.size() - 1) return false;
        for (std::size_t i = 1; i < words.size(); ++i) {
            const auto name = fmt::format("{}.{}", group, names->second[i - 1]);
            const bool is_read = base::is_counter(name) ? out.add(name, of_namespace, words[i])
                                                        : base::to_unsigned(words[i]) || base::to_int(words[i]);
            if (!is_read) return false;  // Tcp.MaxConn is -1
        }
        return true;
    }

  private:
    std::map<std::string, std::vector<std::string>, std::less<>> names_;  ///< by group
};

/// What nstat prints, and /proc/net/snmp6: a name and a number, of nstat a rate behind it.
///     #kernel
///     IpInReceives                    2101517            0.0
///     Udp6InDatagrams                 95254
/// Without -a nstat prints by how much counters rose since its last call. Only the command shows that: "nstat -s".
class NstatText final : public CounterReader {
  public:
    NstatText() : CounterReader("nstat", true) {}

    bool line(const CounterText& text, CounterLine& out) override {
        if (text.line == "#kernel") {
            out.begins_sample = true;
            return true;
        }
        if (const auto command = command_words(text.line, "nstat"); is_nstat_command(command)) {
            const bool all = std::ranges::any_of(command, [](std::string_view word) {
                const bool is_short = word.starts_with('-') && !word.starts_with("--");
                return word == "--ignore" || (is_short && word.find('a') != std::string_view::npos);
            });
            rises_ = !all;
            out.begins_sample = true;
            return true;
        }
        const auto& words = text.words;
        if (words.size() < 2 || words.size() > 4 || words[0].size() > max_counter_name_length) return false;
        if (words.size() == 4 && words[3] != "(overflow)") return false;
        if (words.size() > 2 && !is_rate(words[2])) return false;
        const auto name = base::grouped_counter_name(words[0]);
        if (!name) return false;
        out.is_rise = rises_;
        return base::is_counter(*name) ? out.add(*name, of_namespace, words[1])
                                       : base::to_unsigned(words[1]).has_value();
    }

  private:
    bool rises_ = false;
};

/// /proc/net/softnet_stat: a line of 9 to 15 numbers of eight hexadecimal digits for each CPU.
class SoftnetFile final : public CounterReader {
  public:
    SoftnetFile() : CounterReader("/proc/net/softnet_stat") {}

    bool line(const CounterText& text, CounterLine& out) override {
        constexpr std::size_t least_columns = 9, digits_of_one = 8;
        const auto is_number = [](std::string_view word) {
            return word.size() == digits_of_one && word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
        };
        if (text.words.size() < least_columns || !std::ranges::all_of(text.words, is_number)) return false;
        if (text.number != next_line_) cpu_ = 0;
        next_line_ = text.number + 1;
        const auto read = base::read_softnet_line(text.words);
        const auto of = fmt::format("cpu{}", read.cpu.value_or(cpu_++));
        for (const auto& [name, value] : read.counters)
            out.values.push_back({name, of, value});
        return true;
    }

  private:
    std::int64_t next_line_ = -1;
    std::uint32_t cpu_ = 0;  ///< of the next line, in kernels that do not print it
};

/// /proc/net/dev: NAME: and 16 numbers for each device, below two lines of headings. Names are "dev.rx_drop", as the
/// kernel adds several counters of `ip -s link` up for most of them (dev_seq_printf_stats in net/core/net-procfs.c).
class ProcNetDev final : public CounterReader {
  public:
    ProcNetDev() : CounterReader("/proc/net/dev") {}

    bool line(const CounterText& text, CounterLine& out) override {
        constexpr std::array names{"dev.rx_bytes", "dev.rx_packets", "dev.rx_errs",       "dev.rx_drop",
                                   "dev.rx_fifo",  "dev.rx_frame",   "dev.rx_compressed", "dev.rx_multicast",
                                   "dev.tx_bytes", "dev.tx_packets", "dev.tx_errs",       "dev.tx_drop",
                                   "dev.tx_fifo",  "dev.tx_colls",   "dev.tx_carrier",    "dev.tx_compressed"};
        const auto line = text.line;
        if (line.starts_with("Inter-|") || line.starts_with("face |bytes ")) return true;
        // Old kernels leave no blank behind the colon, and an alias of a device has one in its name: "eth0:1:".
        const auto colon = line.rfind(':');
        if (colon == std::string_view::npos) return false;
        const auto device = line.substr(0, colon);
        const auto words = base::words(line.substr(colon + 1));
        if (words.size() != names.size() || base::is_counter_group(device) || !is_device_name(device)) return false;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (!out.add(names[i], device, words[i])) return false;
        }
        return true;
    }
};

}  // namespace

const MakeCounterReader make_snmp_file = make_counter_reader<SnmpFile>;
const MakeCounterReader make_nstat_text = make_counter_reader<NstatText>;
const MakeCounterReader make_softnet_file = make_counter_reader<SoftnetFile>;
const MakeCounterReader make_proc_net_dev = make_counter_reader<ProcNetDev>;

}  // namespace stapgen::decode
