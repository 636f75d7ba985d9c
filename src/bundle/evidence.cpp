// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/evidence.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/limits.h"
#include "base/saturate.h"
#include "base/text.h"
#include "bundle/firewall.h"
#include "bundle/lines.h"
#include "bundle/names.h"
#include "bundle/states.h"
#include "decode/calendar.h"
#include "decode/format_detector.h"
#include "symbols/log_release.h"

namespace stapgen::bundle {

namespace {

/// Memory for readings.
class Room {
  public:
    explicit Room(base::Budget& budget) : budget_(budget) {}
    /// Whether there is room for one with a name of these bytes, whose place is in that file.
    bool take(std::size_t name_bytes, const SharedText& file) {
        constexpr std::size_t reading_bytes = 256;
        const auto file_bytes = file == file_ ? 0 : file->size();
        if (!budget_.keep(reading_bytes + name_bytes + file_bytes)) return false;
        file_ = file;
        return true;
    }

  private:
    base::Budget& budget_;
    SharedText file_;  ///< the last one, which others share
};

/// How far a section is looked into for something known: /proc/kallsyms is 20 MB, and an archive may be a whole /usr.
constexpr std::size_t looked_into = 16U << 10U;

/// Seconds of "17:04:11 up 12 days,  3:07,  2 users" and of /proc/uptime, "1048020.11 4019922.02".
std::optional<double> uptime_of(std::string_view line) {
    const auto words = base::words(line);
    const auto number = [](std::string_view text) { return base::to_unsigned(text); };
    if (words.size() == 2 && words[0].find('.') != words[0].npos) {
        if (const auto whole = number(words[0].substr(0, words[0].find('.')))) return static_cast<double>(*whole);
    }
    double seconds = 0;
    bool found = false;
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        if (words[i] == "up") found = true;
        if (!found || words[i].ends_with("user,") || words[i] == "load") continue;
        const auto here = words[i].substr(0, words[i].find(','));
        const auto colon = here.find(':');
        const auto first = number(here.substr(0, colon));
        if (!first) continue;
        if (words[i + 1].starts_with("user")) break;
        if (words[i + 1].starts_with("day")) seconds += 86400.0 * static_cast<double>(*first);
        if (words[i + 1].starts_with("min")) seconds += 60.0 * static_cast<double>(*first);
        const auto minutes = colon == here.npos ? std::nullopt : number(here.substr(colon + 1));
        if (minutes) seconds += 3600.0 * static_cast<double>(*first) + 60.0 * static_cast<double>(*minutes);
    }
    return found ? std::optional(seconds) : std::nullopt;
}

/// Takes counters out of what a file's lines are.
class Counters final : public decode::FormatDetector::Sink {
  public:
    Counters(Evidence& evidence, Room& room, const SharedText& file) : evidence_(evidence), room_(room), file_(file) {}
    void record(decode::FormatDetector::Source& /*source*/, const decode::Record& /*record*/) override { ++records; }
    void line(decode::FormatDetector::Source& source, const decode::Line& line) override {
        // What aggregates has no records.
        if (std::holds_alternative<decode::HeaderLine>(line) && source.importer == "stapgen") ++records;
        const auto* const reading = std::get_if<decode::CounterReading>(&line);
        if (reading == nullptr || reading->is_unknown) return;
        ++values;
        std::pair key{std::string(reading->name), std::string(reading->of)};
        if (reading->whose != nullptr) {
            auto whose = *reading->whose;
            // All of a file is of one host, as far as it says no more.
            if (reading->source == 0) whose.host = whose.heading = "";
            key.second = whose.text(reading->of);
        }
        const auto known = evidence_.counters.find(key);
        if (known == evidence_.counters.end()) {
            if (!room_.take(key.first.size() + key.second.size(), file_)) {
                ++evidence_.left_out;
                return;
            }
            evidence_.counters.emplace(std::move(key), new_reading(*reading));
            return;
        }
        add(*reading, known->second);
    }
    void message(std::string_view /*text*/) override {}

    std::int64_t values = 0, records = 0;
    std::int64_t number = 0;  ///< of the line that is read

