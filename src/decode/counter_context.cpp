// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/counter_context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"

namespace stapgen::decode {

namespace {

/// Names of a place are no longer than a name can be.
bool has_room(const ShellPlace& place) {
    return std::max(place.host.size(), place.inside.size()) <= base::limits::name_bytes;
}

}  // namespace

bool CounterContext::take_commands(std::string_view line, std::string_view first, std::int64_t number) {
    const bool is_prompted = !base::trim(first).starts_with(line);
    const auto commands = commands_of(line, is_prompted);
    std::vector<Asked> asked;
    bool has_slept = false, has_printed = false;
    for (const auto& command : commands) {
        const auto asked_before = asked.size();
        for (const auto& of : counter_formats()) {
            auto begun = has_room(command.place) ? block_of(of, command) : std::nullopt;
            if (!begun) continue;
            asked.push_back({&of, *std::move(begun), std::exchange(has_slept, false), command.repeats,
                             std::exchange(has_printed, false)});
            break;
        }
        has_slept = has_slept || command.words[0] == "sleep";
        has_printed = asked.size() == asked_before &&
                      (has_printed || !base::contains_word("sleep true sync cd", command.words[0]));
    }
    const bool sleeps_only = commands.size() == 1 && has_slept && commands[0].words.size() == 2;
    if (asked.empty() && !sleeps_only) return false;
    sysstat_host_.clear();
    if (const auto prompt = is_prompted ? read_prompt(first) : std::nullopt) at_prompt(*prompt);
    begins_sample_ = begins_sample_ || sleeps_only || (!asked.empty() && asked[0].is_later);
    is_disturbed_ = false;
    device_.clear();
    if (is_word_) name_.clear();
    asked_ = std::move(asked);
    next_ = 0;
    if (asked_.empty()) return true;
    // Where tables of rows follow each other, which row is the first of the next one is not known.
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        const bool is_last = i + 1 == asked_.size();
        auto &one = asked_[i], &other = asked_[is_last ? 0 : i + 1];
        const bool is_between = other.is_behind_other || (is_last && (has_printed || !one.repeats));
        if (one.format == other.format && !is_between) one.block.lacks_rows = other.block.lacks_rows = true;
    }
    format = asked_[0].format;
    block = new_block(*format, number);
    next_ = 1;
    return true;
}

void CounterContext::take_watch(std::string_view line, std::int64_t number) {
    constexpr std::size_t time_length = 24;
    const auto begin = line.find(": ");
    if (begin == line.npos || line.size() < begin + 2 + time_length) return;
    auto command = base::trim(line.substr(begin + 2, line.size() - begin - 2 - time_length));
    const auto host = command.substr(command.find_last_of(" \t") + 1);  // npos + 1 is 0
    if (host.ends_with(':') && host.size() < command.size()) {
        command = base::trim(command.substr(0, command.size() - host.size()));
        const auto name = host.substr(0, host.size() - 1);
        if (is_host_name(name)) where_.host = name;
    }
    take_commands(command, command, number);
    for (auto& one : asked_)
        one.block.lacks_rows = block.lacks_rows = false;
}

/// The first line of sar: "Linux 6.1.0-21-amd64 (n1)  10/15/2024  _x86_64_  (4 CPU)"; old ones end behind the day.
bool CounterContext::take_sysstat(std::string_view line, std::int64_t number) {
    constexpr std::size_t max_length = 256;
    const auto words = base::words(line);
    if (line.size() > max_length || words.size() < 4 || words[0] != "Linux" || !base::is_digit(words[3][0]))
        return false;
    const auto host = words[2].substr(1, words[2].size() - 2);
    if (words[2] != fmt::format("({})", host) || !is_host_name(host)) return false;
    sysstat_host_ = host;
    sysstat_date_ = fmt::format("{}", fmt::join(words.begin() + 3, words.end(), " "));
    if (block.number == 0) return true;
    block = new_block(*format, number);
    take_turn(*format);
    return true;
}

bool CounterContext::take_heading(std::string_view line, std::int64_t number) {
    if (take_sysstat(line, number)) return true;
    const auto heading = read_heading(line);
    if (!heading || heading->text.empty()) return false;
    const bool is_device = is_usual_device_name(heading->text);
    if (!is_device && !heading->is_decorated) return false;
    if (!is_device && take_commands(heading->text, heading->text, number)) return true;
    const bool is_host = is_host_name(heading->text) && std::ranges::any_of(heading->text, base::is_digit);
    if (!is_device && !is_host) return false;
    put_heading(*heading, number);
    return true;
}

void CounterContext::pass_over(std::string_view first, bool has_prompt, std::int64_t number) {
    const bool is_indented = first.starts_with(' ') || first.starts_with('\t');
    const auto prompt = read_prompt(first);
    const auto heading = prompt && !prompt->host.empty() ? std::nullopt : read_heading(first);
    if (heading && put_heading(*heading, number)) return;
    if (!heading) {
        is_disturbed_ = true;
        if (is_weak_) name_.clear();
    }
    if (prompt && !heading) {
        at_prompt(*prompt);
        asked_.clear();
        block = {};
    }
    if (!is_indented && (has_prompt || format->ends_at_noise)) block = {};
}

