// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options/typed.h"

#include <algorithm>
#include <utility>

namespace stapgen::cli {

namespace {

/// "never" of "--no-live" with the names "--live{always},--no-live{never}"; else "true".
std::string meaning_of(const OptionSpec& flag, const std::string& name) {
    const auto at = flag.names.find(name + '{');
    if (at == std::string::npos) return "true";
    const auto begin = at + name.size() + 1;
    return flag.names.substr(begin, flag.names.find('}', begin) - begin);
}

}  // namespace

const OptionSpec* Typed::next_argument() const {
    const auto found = std::ranges::find_if(command->options, [&](const OptionSpec& option) {
        return is_argument(option) && (is_repeatable(option) || !given.contains(&option));
    });
    return found == command->options.end() ? nullptr : &*found;
}

void Typed::take(const std::string& word) {
    if (value_of != nullptr) {
        given[std::exchange(value_of, nullptr)].push_back(word);
    } else if (!options_ended && word == "--") {
        options_ended = true;
    } else if (!options_ended && word.starts_with('-') && word != "-") {
        take_option(word);
    } else if (const auto* next = command_named(*command, word); next != nullptr && !options_ended) {
        command = next;
    } else if (const auto* argument = next_argument()) {
        given[argument].push_back(word);
    } else {
        unknown.push_back(word);
    }
}

void Typed::take_option(const std::string& word) {
    const bool is_long = word.starts_with("--");
    const auto end = is_long ? std::min(word.find('='), word.size()) : 2;
    const auto name = word.substr(0, end);
    const auto* option = option_named(*command, name);
    if (option == nullptr) {
        unknown.push_back(word);
        return;
    }
    const bool has_more = end < word.size();
    const auto more = has_more ? word.substr(is_long ? end + 1 : end) : std::string();
    if (!is_flag(*option)) {
        if (has_more) {
            given[option].push_back(more);
        } else {
            value_of = option;
        }
        return;
    }
    given[option].push_back(is_long && has_more ? more : meaning_of(*option, name));
    if (!is_long && has_more) take_option('-' + more);
}

}  // namespace stapgen::cli
