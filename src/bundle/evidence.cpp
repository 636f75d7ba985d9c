// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/evidence.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "bundle/firewall.h"
#include "bundle/names.h"
#include "decode/format_detector.h"
#include "symbols/log_release.h"

namespace stapgen::bundle {

namespace {

/// Readings kept of each kind: an archive may have any number of names.
constexpr std::size_t max_readings = 65536;
/// How far a file is looked into for something known: /proc/kallsyms is 20 MB.
constexpr std::size_t looked_into = 64U << 10U;

/// The lines of a text, without their ends.
class Lines {
  public:
    explicit Lines(base::Source& source) : source_(source) {}

    /// The next one; false at the end. Of a longer one than any, what is more is a line of its own.
    base::Result<bool> next(std::string_view& line) {
        for (;;) {
            const std::string_view held(buffer_.data() + begin_, end_ - begin_);
            const auto newline = held.find('\n', searched_);
            if (newline != held.npos || held.size() >= base::limits::line_bytes || (at_end_ && !held.empty())) {
                line = held.substr(0, newline);
                begin_ += std::min(held.size(), line.size() + (newline == held.npos ? 0 : 1));
                searched_ = 0;
                return true;
            }
            if (at_end_) return false;
            searched_ = held.size();
            std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
                      buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
            end_ -= std::exchange(begin_, 0);
            if (buffer_.size() - end_ < piece) buffer_.resize(end_ + piece);
            const auto count = source_.read(std::span(buffer_).subspan(end_));
            if (!count) return tl::make_unexpected(count.error());
            end_ += *count;
            at_end_ = *count == 0;
        }
    }

  private:
    static constexpr std::size_t piece = 64U << 10U;
    base::Source& source_;
    std::vector<char> buffer_ = std::vector<char>(piece);
    std::size_t begin_ = 0, end_ = 0, searched_ = 0;
    bool at_end_ = false;
};

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
    Counters(Evidence& evidence, const std::string& file, const std::string& netns)
        : evidence_(evidence), file_(file), netns_(netns) {}
    void record(decode::FormatDetector::Source& /*source*/, const decode::Record& /*record*/) override { ++records; }
    void line(decode::FormatDetector::Source& /*source*/, const decode::Line& line) override {
        const auto* const reading = std::get_if<decode::CounterReading>(&line);
        if (reading == nullptr) return;
        ++values;
        if (reading->sample > 0 || reading->is_rise) return;
        std::pair key{std::string(reading->name), std::string(reading->of)};
        if (!netns_.empty()) key.second = (key.second == "-" ? "netns " : key.second + " in netns ") + netns_;
        const auto known = evidence_.counters.find(key);
        if (known == evidence_.counters.end()) {
            if (evidence_.counters.size() >= max_readings) return;
            evidence_.counters.emplace(key, Reading{reading->value, {file_, number}, std::string(reading->format)});
        } else if (reading->part && known->second.place.file == file_) {
            known->second.value += reading->value;
        }
    }
    void message(std::string_view /*text*/) override {}

    std::int64_t values = 0, records = 0;
    std::int64_t number = 0;  ///< of the line that is read

  private:
    Evidence& evidence_;
    const std::string &file_, &netns_;
};

class Reader {
  public:
    Reader(Evidence& evidence, const std::vector<std::string>& texts) : evidence_(evidence), texts_(texts) {}

    base::Result<void> take(File file) {
        const auto named = named_file(file.path);
        Lines lines(*file.content);
        // What is damaged within is said by the walk where the archive is; of one file the rest counts.
        const auto known = named.is_log                                  ? read_log(file.path, lines)
                           : named.is_settings || !named.setting.empty() ? read_settings(file.path, named, lines)
                                                                         : read_counters(file.path, named, lines);
        const bool is_named = named.is_log || named.is_settings || !named.setting.empty() || !named.command.empty();
        ++(known ? evidence_.read : is_named ? evidence_.empty : evidence_.unknown);
        return {};
    }

  private:
    bool read_log(const std::string& path, Lines& lines) {
        std::string_view line;
        bool found = false;
        for (std::int64_t number = 1; lines.next(line).value_or(false); ++number) {
            found = true;
            for (const auto& text : texts_) {
                if (line.find(text) == line.npos) continue;
                auto& log = evidence_.logs[text];
                if (log.count++ > 0) continue;
                log.first = {path, number};
                log.first_text = base::printable(line.substr(0, max_excerpt));
            }
        }
        return found;
    }

