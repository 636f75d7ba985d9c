// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "between/sentences.h"
#include "show/document.h"
#include "show/text/sections.h"

namespace stapgen::between {

namespace {

void put(std::ostream& out, const std::string& text, const base::Screen& screen) {
    out << base::wrapped(text, screen.width > 0 ? screen.width : base::default_width, 2) << '\n';
}

void write(std::ostream& out, const Result& result, const base::Screen& screen) {
    put(out, fmt::format("{}, {}", hosts_text(result), found_text(result)), screen);
    if (const auto answer = answer_text(result); !answer.empty()) put(out, answer, screen);
    out << show::text_of(parts_table(result), screen);
    const std::pair<const char*, std::string> said[]{{"", slow_text(result)},
                                                     {"not measured: ", capture_text(result)},
                                                     {"inside: ", inside_text(result)},
                                                     {"behind: ", behind_text(result)},
                                                     {"between: ", resent_text(result)},
                                                     {"", ways_text(result)},
                                                     {"clocks: ", clocks_text(result)},
                                                     {"joined: ", matched_text(result)},
                                                     {"not joined: ", not_joined_text(result)},
                                                     {"not placed: ", not_placed_text(result)},
                                                     {"not measured: ", not_measured_text(result)}};
    for (const auto& [what, text] : said)
        if (!text.empty()) put(out, what + text, screen);
    constexpr std::size_t most_chains = 3;
    for (std::size_t i = 0; i < std::min(most_chains, result.slowest.size()); ++i)
        if (const auto text = chain_text(result.slowest[i], result); !text.empty())
            put(out, fmt::format("slowest: {}", text), screen);
}

}  // namespace

void write_text(std::ostream& out, const Answer& answer, const base::Screen& screen) {
    for (const auto& result : answer.results) {
        if (&result != &answer.results.front()) out << '\n';
        write(out, result, screen);
    }
    for (const auto& text : answer.missing)
        put(out, text, screen);
}

void write_json(std::ostream& out, const Answer& answer) {
    show::put_json(out, show::document("stapgen.between/1", answer), 2);
}

void write_csv(std::ostream& out, const Answer& answer) {
    show::put_csv(out, answer.results);
}

}  // namespace stapgen::between