void CounterContext::at_prompt(const PromptLine& prompt) {
    sysstat_host_.clear();
    if (!prompt.host.empty() && prompt.host != where_.host) {
        where_.host = prompt.host;
        entered_ = {};
    }
    if (std::exchange(was_printed_, false)) where_.heading.clear();
    is_printed_ = false;
    device_.clear();
    if (inner_prompt_.empty()) inner_prompt_ = prompt.prompt;
    const bool is_outside = prompt.prompt == outer_prompt_ && inner_prompt_ != outer_prompt_;
    if (is_outside || prompt.command == "exit" || prompt.command == "logout") entered_ = {};
    const auto commands = commands_of(prompt.command, true);
    if (commands.size() == 1 && commands[0].is_shell() && commands[0].place != ShellPlace()) {
        auto place = commands[0].place.within(entered_);
        if (!has_room(place)) return;
        entered_ = std::move(place);
        outer_prompt_ = prompt.prompt;
        inner_prompt_.clear();
    }
}

/// Returns whether what follows is another block.
bool CounterContext::put_heading(const Heading& heading, std::int64_t number) {
    if (heading.text.empty()) return false;
    if (is_usual_device_name(heading.text)) {
        device_ = heading.text;
    } else if (!heading.name.empty()) {
        name_ = heading.name;
        device_.clear();
        is_word_ = heading.is_word;
        is_weak_ = !heading.is_decorated;
        is_printed_ = true;
    }
    const auto is_of_it = [&](const Asked& one) {
        return one.block.device == heading.text || one.block.place.host == heading.text ||
               one.block.place.inside.ends_with(" " + heading.text);
    };
    const auto its_command = std::ranges::find_if(asked_, is_of_it);
    if (its_command != asked_.end()) {
        next_ = static_cast<std::size_t>(its_command - asked_.begin());
        format = its_command->format;
    } else if (!heading.is_decorated && !heading.is_word && device_.empty() && !has_next(*format)) {
        return false;  // "Foo:" may be of the output
    } else if (block.number == 0) {
        set_device(*format, block, number);
        return true;
    }
    block = new_block(*format, number);
    block.lacks_rows = false;
    take_turn(*format);
    return true;
}

std::optional<std::size_t> CounterContext::next(const CounterFormat& of) const {
    for (auto i = next_; i < asked_.size(); ++i) {
        if (asked_[i].format == &of) return i;
    }
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        if (asked_[i].format == &of && asked_[i].repeats) return i;
    }
    return std::nullopt;
}

/// Which of several commands has printed a block is not known once one may have failed.
bool CounterContext::is_uncertain() const {
    const auto is_another = [](const Asked& a, const Asked& b) {
        return a.block.device != b.block.device || a.block.place != b.block.place;
    };
    return is_disturbed_ && std::ranges::adjacent_find(asked_, is_another) != asked_.end();
}

void CounterContext::set_device(const CounterFormat& of, CounterBlock& in, std::int64_t number) const {
    if (!takes_device(of)) return;
    if (!device_.empty()) {
        in.device = in.of = device_;
    } else if (in.device.empty() ? in.varies : is_uncertain()) {
        in.device = in.of = fmt::format("line {}", number);
    }
}

CounterBlock CounterContext::new_block(const CounterFormat& of, std::int64_t number) const {
    const auto asked = next(of);
    CounterBlock begun = asked ? asked_[*asked].block : CounterBlock();
    set_device(of, begun, number);
    return begun;
}

void CounterContext::take_turn(const CounterFormat& of) {
    const auto asked = next(of);
    if (!asked) return;
    next_ = *asked + 1;
    begins_sample_ = begins_sample_ || asked_[*asked].is_later;
}

void CounterContext::begin_anew(const CounterFormat& of, CounterBlock& in, std::int64_t number) {
    const auto begun = new_block(of, number);
    in.device = in.of = begun.device;
    in.varies = begun.varies;
    if (!has_next(of)) return;
    in.command = begun.command;
    in.place = begun.place;
    in.is_rise = begun.is_rise;
    in.lacks_rows = begun.lacks_rows;
    take_turn(of);
}

table::CounterSource CounterContext::begin(const CounterFormat& of, const CounterBlock& in, std::int64_t number) {
    if (!name_.empty()) {
        where_.heading = std::exchange(name_, {});
        was_printed_ = is_printed_;
    }
    auto source = where_;
    const bool may_be_here = table::CounterSource{.host = where_.host}.may_be({.host = sysstat_host_});
    if (of.are_rates && (where_.host.empty() || !may_be_here)) source.host = sysstat_host_;
    const auto place = in.place.within(entered_);
    source.reached = place.host;
    source.inside = place.inside;
    for (auto* const part : {&source.reached, &source.inside}) {
        if (!has_variable(*part) && (part->empty() || !is_uncertain() || !source.heading.empty())) continue;
        const auto kind = part == &source.reached ? "host" : part->substr(0, part->find(' '));
        *part = source.heading.empty() ? fmt::format("{} of line {}", kind, number) : "";
    }
    return source;
}

}  // namespace stapgen::decode
