// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/counter_reader.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/kernel.h"
#include "base/text.h"

namespace stapgen::decode {

namespace {

using Rows = CounterTable::Rows;

constexpr std::string_view tcp_states =
    "ESTAB SYN-SENT SYN-RECV FIN-WAIT-1 FIN-WAIT-2 TIME-WAIT CLOSE-WAIT LAST-ACK LISTEN CLOSING CLOSE UNCONN";

/// Of "dropped=rx_dropped" among the words of `list`: rx_dropped of `dropped`. Nothing if it is none of them.
std::optional<std::string_view> renamed(std::string_view list, std::string_view name) {
    for (const auto word : base::words(list)) {
        const auto equals = word.find('=');
        if (word.substr(0, equals) == name) return equals == word.npos ? word : word.substr(equals + 1);
    }
    return std::nullopt;
}

/// Whether `word` is digits and what is of `others`, these too.
bool is_of_digits(std::string_view word, std::string_view others) {
    const auto is_other = [&](char c) { return others.find(c) != others.npos; };
    return std::ranges::any_of(word, is_other) &&
           std::ranges::all_of(word, [&](char c) { return base::is_digit(c) || c == '.' || is_other(c); });
}

/// What loops print before they ask for a device.
bool is_usual_device_name(std::string_view text) {
    constexpr std::string_view beginnings[]{"eth",  "en",   "em",    "ib",     "wl",    "bond", "br",  "veth",
                                            "vlan", "team", "tun",   "tap",    "usb",   "wg",   "p1p", "p2p",
                                            "p3p",  "p4p",  "virbr", "docker", "vxlan", "sl"};
    return is_device_name(text) && base::starts_with_any(text, beginnings) && base::is_digit(text.back());
}

/// Reads one line as one of a format's shapes, as the heading of a table or as a row of it.
class LineReader {
  public:
    LineReader(const CounterFormat& format, const CounterText& text, CounterBlock& block, CounterLine& out)
        : format_(format), text_(text), block_(block), out_(out), prefix_(format.prefix) {}

    bool read_heading(const CounterTable& table) {
        if (!text_.plain.starts_with(table.begin)) return false;
        std::vector<std::string> columns;
        if (table.rows == Rows::named) columns.emplace_back("@");
        if (is_of_cpus(table)) columns.emplace_back("-");
        for (const auto word : base::words(std::string_view(text_.plain).substr(table.begin.size()))) {
            const auto name = renamed(table.columns, word);
            if (!name) return false;
            columns.emplace_back(*name);
        }
        if (columns.size() < 2) return false;
        block_.columns = std::move(columns);
        block_.table = &table;
        block_.row = 0;
        // Tables that no line names are not compared.
        if (table.rows == Rows::of_cpus_of_file && (block_.device.empty() || block_.device.starts_with("line ")))
            block_.device = "line " + std::to_string(text_.number);
        return true;
    }

    bool read_row() {
        const auto* const table = block_.table;
        if (table == nullptr || text_.words.size() != block_.columns.size()) return false;
        is_hexadecimal_ = is_of_cpus(*table);
        if (is_hexadecimal_) {
            if (std::ranges::any_of(text_.words, [](auto word) { return word.size() < min_digits; })) return false;
            if (table->rows == Rows::of_cpus_of_file) add_of(block_.device);
            add_of("cpu" + std::to_string(block_.row));
        }
        for (std::size_t i = 0; i < block_.columns.size(); ++i) {
            if (!take(block_.columns[i], text_.words[i])) return false;
        }
        if (!table->prefix.empty()) prefix_ = table->prefix;
        put();
        ++block_.row;
        if (table->rows == Rows::next) block_.table = nullptr;
        return true;
    }

    bool read(const CounterShape& shape) {
        if (shape.in_block && !block_.is_open) return false;
        std::string_view text(text_.plain), before;
        const bool by_colon = shape.captures.substr(1, 1) == ":";
        if (by_colon) {
            const auto colon = text.rfind(':');
            if (colon == text.npos) return false;
            before = base::trim(text.substr(0, colon));
            text = base::trim(text.substr(colon + 1));
        }
        auto stars = base::match(shape.pattern, text);
        if (!stars) return false;
        const auto captures = base::words(shape.captures);
        if (by_colon) stars->insert(stars->begin(), before);
        auto star = stars->begin();
        for (const auto capture : captures) {
            if (capture == "!") {
                add_of(block_.device.empty() ? of_unnamed_device : block_.device);
            } else if (star == stars->end() || !take(capture, *star++)) {
                return false;
            }
        }
        put();
        return true;
    }

  private:
    static constexpr std::size_t max_name_length = 64, max_address_length = 80, min_digits = 8;

    static bool is_of_cpus(const CounterTable& table) {
        return table.rows == Rows::of_cpus || table.rows == Rows::of_cpus_of_file;
    }

