#include "report/model/origin_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace stapgen::report {

namespace {

void add_once(std::vector<std::string>& texts, std::string text) {
    if (!text.empty() && std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
}

std::string host_of(const analyze::Origin& origin) {
    if (origin.host.empty() && origin.kernel.empty()) return {};
    const auto host = origin.host.empty() ? "a host" : base::printable(origin.host);
    return origin.kernel.empty() ? host : fmt::format("{}, Linux {}", host, base::printable(origin.kernel));
}

}  // namespace

std::vector<std::string> hosts_of(const analyze::Summary& summary) {
    std::vector<std::string> hosts;
    for (const auto& origin : summary.origins)
        add_once(hosts, host_of(origin));
    return hosts;
}

std::vector<std::string> origin_lines(const analyze::Summary& summary) {
    constexpr std::size_t most = 4;
    std::vector<std::string> lines;
    for (const auto& origin : summary.origins) {
        const auto host = host_of(origin);
        const auto command = origin.command.empty() ? "" : ": " + base::printable(base::shell_quoted(origin.command));
        if (!host.empty()) add_once(lines, fmt::format("on {}{}", host, command));
    }
    if (lines.size() <= most) return lines;
    const auto more = lines.size() - most;
    lines.resize(most);
    lines.push_back(fmt::format("and {} more", more));
    return lines;
}

std::string filters_text(const analyze::Summary& summary) {
    std::vector<std::string> all;
    for (const auto& origin : summary.origins) {
        std::vector<std::string> words;
        for (const auto& [option, value] : origin.filters)
            words.insert(words.end(), {"--" + option, value});
        add_once(all, base::printable(base::shell_quoted(words)));
    }
    return fmt::format("{}", fmt::join(all, " or "));
}

}  // namespace stapgen::report
