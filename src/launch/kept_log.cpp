// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <array>

#include "base/text.h"
#include "host/packages.h"
#include "launch/messages.h"

namespace stapgen::launch {

namespace {

/// Rows that a line of any program may fit.
constexpr std::string_view of_any_program =
    "bad-option compiler-error compiler-missing division module-conflict no-space no-struct-member output parse-error "
    "run-error";

bool names_stap(std::string_view log) {
    constexpr std::array<std::string_view, 5> words{"stap",
                                                    "semantic error:", "man error::", "man warning::", "ystemTap"};
    return std::ranges::any_of(words, [&](auto word) { return log.find(word) != std::string_view::npos; });
}

/// The text before a kernel's release: paths of its build tree and modules, packages.
constexpr std::array<std::string_view, 6> before_release{"/lib/modules/",     "kernel-devel-",
                                                         "kernel-debuginfo-", "debuginfo-install kernel-",
                                                         "linux-headers-",    "linux-image-"};

std::string release_in(std::string_view log) {
    for (const auto before : before_release) {
        const auto at = log.find(before);
        if (at == std::string_view::npos) continue;
        const auto rest = log.substr(at + before.size());
        const auto end = std::ranges::find_if_not(rest, [](char c) {
            return base::is_word_character(c) || std::string_view(".+-~").find(c) != std::string_view::npos;
        });
        const std::string_view release(rest.begin(), end);
        if (!release.empty() && base::is_digit(release.front())) return std::string(release);
    }
    return {};
}

host::Distribution distribution_in(std::string_view log, std::string_view release) {
    using host::Distribution;
    if (const auto known = host::distribution_of_release(release); known != Distribution::other) return known;
    constexpr std::array<std::pair<std::string_view, Distribution>, 8> words{
        {{"README.Debian", Distribution::debian},
         {"apt-get ", Distribution::debian},
         {"apt install", Distribution::debian},
         {"Ubuntu", Distribution::debian},
         {"dnf ", Distribution::redhat},
         {"yum ", Distribution::redhat},
         {"debuginfo-install", Distribution::redhat},
         {"zypper ", Distribution::suse}}};
    const auto found =
        std::ranges::find_if(words, [&](const auto& word) { return log.find(word.first) != std::string_view::npos; });
    return found == words.end() ? Distribution::other : found->second;
}

}  // namespace

std::optional<Diagnosis> failure_in(std::string_view log) {
    MessageContext context;
    context.is_log = true;
    context.release = release_in(log);
    const auto distribution = distribution_in(log, context.release);
    const auto release = context.release.empty() ? "RELEASE" : context.release;
    context.install_headers = host::command_here(host::install_headers(release), distribution);
    context.install_debuginfo = host::command_here(host::install_debuginfo(release), distribution);
    MessageReader reader(std::move(context));
    for (const auto line : base::split(log, '\n'))
        reader.line(line);
    const auto* const cause = reader.cause();
    if (cause == nullptr || (base::contains_word(of_any_program, cause->id) && !names_stap(log))) return std::nullopt;
    return *cause;
}

}  // namespace stapgen::launch