    bool take(std::string_view capture, std::string_view star) {
        if (capture == "-") return true;
        if (capture == "#") return base::is_decimal(star);
        if (capture == "~") return is_of_digits(star, ".e+-");
        if (capture == "=") return add(name_, star);
        if (capture == "&") return take_name(star);
        if (capture == "&:") {
            // Exactly one blank: other tables of ethtool's have more, or a tab. A sign and a blank are of no name.
            const auto value = text_.line.substr(text_.line.rfind(':'));
            const bool is_marked = star.size() > 1 && star[1] == ' ' && !base::is_word_character(star[0]);
            return value.size() > 2 && value[1] == ' ' && base::is_digit(value[2]) && !is_marked && take_name(star);
        }
        if (capture == "group") {
            name_ = star;
            return base::contains_word(format_.groups, star);
        }
        if (capture == "pairs") return take_pairs(star);
        if (capture == "tcp") return base::contains_word(tcp_states, star);
        if (capture == "hex8" || capture == "hex32") return star.size() == (capture == "hex8" ? 8 : 32);
        if (!base::contains_word("@ @: / word addr cpu vf port index echo", capture)) return add(capture, star);
        const auto of = what_of(capture, star);
        if (!of.empty()) add_of(of);
        return !of.empty();
    }

    /// What values belong to; empty: `star` is no such.
    std::string what_of(std::string_view capture, std::string_view star) {
        const std::string text(star);
        if (capture == "word") return star.find(' ') == star.npos ? text : "";
        if (capture == "addr") {
            const bool is_address = star.find(':') != star.npos && star.find(' ') == star.npos;
            return is_address && star.size() <= max_address_length ? text : "";
        }
        if (capture == "port") {
            const auto port = base::to_unsigned(star, 16);
            return port ? "port " + std::to_string(*port) : "";
        }
        if (capture == "cpu" || capture == "vf" || capture == "index") {
            if (!base::is_decimal(star)) return "";
            if (capture == "cpu") return "cpu" + text;
            if (capture == "index")
                return block_.device.empty() || block_.has_values ? "ifIndex " + text : block_.device;
            const auto device = block_.of.empty() ? std::string(of_unnamed_device) : block_.of;
            return device.substr(0, device.find(".vf")) + ".vf" + text;
        }
        is_echo_ = capture == "echo";
        if (is_echo_ && !is_usual_device_name(star)) return "";
        if (capture == "/") star = star.substr(star.rfind('/') + 1);
        const auto at = std::min(star.find('@'), star.size());  // "eth0@if7"
        const auto device = star.substr(0, at);
        const bool is_device = is_device_name(device) && (at == star.size() || is_device_name(star.substr(at + 1)));
        return is_device && !base::is_counter_group(device) ? std::string(device) : "";
    }

    void add_of(std::string_view of) {
        if (!of_.empty()) of_ += ' ';
        of_ += of;
    }

    bool take_name(std::string_view star) {
        const auto grouped =
            format_.prefix.empty() ? base::grouped_counter_name(star) : std::optional(std::string(star));
        name_ = grouped.value_or("");
        return !name_.empty() && name_.size() <= max_name_length;
    }

    bool take_pairs(std::string_view text) {
        const auto words = base::words(text);
        const auto before = out_.values.size();
        for (std::size_t i = 0; i < words.size(); ++i) {
            const auto at = words[i].find(format_.pair);
            const auto name = words[i].substr(0, at);
            auto value = at == name.npos ? "" : words[i].substr(at + 1);
            if (format_.pair == ' ' && i + 1 < words.size()) value = words[++i];
            const bool is_state = base::contains_word(format_.states, name);
            const bool are_all = format_.counters.empty() && format_.states.empty();
            const auto counter = is_state || are_all ? name : renamed(format_.counters, name);
            // ss has words among them that are none, "0/244" and "433148ms(98.8%)".
            if (!counter && format_.pair == ':') continue;
            if (format_.pair == ':') value = value.substr(value.find('/') + 1, value.find("ms"));
            const auto number = base::to_unsigned(value);
            if (!number || (!counter && format_.counters.empty())) return false;
            const auto group = name_.empty() ? "" : name_ + ".";
            if (counter) out_.values.push_back({group + std::string(*counter), "", *number, is_state});
        }
        return format_.pair != ':' || out_.values.size() > before;
    }

    bool add(std::string_view name, std::string_view value) {
        // What `ip -h` makes of a large number.
        if (block_.table != nullptr && is_of_digits(value, "kKMGTPi")) return out_.is_rounded = true;
        const auto number = base::to_unsigned(value, is_hexadecimal_ ? 16 : 10);
        if (number && (!prefix_.empty() || base::is_counter(name)))
            out_.values.push_back({std::string(name), "", *number});
        return number.has_value();
    }

    void put() {
        if (!of_.empty()) {
            if (is_echo_) block_ = {.command = of_, .device = of_};
            block_.of = of_;
            block_.is_open = block_.is_open || !is_echo_;
        }
        for (auto& value : out_.values) {
            if (!prefix_.empty()) value.name = std::string(prefix_) + "." + value.name;
            value.of = block_.of.empty() ? format_.of : block_.of;
        }
    }

