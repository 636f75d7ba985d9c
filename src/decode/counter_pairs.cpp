// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "decode/counter_reader.h"
#include "decode/prompt_stripper.h"

namespace stapgen::decode {

std::optional<std::string_view> renamed(std::string_view list, std::string_view name) {
    for (const auto word : base::words(list)) {
        const auto equals = word.find('=');
        if (word.substr(0, equals) == name) return equals == word.npos ? word : word.substr(equals + 1);
    }
    return std::nullopt;
}

bool read_pairs(const CounterFormat& format, std::string_view text, std::string_view group,
                std::vector<CounterValue>& out) {
    const auto words = base::words(text);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto at = words[i].find(format.pair);
        const auto name = words[i].substr(0, at);
        auto value = at == name.npos ? "" : words[i].substr(at + 1);
        if (format.pair == ' ' && i + 1 < words.size()) value = words[++i];
        // The text that printf makes of a counter that the tool has no name for.
        if (name == "(null)") continue;
        // "skmem:(r0,rb212992,...,d19)": what the socket dropped; old kernels do not say it.
        if (name == "skmem") {
            const auto parts = base::match("(r*,d*)", value);
            if (!parts) continue;
            value = parts->back();
        }
        const bool is_state = base::contains_word(format.states, name);
        const bool are_all = format.counters.empty() && format.states.empty();
        const auto counter = is_state || are_all ? name : renamed(format.counters, name);
        // ss has words among them that are none, "0/244" and "433148ms(98.8%)".
        if (!counter && format.pair == ':') continue;
        if (format.pair == ':') value = value.substr(value.find('/') + 1, value.find("ms"));
        const auto number = base::to_unsigned(value);
        if (!number || (!counter && format.counters.empty()) || name.size() > max_counter_name_length) return false;
        if (counter)
            out.push_back({fmt::format("{}{}{}", group, group.empty() ? "" : ".", *counter), "", *number, is_state});
    }
    return true;
}

bool read_columns(std::string_view text, std::vector<CounterValue>& out) {
    if (annotation_begin(text) != text.npos) return false;
    const auto words = base::words(text);
    const auto before = out.size();
    std::string name;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto word = words[i];
        const auto number = i + 1 < words.size() ? base::to_unsigned(words[i + 1]) : std::nullopt;
        const bool is_last = word.size() > 1 && word.ends_with(':') && number;
        name.append(name.empty() ? "" : " ").append(word.substr(0, word.size() - (is_last ? 1 : 0)));
        if (name.size() > max_counter_name_length) return false;
        if (!is_last) continue;
        out.push_back({std::exchange(name, {}), "", *number});
        ++i;
    }
    return name.empty() && out.size() > before + 1;
}

SocketDetails read_socket_details(std::string_view text) {
    constexpr std::string_view before_users = "users:((", behind_users = "))";
    const auto begin = text.find(before_users);
    if (begin == text.npos) return {{}, std::string(text)};
    SocketDetails details{{}, std::string(text.substr(0, begin))};
    // A process may be called anything.
    const auto last = text.rfind(",fd=");
    const auto end = last == text.npos || last < begin ? text.npos : text.find(behind_users, last);
    if (end == text.npos) return details;
    const auto users = text.substr(begin + before_users.size(), end - begin - before_users.size());
    details.process = users.substr(0, users.find("),("));
    if (details.process.size() > max_owner_length) details.process = {};
    details.rest += text.substr(end + behind_users.size());
    return details;
}

}  // namespace stapgen::decode
