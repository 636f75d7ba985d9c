// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>

#include "base/kernel.h"
#include "base/text.h"
#include "decode/counter_reader.h"

namespace stapgen::decode {

namespace {

/// The text that follows that path, or behind its "6", in the line; nothing if it is not there.
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

/// Whether these words ask for it, with the device in `device`; a sentence that begins with the program's name does
/// not.
bool is_asked(const CounterFormat& format, std::vector<std::string_view> words, std::string_view& device) {
    const auto& asked = format.asked;
    const auto has = [&](auto word) { return has_option(word, asked.option); };
    if (!asked.option.empty() && std::ranges::none_of(words, has)) return false;
    words.erase(words.begin());
    const auto is_object = [&](auto word) { return base::contains_word(asked.objects, word); };
    if (!asked.objects.empty() && std::ranges::none_of(words, is_object)) return false;
    std::erase_if(words, [&](auto word) {
        return word.starts_with('-') || is_object(word) || base::contains_word(asked.arguments, word) ||
               base::grouped_counter_name(word);
    });
    const auto is_no_prose = [](auto word) { return word == "lo" || word.find_first_of("$*0123456789") != word.npos; };
    if (!takes_device(format)) return std::ranges::all_of(words, is_no_prose);
    if (words.empty()) return true;
    device = words[0];
    const bool is_device = device.starts_with('$') || is_device_name(device);
    return words.size() == 1 && is_device && (!asked.option.empty() || is_no_prose(device));
}

}  // namespace

bool is_device_name(std::string_view text) {
    constexpr std::size_t max_length = 32;  // the kernel's have 15 bytes at most, and an alias a number behind them
    return !text.empty() && text.size() <= max_length && std::ranges::all_of(text, [](char c) {
        return base::is_word_character(c) || c == '.' || c == '-' || c == ':' || c == '+';
    });
}

bool is_usual_device_name(std::string_view text) {
    constexpr std::string_view beginnings =
        "eth en em ib wl bond br veth vlan team tun tap usb wg p1p p2p p3p p4p virbr docker vxlan sl";
    return is_device_name(text) && base::starts_with_any(text, base::words(beginnings)) && base::is_digit(text.back());
}

std::optional<CounterBlock> block_of(const CounterFormat& format, const ShellCommand& command) {
    const auto& asked = format.asked;
    const auto& program = command.words[0];
    std::string_view device;
    const bool is_own = !asked.command.empty() && program == asked.command;
    if (is_own) {
        if (!is_asked(format, {command.words.begin(), command.words.end()}, device)) return std::nullopt;
    } else {
        const bool prints_file = base::contains_word("cat grep egrep head tail", program);
        const auto behind = prints_file ? behind_path(command.text, asked.path) : std::nullopt;
        if (!behind) return std::nullopt;
        // A line of several files does not say which it is of.
        if (format.names_device && !behind_path(*behind, asked.path)) device = behind->substr(0, behind->find(' '));
    }
    CounterBlock block{.command = command.text, .place = command.place, .is_open = true, .is_announced = true};
    if (is_device_name(device)) block.device = block.of = device;
    block.varies = command.varies();
    const auto shows_all = [](auto word) { return word == "--ignore" || has_option(word, "a"); };
    block.is_rise = is_own && asked.command == "nstat" && std::ranges::none_of(command.words, shows_all);
    return block;
}

}  // namespace stapgen::decode
