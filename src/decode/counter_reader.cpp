// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/counter_reader.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/kernel.h"
#include "base/text.h"
#include "decode/calendar.h"
#include "decode/prompt_stripper.h"

namespace stapgen::decode {

namespace {

using Kind = CounterShape::Kind;

constexpr std::string_view tcp_states =
    "ESTAB SYN-SENT SYN-RECV FIN-WAIT-1 FIN-WAIT-2 TIME-WAIT CLOSE-WAIT LAST-ACK LISTEN CLOSING CLOSE UNCONN";

/// Whether `word` is digits and what is of `others`, these too.
bool is_of_digits(std::string_view word, std::string_view others) {
    const auto is_other = [&](char c) { return others.find(c) != others.npos; };
    return std::ranges::any_of(word, is_other) &&
           std::ranges::all_of(word, [&](char c) { return base::is_digit(c) || c == '.' || is_other(c); });
}

/// "eth0" of "eth0@if7"; empty if it is no device.
std::string device_of(std::string_view text) {
    const auto at = std::min(text.find('@'), text.size());
    const auto device = text.substr(0, at);
    const bool is_device = is_device_name(device) && (at == text.size() || is_device_name(text.substr(at + 1)));
    return is_device && !base::is_counter_group(device) ? std::string(device) : "";
}

/// The owner, of a socket's two addresses.
bool has_no_peer(std::string_view of) {
    return of.ends_with(":*");
}

/// The owner of values, of a word that says it; empty: it is no such. Nothing if the capture is another kind.
std::optional<std::string> owner_of(std::string_view capture, std::string_view star, const CounterBlock& block) {
    const std::string text(star);
    if (capture == "@" || capture == "@:") return device_of(star);
    if (capture == "lan") return star == "lo" || is_usual_device_name(star) ? text : "";
    if (capture == "/") return device_of(star.substr(star.rfind('/') + 1));
    if (capture == "port") {
        const auto port = base::to_unsigned(star, 16);
        return port ? "port " + std::to_string(*port) : "";
    }
    if (capture == "udp") return base::contains_word("udp raw", star) ? text : "";
    if (capture == "word" || capture == "addr") {
        const bool is_one = star.find(' ') == star.npos && star.size() <= max_owner_length;
        return is_one && (capture == "word" || star.find(':') != star.npos) ? text : "";
    }
    if (capture == "handle") return star.find(' ') == star.npos ? text + ":" : "";
    if (!base::contains_word("cpu index vf", capture)) return std::nullopt;
    if (!base::is_decimal(star)) return "";
    if (capture == "cpu") return "cpu" + text;
    if (capture == "index") return block.device.empty() || block.number != 0 ? "ifIndex " + text : block.device;
    const auto device = block.of.empty() ? std::string(of_unnamed_device) : block.of;
    return device.substr(0, device.find(".vf")) + ".vf" + text;
}

/// Reads one line as one of a format's shapes, or as a row below one.
class LineReader {
  public:
    LineReader(const CounterFormat& format, const CounterText& text, CounterBlock& block, CounterLine& out)
        : format_(format), text_(text), block_(block), out_(out), prefix_(format.prefix) {}

    bool read_row() {
        const auto* const heading = block_.heading;
        if (heading == nullptr) {
            const auto& row = format_.bare_row;
            return !row.empty() && !text_.words.empty() && read_hundredths(text_.words.back()) && take_row(row);
        }
        if (!heading->prefix.empty()) prefix_ = heading->prefix;
        if (!take_row(block_.columns)) return false;
        ++block_.row;
        if (heading->kind == Kind::next) block_.heading = nullptr;
        return true;
    }