  private:
    [[nodiscard]] Reading new_reading(const decode::CounterReading& reading) const {
        return {reading.value, {file_, number}, reading.sample, reading.value, reading.is_rise, reading.over_ns};
    }

    void add(const decode::CounterReading& reading, Reading& known) const {
        if (known.is_rise && !reading.is_rise) {
            known = new_reading(reading);
            return;
        }
        const bool is_next = reading.sample > known.sample;
        if (known.place.file != file_ || known.is_rise != reading.is_rise || (!is_next && !reading.part)) return;
        known.sample = reading.sample;
        base::add_saturating(known.over_ns, reading.over_ns);
        known.of_sample = reading.value + (is_next && !reading.is_rise ? 0 : known.of_sample);
        if (known.of_sample <= known.value) return;
        known.value = known.of_sample;
        if (is_next) known.place.line = number;
    }

    Evidence& evidence_;
    Room& room_;
    const SharedText& file_;
};

/// A line of the kernel's log, as dmesg and syslog write it: "[ 1009.1] ...", "[Tue Nov 17 00:26:51 2020] ...", "Nov 17
/// 00:26:51 host kernel: ...".
bool is_log_line(std::string_view line) {
    constexpr std::size_t before_message = 80;
    while (line.starts_with('>') || line.starts_with(' '))
        line.remove_prefix(1);
    if (line.substr(0, before_message).find(" kernel: ") != line.npos) return true;
    if (line.starts_with('<')) line.remove_prefix(std::min(line.find('>'), line.size() - 1) + 1);
    if (!line.starts_with('[')) return false;
    const auto time = base::trim(line.substr(1, std::min(line.find(']'), line.size()) - 1));
    const auto point = time.find('.');
    const bool is_since_boot =
        point != time.npos && base::is_decimal(time.substr(0, point)) && base::is_decimal(time.substr(point + 1));
    return is_since_boot || decode::read_ctime(time).has_value();
}

/// dump_kernel_offset() of arch/x86/kernel/setup.c and arch/arm64/kernel/setup.c.
void read_kaslr_offset(std::string_view line, Evidence& evidence) {
    constexpr std::string_view before = "Kernel Offset: 0x";
    const auto at = line.find(before);
    if (at == line.npos || evidence.kaslr_offsets.size() > 1) return;
    const auto digits = line.substr(at + before.size());
    const auto offset = base::to_unsigned(digits.substr(0, digits.find(' ')), 16);
    if (offset && *offset < INT64_MAX) evidence.kaslr_offsets.insert(static_cast<std::int64_t>(*offset));
}

void read_log_line(std::string_view line, const Place& place, const std::vector<std::string>& texts,
                   Evidence& evidence) {
    constexpr std::size_t max_excerpt = 200;
    evidence.log_lines += is_log_line(line) ? 1 : 0;
    read_kaslr_offset(line, evidence);
    for (const auto& text : texts) {
        if (line.find(text) == line.npos) continue;
        auto& log = evidence.logs[text];
        if (log.count++ > 0) continue;
        log.first = place;
        log.first_text = base::printable(base::whole_characters(line, max_excerpt));
    }
}

class Reader {
  public:
    Reader(Evidence& evidence, const std::vector<std::string>& texts, base::Budget& budget)
        : evidence_(evidence), texts_(texts), room_(budget) {}

    void take(const File& file) {
        const auto by_name = named_file(*file.path);
        Lines lines(*file.content);
        bool known = read_section(file.path, by_name, lines);
        bool is_named = by_name.is_known();
        while (lines.next_section()) {
            const auto named = named_section(lines.title());
            is_named = is_named || named.is_known();
            known = read_section(file.path, named, lines) || known;
        }
        ++(known ? evidence_.read : is_named ? evidence_.empty : evidence_.unknown);
    }

  private:
    bool read_section(const SharedText& path, const NamedFile& named, Lines& lines) {
        if (named.is_of_none) return false;
        if (named.is_symbols || named.is_modules) {
            std::string_view line;
            auto& paths = named.is_symbols ? evidence_.symbols : evidence_.modules;
            if (!lines.next(line)) return false;
            note(paths, path);
            return true;
        }
        if (named.is_log) return read_log(path, lines);
        if (named.is_settings || !named.setting.empty()) return read_settings(path, named, lines);
        return read_counters(path, named, lines);
    }

