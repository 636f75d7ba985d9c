// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/joined_recording.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/address.h"
#include "base/build_facts.h"
#include "base/saturate.h"
#include "base/text.h"
#include "recording/identity.h"

namespace stapgen::between {

namespace {

constexpr const char* recipe = "between";

/// An endpoint as records have it, of one as people write it. Of what is none [::]:0.
std::string raw_of(const std::string& text) {
    std::array<unsigned char, 16> bytes{};
    const bool is_ipv6 = text.starts_with('[');
    const auto end = is_ipv6 ? text.find("]:") : text.find(':');
    if (end == std::string::npos) return "0.0:0";
    if (!is_ipv6) std::ranges::copy(base::mapped_ipv4, bytes.begin());
    const auto address = text.substr(is_ipv6 ? 1 : 0, is_ipv6 ? end - 1 : end);
    if (::inet_pton(is_ipv6 ? AF_INET6 : AF_INET, address.c_str(), &bytes[is_ipv6 ? 0 : base::mapped_ipv4.size()]) != 1)
        return "0.0:0";
    std::array<std::uint64_t, 2> halves{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        halves[i / 8] = halves[i / 8] << 8U | bytes[i];
    return fmt::format("{:x}.{:x}{}", halves[0], halves[1], std::string_view(text).substr(text.rfind(':')));
}

/// As a script escapes it. Whatever hosts call themselves, no record is too long for its reader.
std::string escaped(std::string_view host) {
    constexpr std::size_t most = 100;
    std::string text;
    for (const char c : base::printable(host.substr(0, most)))
        text += c == '\\' ? std::string("\\\\") : std::string(1, c);
    return text;
}

}  // namespace

base::Result<JoinedRecording> JoinedRecording::create(const std::filesystem::path& file,
                                                      std::vector<std::string> command) {
    JoinedRecording joined;
    STAPGEN_LET(joined.writer_, recording::Writer::create(file, {}));
    auto& setup = joined.setup_;
    setup.recipe = recipe;
    setup.command = std::move(command);
    setup.parameters.emplace();
    setup.definition = recording::definition_of(setup);
    setup.stapgen_version = base::build_facts.version;
    setup.clocks = {{"time", "CLOCK_REALTIME"}, {"epoch", "CLOCK_REALTIME"}};
    return joined;
}

void JoinedRecording::set_hosts(const std::vector<Host>& hosts) {
    std::vector<std::string> names;
    for (const auto& host : hosts)
        names.push_back(host.name);
    setup_.host = fmt::format("{}", fmt::join(names, " and "));
}

void JoinedRecording::begin(const Result& result) {
    end_ns_ = result.start_ns;
    writer_->begin_part(setup_);
    writer_->line(joined_header);
    writer_->line(fmt::format("ready\t{0}\t{0}", result.start_ns));
}

void JoinedRecording::add(const Result& result, const Request& request) {
    if (writer_->needs_part()) begin(result);
    if (client_ != result.client || server_ != result.server) {
        client_ = result.client;
        server_ = result.server;
        hosts_ = fmt::format("{} and {}", escaped(client_), escaped(server_));
    }
    const auto time_ns = request.start_ns + request.total_ns;
    end_ns_ = std::max(end_ns_, time_ns);
    line_.clear();
    fmt::format_to(std::back_inserter(line_), "request\t{}\t{}\t{}\t{}\t{}\t{}\t{}", time_ns, hosts_,
                   raw_of(request.client), raw_of(request.server), request.seq, request.reply_seq, request.match);
    const auto put = [&](const std::optional<std::int64_t>& ns) {
        const fmt::format_int digits(ns.value_or(0));
        line_ += '\t';
        line_ += ns ? std::string_view(digits.data(), digits.size()) : "-";
    };
    // A part, or the rest of a reply, that took no time was not there.
    const auto put_if_any = [&](const std::optional<std::int64_t>& ns) { put(ns == 0 ? std::nullopt : ns); };
    put(request.ask_ns);
    put(request.between_ns);
    put_if_any(request.fastest_ns);
    put_if_any(request.forth_excess_ns);
    put_if_any(request.back_excess_ns);
    put(request.server_ns);
    put_if_any(request.reply_ns);
    put(request.read_ns);
    put(request.total_ns);
    writer_->line(line_);
}

base::Result<void> JoinedRecording::end(const Answer& answer) {
    /// All requests of a host, which each of its results has, and those that were found in any.
    struct Requests {
        std::int64_t all = 0, found = 0;

        void add(std::int64_t found_here, std::int64_t others) {
            found += found_here;
            all = std::max(all, found_here + others);
        }
        [[nodiscard]] std::int64_t alone() const { return std::max<std::int64_t>(all - found, 0); }
    };
    std::map<std::string, Requests> clients, servers;
    std::map<std::string, std::int64_t> counts;
    std::int64_t seen = 0, reported = 0;
    const auto add_incomplete = [&](const std::string& cause, std::int64_t count) {
        base::add_saturating(counts["incomplete." + cause], count);
        base::add_saturating(seen, count);
    };
    for (const auto& result : answer.results) {
        clients[result.client].add(result.requests + result.ambiguous + result.impossible, result.client_only);
        servers[result.server].add(result.requests + result.impossible, result.server_only);
        reported += result.requests;
        add_incomplete("same-numbers", result.ambiguous);
        add_incomplete("longer-at-server", result.impossible);
    }
    seen += reported;
    for (const auto& [name, client] : clients)
        add_incomplete("not-at-server", client.alone());
    for (const auto& [name, server] : servers)
        counts["not-at-client"] += server.alone();
    std::set<std::pair<std::string, std::string>> done;
    for (const auto& result : answer.results) {
        for (const auto& [host, cause, count] : result.not_measured) {
            if (!done.emplace(host, cause).second) continue;
            if (clients.contains(host)) {
                add_incomplete(cause, count);
            } else {
                base::add_saturating(counts[cause + "-at-server"], count);
            }
        }
    }
    auto line = fmt::format("end\t{}\tseen={}\treported={}", end_ns_, seen, reported);
    for (const auto& [name, count] : counts)
        line += fmt::format("\t{}={}", name, count);
    writer_->line(line);
    writer_->end({});
    if (writer_->failure()) return tl::make_unexpected(*writer_->failure());
    return {};
}

}  // namespace stapgen::between