    bool read(const CounterShape& shape) {
        std::string_view text(text_.plain), before;
        const bool by_colon = shape.captures.find(':') == 1;
        if (by_colon) {
            const auto colon = text.rfind(':');
            if (colon == text.npos) return false;
            before = base::trim(text.substr(0, colon));
            text.remove_prefix(std::min(text.find_first_not_of(' ', colon + 1), text.size()));
        }
        if (!shape.pattern.ends_with(" *")) text = base::trim(text);
        auto stars = base::match(shape.pattern, text);
        if (!stars) return false;
        if (!stars->empty()) stars->back() = base::trim(stars->back());
        if (shape.kind == Kind::begin && shape.captures.empty()) return begin_block();
        if (shape.kind == Kind::next || shape.kind == Kind::table) return begin_table(shape, *stars);
        if (by_colon) stars->insert(stars->begin(), before);
        names_ = shape.columns;
        if (!take_all(shape.captures, *stars)) return false;
        if (shape.kind == Kind::begin) begin_block();
        put();
        return true;
    }

  private:
    static constexpr std::size_t min_digits = 8;

    bool begin_block() {
        // Right below its command it is of that.
        const bool begins_anew = block_.number != 0;
        if (begins_anew)
            block_ = {.command = block_.command, .place = block_.place, .is_rise = block_.is_rise, .begins_anew = true};
        block_.is_open = block_.is_announced = block_.is_headed = true;
        return true;
    }

    bool begin_table(const CounterShape& shape, const std::vector<std::string_view>& stars) {
        const bool is_of_group = shape.captures == "group:";
        if (format_.are_rates && !take_clock(stars.front())) return false;
        if (is_of_group && !base::is_counter_group(stars.front())) return false;
        const auto names = base::words(stars.back());
        auto columns = is_of_group ? std::string(stars.front()) + ":" : std::string(shape.captures);
        for (const auto word : names) {
            const auto name = is_of_group ? std::optional(word) : renamed(shape.columns, word);
            if (!name || (is_of_group && !base::is_counter_name(word))) return false;
            columns.append(" ").append(is_of_group ? std::string(stars.front()) + "." : "").append(*name);
        }
        if (names.empty() || (shape.captures.empty() && names.size() < 2)) return false;
        block_.columns = std::move(columns);
        block_.heading = &shape;
        block_.row = 0;
        if (!time_) block_.clock = {};  // the averages of what was before
        if (time_) block_.clock.begin(*time_);
        // Tables that no line names are not compared.
        if (shape.captures.starts_with('!') && (block_.device.empty() || block_.device.starts_with("line ")))
            block_.device = "line " + std::to_string(text_.number);
        return true;
    }

    bool take_row(std::string_view captures) {
        if (!take_all(captures, format_.are_rates ? timed_words(captures) : std::span(text_.words))) return false;
        put();
        return true;
    }

    /// The words, those of a time as one: "10:00:11 AM".
    std::span<const std::string_view> timed_words(std::string_view captures) {
        const auto columns = static_cast<std::size_t>(std::ranges::count(captures, ' ')) + 1;
        const auto words = std::span(text_.words);
        if (words.size() <= columns || columns < 2) return words;
        const auto first = words.size() - columns;
        const auto end = words[first].data() + words[first].size();
        timed_.assign(words.begin() + static_cast<std::ptrdiff_t>(first), words.end());
        timed_[0] = {words[0].data(), static_cast<std::size_t>(end - words[0].data())};
        return timed_;
    }

    bool take_all(std::string_view captures, std::span<const std::string_view> stars) {
        auto star = stars.begin();
        for (const auto capture : base::words(captures)) {
            if (capture == "!") {
                add_of(block_.device.empty() ? of_unnamed_device : block_.device);
            } else if (star == stars.end() || !take(capture, *star++)) {
                return false;
            }
        }
        return star == stars.end();
    }