    bool read_log(const SharedText& path, Lines& lines) {
        std::string_view line;
        bool found = false;
        while (lines.next(line)) {
            found = true;
            read_log_line(line, {path, lines.number()}, texts_, evidence_);
        }
        return found;
    }

    bool read_settings(const SharedText& path, const NamedFile& named, Lines& lines) {
        std::string_view line;
        bool found = false;
        while (lines.next(line)) {
            // "net.core.rmem_max = 212992"; or a file of /proc/sys, which is the value alone.
            auto name = std::string_view(named.setting), value = line;
            if (name.empty()) {
                const auto equals = line.find(" = ");
                if (equals == line.npos) continue;
                name = line.substr(0, equals);
                value = line.substr(equals + 3);
            }
            const auto number_set = base::to_unsigned(base::trim(value));
            if (!number_set || name.size() > base::limits::path_bytes) continue;
            found = true;
            if (!evidence_.settings.contains(name)) note_setting(name, {*number_set, {path, lines.number()}});
        }
        return found;
    }

    void note_setting(std::string_view name, Reading reading) {
        if (room_.take(name.size(), reading.place.file)) {
            evidence_.settings.insert_or_assign(std::string(name), std::move(reading));
        } else {
            ++evidence_.left_out;
        }
    }

    /// Of sockets that share an address the one with the longest queue counts.
    bool read_states(std::string_view line, const NamedFile& named, const Place& place) {
        auto states = states_.read(line);
        if (states.empty()) return false;
        const auto netns = named.netns.empty() ? std::string() : " in netns " + named.netns;
        const auto known = evidence_.settings.find(states.front().name + netns);
        if (known != evidence_.settings.end() &&
            (known->second.place.file != place.file || known->second.value >= states.front().value))
            return true;
        for (auto& state : states)
            note_setting(state.name + netns, {state.value, place});
        return true;
    }

    bool read_counters(const SharedText& path, const NamedFile& named, Lines& lines) {
        if (named.command.starts_with("uname") || named.command.starts_with("uptime") ||
            named.command.starts_with("hostname") || named.command == "cat /proc/uptime" ||
            named.command == "cat /proc/version")
            return read_host(path, named, lines);
        if (named.command.starts_with("nft") || named.command.starts_with("iptables") ||
            named.command.starts_with("ip6tables"))
            return read_firewall(path, named, lines);
        Counters counters(evidence_, room_, path);
        decode::FormatDetector detector(decode::FormatDetector::Repair::no);
        const bool is_of_device = named.command.starts_with("cat /sys/class/net/");
        const auto inside = named.netns.empty() ? std::string() : "ip netns exec " + named.netns + " ";
        if (!named.command.empty() && !is_of_device) detector.feed(inside + named.command + "\n", counters);
        const auto log_lines = evidence_.log_lines;
        states_ = {};
        bool has_states = false;
        const auto is_known = [&] {
            return has_states || counters.values + counters.records + evidence_.log_lines - log_lines > 0;
        };
        symbols::ReleaseFinder kernel;  // of drops; perf and people say it in front of them
        std::size_t seen = 0;
        std::string_view line;
        std::string whole;
        while (lines.next(line)) {
            seen += line.size() + 1;
            if (!is_known() && (seen > looked_into || !lines.is_text())) break;
            counters.number = lines.number();
            has_states |= read_states(line, named, {path, lines.number()});
            if (named.command.empty() && is_log_line(line))
                read_log_line(line, {path, lines.number()}, texts_, evidence_);
            if (lines.number() < looked_for_release) kernel.read(line);
            whole = is_of_device ? named.command.substr(4) + ":" : std::string();
            whole.append(line).append("\n");
            detector.feed(whole, counters);
            if (is_of_device) break;  // a value is all that is in such a file
        }
        detector.finish("", counters);
        if (counters.records > 0) {
            note(evidence_.results, path);
            take_release(kernel, {path, 1});
        }
        return is_known();
    }

