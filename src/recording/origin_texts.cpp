// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/origin_texts.h"

#include <fmt/format.h>

#include "base/text.h"

namespace stapgen::recording {

std::vector<std::pair<std::string, std::string>> origin_texts(const Origin& origin) {
    std::vector<std::pair<std::string, std::string>> texts;
    const auto say = [&](std::string what, std::string text) {
        if (!text.empty()) texts.emplace_back(std::move(what), std::move(text));
    };
    say("host", origin.host);
    say("machine", origin.machine);
    for (const auto& [name, value] : origin.labels)
        say("label:" + name, value);
    say("kernel", origin.kernel);
    say("build_id", origin.build_id);
    say("command", base::shell_quoted(origin.command));
    for (const auto& [option, value] : origin.filters)
        say("filter:" + option, value);
    if (!origin.definition.empty()) say("sample", fmt::format("{}", origin.sample));
    say("definition", origin.definition);
    return texts;
}

}  // namespace stapgen::recording