    bool take(std::string_view capture, std::string_view star) {
        if (capture == "-" || (capture == "handle" && star == "0")) return true;
        if (capture == "#") return base::is_decimal(star);
        if (capture == "~") return is_of_digits(star, ".e+-");
        if (capture == "clock") return take_clock(star);
        if (capture == "ip") return take_ip(star);
        if (capture == "neighbour") return read_neighbour(star, name_, out_.values) && take_neighbour();
        if (capture == "tcp") return base::contains_word(tcp_states, star);
        if (capture == "hex8" || capture == "hex32") return star.size() == (capture == "hex8" ? 8 : 32);
        if (const auto of = owner_of(capture, star, block_)) {
            add_of(*of);
            return !of->empty();
        }
        if (capture == "row") {
            is_hexadecimal_ = true;
            add_of(cpu_of_row());
            return star.size() >= min_digits;
        }
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
        if (capture == "more") return take_more(star);
        if (capture == "columns") return read_columns(star, out_.values);
        if (capture == "json") return read_json_counters(text_.line, out_.values);
        if (capture == "s") return star.empty() || star == "s";
        if (capture == "section") return read_netstat_heading(star, block_);
        if (capture == "sentence") return take_sentence();
        if (capture == "softnet") return take_softnet();
        if (capture.ends_with(':')) return star == capture;
        return add(capture, star);
    }

    void add_of(std::string_view of) {
        if (!of_.empty()) of_ += ' ';
        of_ += of;
    }

    /// The owner of a row that does not say it.
    [[nodiscard]] std::string cpu_of_row() const {
        return block_.lacks_rows ? fmt::format("cpu of line {}", text_.number) : fmt::format("cpu{}", block_.row);
    }

    bool take_clock(std::string_view star) {
        time_ = read_time_of_day(star);
        return time_ || star.ends_with(':');
    }

    bool take_ip(std::string_view star) {
        if (star.size() > max_owner_length) return false;
        std::array<unsigned char, 16> address{};
        const bool is_v6 = star.find(':') != star.npos;
        ip_ = star;
        name_ = is_v6 ? "neigh6" : "neigh";
        return ::inet_pton(is_v6 ? AF_INET6 : AF_INET, ip_.c_str(), address.data()) == 1;
    }

    /// An address that comes again is of the next sample, which no other line may begin.
    bool take_neighbour() {
        constexpr std::size_t max_neighbours = 65536;
        auto neighbour = fmt::format("{} {}", ip_, of_);
        if (block_.seen.contains(neighbour)) begin_block();
        block_.is_headed = true;
        return block_.seen.size() < max_neighbours && block_.seen.insert(std::move(neighbour)).second;
    }

    bool take_name(std::string_view star) {
        // "rx_drops: 5   # was: 3", "**rx_drops**"
        if (annotation_begin(star) != star.npos || star.find_first_of("`\\") != star.npos ||
            star.find("**") != star.npos)
            return false;
        const auto grouped =
            format_.prefix.empty() ? base::grouped_counter_name(star) : std::optional(std::string(star));
        name_ = names_.empty() ? grouped.value_or("") : std::string(renamed(names_, star).value_or(""));
        return !name_.empty() && name_.size() <= max_counter_name_length;
    }

    bool take_pairs(std::string_view text) {
        const auto before = out_.values.size();
        return read_pairs(format_, text, name_, out_.values) &&
               (out_.values.size() > before || (format_.pair != ':' && !text.empty()));
    }

    bool take_more(std::string_view text) {
        const auto socket = read_socket_details(text);
        // Several may share an address (SO_REUSEPORT).
        if (has_no_peer(of_) && !socket.process.empty()) add_of(socket.process);
        return read_pairs(format_, socket.rest, name_, out_.values);
    }

    bool take_sentence() {
        // A line of a setting.
        if (block_.group == "Ip" && text_.line.starts_with("Forwarding is ")) return true;
        auto words = text_.words;
        const auto found = std::ranges::find_if(words, [](auto word) { return base::to_unsigned(word).has_value(); });
        if (found == words.end()) return false;
        const auto value = std::exchange(*found, "%");
        const auto name = netstat_counter(fmt::format("{}", fmt::join(words, " ")), block_);
        if (name && block_.seen.empty()) block_.group = name->substr(0, name->find('.'));
        return name && add(*name, value);
    }