    bool read_settings(const std::string& path, const NamedFile& named, Lines& lines) {
        std::string_view line;
        bool found = false;
        for (std::int64_t number = 1; lines.next(line).value_or(false); ++number) {
            // "net.core.rmem_max = 212992"; or a file of /proc/sys, which is the value alone.
            auto name = std::string_view(named.setting), value = line;
            if (name.empty()) {
                const auto equals = line.find(" = ");
                if (equals == line.npos) continue;
                name = line.substr(0, equals);
                value = line.substr(equals + 3);
            }
            const auto number_set = base::to_unsigned(base::trim(value));
            if (!number_set) continue;
            found = true;
            if (evidence_.settings.size() < max_readings)
                evidence_.settings.try_emplace(std::string(name), Reading{*number_set, {path, number}, {}});
        }
        return found;
    }

    bool read_counters(const std::string& path, const NamedFile& named, Lines& lines) {
        if (named.command.starts_with("uname") || named.command.starts_with("uptime") ||
            named.command == "cat /proc/uptime" || named.command == "cat /proc/version")
            return read_host(path, named, lines);
        if (named.command.starts_with("nft") || named.command.starts_with("iptables") ||
            named.command.starts_with("ip6tables"))
            return read_firewall(path, lines);
        Counters counters(evidence_, path, named.netns);
        decode::FormatDetector detector(decode::FormatDetector::Repair::no);
        const bool is_of_device = named.command.starts_with("cat /sys/class/net/");
        if (!named.command.empty() && !is_of_device) detector.feed(named.command + "\n", counters);
        std::size_t seen = 0;
        std::string_view line;
        std::string whole;
        for (counters.number = 1; lines.next(line).value_or(false); ++counters.number) {
            seen += line.size() + 1;
            if (counters.values + counters.records == 0 && seen > looked_into) break;
            whole = is_of_device ? named.command.substr(4) + ":" : std::string();
            whole.append(line).append("\n");
            detector.feed(whole, counters);
        }
        detector.finish("", counters);
        return counters.values + counters.records > 0;
    }

    bool read_firewall(const std::string& path, Lines& lines) {
        FirewallReader reader;
        std::string_view line;
        bool found = false;
        for (std::int64_t number = 1; lines.next(line).value_or(false); ++number) {
            const auto rule = reader.read(line);
            if (!rule) continue;
            found = true;
            // The same rules are often listed twice, by nft and iptables or with other options: the first list counts.
            const std::pair key{rule->name, base::printable(rule->of)};
            const bool is_first = firewall_.empty() || firewall_ == path;
            if (!is_first || evidence_.counters.size() >= max_readings) continue;
            firewall_ = path;
            auto& reading = evidence_.counters.try_emplace(key, Reading{0, {path, number}, "firewall"}).first->second;
            reading.value += rule->packets;
        }
        return found;
    }

    bool read_host(const std::string& path, const NamedFile& named, Lines& lines) {
        std::string_view line;
        if (!lines.next(line).value_or(false)) return false;
        if (named.command.find("uptime") != named.command.npos) {
            if (!evidence_.uptime_s) evidence_.uptime_s = uptime_of(line);
            return evidence_.uptime_s.has_value();
        }
        symbols::ReleaseFinder finder;
        finder.read(line);
        const auto release = finder.release();
        if (release.empty()) return false;
        if (evidence_.release.empty()) {
            evidence_.release = release;
            evidence_.release_place = {path, 1};
        } else if (symbols::is_same_release(evidence_.release, release) == symbols::SameRelease::no) {
            evidence_.conflicts.push_back({"kernel", evidence_.release, release, evidence_.release_place, {path, 1}});
        }
        return true;
    }

    static constexpr std::size_t max_excerpt = 200;

    Evidence& evidence_;
    const std::vector<std::string>& texts_;
    std::string firewall_;  ///< the file that the rules were read in
};

}  // namespace

base::Result<Evidence> read_evidence(const std::filesystem::path& path, const std::vector<std::string>& texts) {
    Evidence evidence;
    Reader reader(evidence, texts);
    auto walked = walk(path, [&](File file) { return reader.take(std::move(file)); });
    if (!walked) return tl::make_unexpected(walked.error());
    evidence.walked = *std::move(walked);
    return evidence;
}

}  // namespace stapgen::bundle