    bool read_firewall(const SharedText& path, const NamedFile& named, Lines& lines) {
        FirewallReader reader(named.command);
        const auto netns = named.netns.empty() ? std::string() : " in netns " + named.netns;
        ++firewall_lists_;
        std::string_view line;
        bool found = false;
        while (lines.next(line)) {
            const auto rule = reader.read(line);
            if (!rule) continue;
            found = true;
            // The same table is often listed twice, by nft and iptables or with other options: the first list counts.
            const auto table = rule->table + netns;
            auto list = list_of_table_.find(table);
            if (list == list_of_table_.end()) {
                if (!room_.take(table.size(), path)) {
                    ++evidence_.left_out;
                    continue;
                }
                list = list_of_table_.emplace(table, firewall_lists_).first;
            }
            if (list->second != firewall_lists_) continue;
            const std::pair key{rule->name, base::printable(rule->of + netns)};
            auto known = evidence_.counters.find(key);
            if (known == evidence_.counters.end()) {
                if (!room_.take(key.first.size() + key.second.size(), path)) {
                    ++evidence_.left_out;
                    continue;
                }
                known = evidence_.counters.emplace(key, Reading{0, {path, lines.number()}}).first;
            }
            known->second.value += rule->packets;
        }
        return found;
    }

    bool read_host(const SharedText& path, const NamedFile& named, Lines& lines) {
        std::string_view line;
        if (!lines.next(line)) return false;
        if (named.command.find("uptime") != named.command.npos) {
            if (!evidence_.uptime_s) evidence_.uptime_s = uptime_of(line);
            return evidence_.uptime_s.has_value();
        }
        const auto words = base::words(line);
        const bool is_name = named.command.starts_with("hostname") && words.size() == 1;
        if (evidence_.host.empty() && (is_name || (words.size() > 2 && words[0] == "Linux" && words[1] != "version")))
            evidence_.host = words[is_name ? 0 : 1].substr(0, base::limits::name_bytes);
        symbols::ReleaseFinder finder;
        finder.read(line);
        return take_release(finder, {path, lines.number()}) || is_name;
    }

    /// Once, however many of its sections are such.
    static void note(std::vector<std::string>& paths, const SharedText& path) {
        if (paths.size() < max_results && (paths.empty() || paths.back() != *path)) paths.push_back(*path);
    }

    bool take_release(const symbols::ReleaseFinder& finder, const Place& place) {
        const auto release = finder.release();
        if (release.empty()) return false;
        if (evidence_.release.empty()) {
            evidence_.release = release;
            evidence_.release_place = place;
        } else if (symbols::is_same_release(evidence_.release, release) == symbols::SameRelease::no &&
                   evidence_.conflicts.size() < max_results &&
                   std::ranges::find(evidence_.conflicts, release, &Conflict::second) == evidence_.conflicts.end()) {
            evidence_.conflicts.push_back({"kernel", evidence_.release, release, evidence_.release_place, place});
        }
        return true;
    }

    static constexpr std::size_t max_results = 16;
    static constexpr std::int64_t looked_for_release = 50;  ///< lines

    Evidence& evidence_;
    const std::vector<std::string>& texts_;
    Room room_;
    StateReader states_;                                 ///< of the section that is read
    std::int64_t firewall_lists_ = 0;                    ///< that were read
    std::map<std::string, std::int64_t> list_of_table_;  ///< the number of the one whose rules count
};

}  // namespace

void LogText::feed(std::string_view lines) {
    while (!lines.empty()) {
        const auto line = lines.substr(0, lines.find('\n'));
        lines.remove_prefix(std::min(line.size() + 1, lines.size()));
        ++lines_;
        if (is_log_line(line)) read_log_line(line, {name_, lines_}, texts_, evidence_);
    }
    evidence_.walked.files = evidence_.read = 1;
}

base::Result<Evidence> read_evidence(const std::filesystem::path& path, const std::vector<std::string>& texts,
                                     const std::shared_ptr<base::Budget>& budget) {
    Evidence evidence;
    Reader reader(evidence, texts, *budget);
    STAPGEN_LET(auto walked, walk(path, budget, [&](const File& file) { reader.take(file); }));
    evidence.walked = std::move(walked);
    return evidence;
}

}  // namespace stapgen::bundle