    /// 9 to 15 numbers (2.6.35 to 6.4), the fourth to the eighth always 0. A file of /proc/net/stat without its heading
    /// looks so where a CPU is idle, but not in all its lines.
    bool take_softnet() {
        constexpr std::size_t min_columns = 9, max_columns = 15, first_unused = 3, unused = 5;
        const auto& words = text_.words;
        const auto is_number = [](auto word) { return word.size() == min_digits && base::to_unsigned(word, 16); };
        const auto is_zero = [](auto word) { return word == "00000000"; };
        if (words.size() < min_columns || words.size() > max_columns || text_.is_below_unread_numbers ||
            !std::ranges::all_of(words, is_number) ||
            !std::ranges::all_of(std::span(words).subspan(first_unused, unused), is_zero))
            return false;
        const auto read = base::read_softnet_line(words);
        add_of(read.cpu ? fmt::format("cpu{}", *read.cpu) : cpu_of_row());
        ++block_.row;
        for (const auto& [name, value] : read.counters)
            out_.values.push_back({name, "", value});
        return true;
    }

    bool add(std::string_view name, std::string_view value) {
        if (format_.are_rates) {
            const auto rate = read_hundredths(value);
            out_.values.push_back({std::string(name), "", rate.value_or(0)});
            return rate.has_value();
        }
        // A large number as `ip -h` prints it.
        const bool is_of_table = block_.heading != nullptr && !prefix_.empty();
        if (is_of_table && is_of_digits(value, "kKMGTPi")) return out_.is_rounded = true;
        if (is_hexadecimal_ && value.size() < min_digits) return false;
        const auto number = base::to_unsigned(value, is_hexadecimal_ ? 16 : 10);
        if (prefix_.empty() && !base::is_counter(name)) return number || base::to_int(value);  // Tcp.MaxConn is -1
        if (number) out_.values.push_back({std::string(name), "", *number});
        return number.has_value();
    }

    void put() {
        out_.is_of_sample = time_.has_value();
        if (time_) out_.length_s = block_.clock.length(*time_);
        if (!time_) block_.clock = {};
        if (!of_.empty()) {
            block_.of = of_;
            block_.is_open = true;
        }
        for (auto& value : out_.values) {
            if (!prefix_.empty()) value.name = std::string(prefix_) + "." + value.name;
            if (value.of.empty()) value.of = block_.of.empty() ? format_.of : block_.of;
            value.has_parts = format_.has_parts || has_no_peer(value.of);
        }
    }

    const CounterFormat& format_;
    const CounterText& text_;
    CounterBlock& block_;
    CounterLine& out_;
    std::string_view prefix_, names_;
    std::string of_, name_, ip_;
    std::optional<std::int64_t> time_;
    std::vector<std::string_view> timed_;
    bool is_hexadecimal_ = false;
};

}  // namespace

CounterText::CounterText(std::string_view of, std::int64_t at) : line(of), words(base::words(of)), number(at) {
    for (const auto word : words)
        plain.append(word).append(" ");
}

bool read_counters(const CounterFormat& format, const CounterText& text, CounterBlock& block, CounterLine& out) {
    // Asked for each format, of each line: a long one that belongs to none is not looked through.
    const auto first = [&] { return std::string_view(text.plain).substr(0, text.plain.find_first_of(" :/")); };
    if (block.is_open && base::contains_word(format.details, first())) return true;
    const auto reader = [&] {
        out = {};
        return LineReader(format, text, block, out);
    };
    // Most lines of a log are no counters, and most shapes begin with a word.
    const auto begins = [&](const CounterShape& shape) {
        return shape.pattern[0] == '*' || (!text.plain.empty() && shape.pattern[0] == text.plain[0]);
    };
    return reader().read_row() || std::ranges::any_of(format.shapes, [&](auto& shape) {
               return (shape.kind != Kind::in_block || block.is_open) && begins(shape) && reader().read(shape);
           });
}

}  // namespace stapgen::decode
