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

std::optional<std::uint64_t> read_hundredths(std::string_view text) {
    constexpr std::size_t decimals = 2, max_digits = 12;
    const auto point = text.find_first_of(".,");
    if (point == text.npos || point > max_digits || text.size() != point + 1 + decimals) return std::nullopt;
    const auto whole = base::to_unsigned(text.substr(0, point)), part = base::to_unsigned(text.substr(point + 1));
    if (!whole || !part) return std::nullopt;
    return *whole * 100 + *part;
}

bool read_neighbour(std::string_view text, std::string_view group, std::vector<CounterValue>& out) {
    // print_neigh() of iproute2's ip/ipneigh.c. An entry of a proxy has no state, one of a route no other word of
    // these.
    constexpr std::string_view states = "INCOMPLETE REACHABLE STALE DELAY PROBE FAILED NOARP PERMANENT proxy";
    const auto words = base::words(text);
    std::string_view state;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (base::contains_word("lladdr ref used probes proto", words[i])) {
            // From 5.16 on there is no blank between them: "used 12/9/5probes 4".
            const bool has_probes = words[i] == "used" && i + 1 < words.size() && words[i + 1].ends_with("probes");
            i += has_probes ? 2 : 1;
            if (i >= words.size()) return false;
        } else if (base::contains_word(states, words[i]) && state.empty()) {
            state = words[i];
        } else if (!base::contains_word("router managed extern_learn offload extern_valid", words[i])) {
            return false;
        }
    }
    for (const auto& [name, which] : {std::pair{"failed", "FAILED"}, std::pair{"incomplete", "INCOMPLETE"}})
        out.push_back({fmt::format("{}.{}", group, name), "", state == which ? 1U : 0U, true});
    return !state.empty();
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