    const CounterFormat& format_;
    const CounterText& text_;
    CounterBlock& block_;
    CounterLine& out_;
    std::string_view prefix_;
    std::string of_, name_;
    bool is_echo_ = false, is_hexadecimal_ = false;
};

/// What stands behind that path, or behind its "6", in the line; nothing if it is not there.
std::optional<std::string_view> behind_path(std::string_view line, std::string_view path) {
    const auto at = path.empty() ? line.npos : line.find(path);
    if (at == line.npos) return std::nullopt;
    auto rest = line.substr(at + path.size());
    if (rest.starts_with('6')) rest.remove_prefix(1);
    const bool is_longer = !path.ends_with('/') && !rest.empty() && base::is_word_character(rest[0]);
    return is_longer ? std::nullopt : std::optional(rest);
}

/// "-as" has the option "s".
bool has_option(std::string_view word, std::string_view option) {
    if (word.starts_with("--")) return option == "S" && word == "--statistics";
    return word.starts_with('-') && word.find(option) != word.npos;
}

/// The command that prints it, with what it is asked for in `device`, and no sentence that begins with its name.
bool is_command(const CounterFormat& format, std::vector<std::string_view> words, std::string_view& device) {
    const auto& asked = format.asked;
    const auto has = [&](auto word) { return has_option(word, asked.option); };
    if (!asked.option.empty() && std::ranges::none_of(words, has)) return false;
    std::erase_if(words, [&](auto word) {
        return word.starts_with('-') || base::contains_word(asked.arguments, word) || base::grouped_counter_name(word);
    });
    if (format.names_device && asked.path.empty()) {
        if (!words.empty()) device = words[0];
        return words.empty() || (words.size() == 1 && is_device_name(words[0]));
    }
    return std::ranges::all_of(
        words, [](auto word) { return word == "lo" || word.find_first_of("*0123456789") != word.npos; });
}

/// Also one that prints its file, and "==> FILE <==".
bool read_command(const CounterFormat& format, const CounterText& text, CounterBlock& block) {
    const auto& asked = format.asked;
    std::string_view device;
    constexpr std::size_t max_words = 5;  // "sudo watch -n 1 ip -s link"
    const auto begin = std::span(text.words).first(std::min(text.words.size(), max_words));
    std::vector<std::string_view> words;
    if (!asked.command.empty() && std::ranges::any_of(begin, [&](auto word) { return word.ends_with(asked.command); }))
        words = command_words(text.line, asked.command);
    if (!words.empty()) {
        words.erase(words.begin());
        if (!is_command(format, words, device)) return false;
    } else {
        const auto behind = behind_path(text.line, asked.path);
        const auto is_reader = [&](auto reader) { return !command_words(text.line, reader).empty(); };
        constexpr std::array readers{"cat", "grep", "egrep", "head", "tail"};
        if (!behind || !(text.line.starts_with("==> ") || std::ranges::any_of(readers, is_reader))) return false;
        // Of several files it is not known which lines are of which.
        if (format.names_device && !behind_path(*behind, asked.path)) device = behind->substr(0, behind->find(' '));
    }
    block = {.command = text.plain, .is_open = true};
    if (is_device_name(device)) block.device = block.of = device;
    const auto shows_all = [](auto word) { return word == "--ignore" || has_option(word, "a"); };
    block.is_rise = asked.command == "nstat" && text.line.find(asked.path) == std::string::npos &&
                    std::ranges::none_of(words, shows_all);
    return true;
}

}  // namespace

std::vector<std::string_view> command_words(std::string_view line, std::string_view command) {
    if (line.find(command) == std::string_view::npos) return {};
    auto words = base::words(line.substr(0, line.find_first_of("|;&>")));
    const auto found = std::ranges::find_if(words, [&](std::string_view word) {
        return word == command || (word.ends_with(command) && word[word.size() - command.size() - 1] == '/');
    });
    const auto is_before = [](std::string_view word) {
        return word == "sudo" || word == "watch" || word == "time" || word.starts_with('-') || word.starts_with('+') ||
               base::is_digit(word[0]);
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

bool read_counters(const CounterFormat& format, const CounterText& text, CounterBlock& block, CounterLine& out) {
    if (read_command(format, text, block)) return out.begins_block = true;
    if (!format.begin.empty() && base::match(format.begin, text.plain)) {
        // Right below its command it is of that.
        if (block.has_values) block = {.command = block.command, .is_rise = block.is_rise};
        block.is_open = true;
        return out.begins_block = true;
    }
    const auto first = std::string_view(text.plain).substr(0, text.plain.find_first_of(" :/"));
    if (block.is_open && base::contains_word(format.details, first)) return true;
    const auto reader = [&] {
        out = {};
        return LineReader(format, text, block, out);
    };
    return std::ranges::any_of(format.tables, [&](auto& table) { return reader().read_heading(table); }) ||
           reader().read_row() ||
           std::ranges::any_of(format.shapes, [&](auto& shape) { return reader().read(shape); }) ||
           (format.other != nullptr && format.other(text, block, out));
}

}  // namespace stapgen::decode
