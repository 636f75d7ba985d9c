// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/trace.h"

#include <fmt/format.h>

#include "base/saturate.h"
#include "between/sentences.h"

namespace stapgen::between {

namespace {

using base::saturating_add, base::saturating_subtract;

/// As the columns of Request are called.
table::Group details_of(const Request& request, const Result& result) {
    table::Group details;
    const auto add = [&](const char* name, const std::optional<std::int64_t>& number) {
        if (number) details.push_back({name, *number});
    };
    add("seq", request.seq);
    add("reply_seq", request.reply_seq);
    details.push_back({"match", request.match});
    add("total_ns", request.total_ns);
    add("between_ns", request.between_ns);
    add("forth_ns", request.forth_ns);
    add("back_ns", request.back_ns);
    add("offset_error_ns", result.offset_error_ns);
    add("behind_ns", request.behind_ns);
    add("rest_ns", request.rest_ns);
    return details;
}

}  // namespace

Trace::Host& Trace::add_host(const std::string& name, std::int64_t ahead) {
    auto& host = hosts_[name];
    host.ahead = ahead;
    host.track = trace_.track(name, 0, static_cast<std::int64_t>(hosts_.size()), true);
    return host;
}

void Trace::begin(const Result& result, const Request& first) {
    if (hosts_.empty()) trace_.clocks({first.start_ns, first.start_ns});
    const auto known = [&](const std::string& name) {
        const auto found = hosts_.find(name);
        return found == hosts_.end() ? nullptr : &found->second;
    };
    const auto offset = result.offset_ns.value_or(0);
    client_ = known(result.client);
    server_ = known(result.server);
    if (client_ == nullptr)
        client_ = &add_host(result.client, server_ == nullptr ? 0 : saturating_subtract(server_->ahead, offset));
    if (server_ == nullptr) server_ = &add_host(result.server, saturating_add(client_->ahead, offset));
    names_ = {result.client, result.server};
    const auto said = [&](std::string_view what, const std::string& text) {
        trace_.metadata(fmt::format("stapgen-{} of {}", what, hosts_text(result)), text);
    };
    said("requests", found_text(result));
    said("answer", answer_text(result));
    said("clocks", result.offset_ns ? clocks_text(result) : ways_text(result));
}

std::uint64_t Trace::track_of(Host& host, const std::string& connection, std::int64_t begin, std::int64_t end) {
    auto& lanes = host.connections[connection];
    const auto place = show::free_lane(lanes, begin);
    if (place == lanes.size()) {
        const auto rank = static_cast<std::int64_t>(host.connections.size());
        lanes.push_back({trace_.track(connection, host.track, rank)});
    }
    lanes[place].end = end;
    return lanes[place].track;
}

void Trace::request(const Result& result, const Request& request) {
    ++requests_;
    // Of both hosts, and of the connection there.
    constexpr std::size_t new_tracks = 4;
    if (!trace_.has_room(new_tracks)) {
        ++left_out_;
        return;
    }
    if (names_.first != result.client || names_.second != result.server) begin(result, request);
    const auto connection = request.client.empty() ? "connections without addresses"
                                                   : fmt::format("{} to {}", request.client, request.server);
    const auto sent = saturating_subtract(request.start_ns, client_->ahead);
    const auto away = saturating_add(sent, request.ask_ns.value_or(0));
    const auto came = saturating_add(away, saturating_add(request.between_ns, request.server_ns));
    const auto whole = saturating_add(came, request.reply_ns);
    const auto read = saturating_add(whole, request.read_ns.value_or(0));
    const auto at_client = track_of(*client_, connection, sent, read);
    const auto flow = static_cast<std::uint64_t>(requests_);
    if (request.ask_ns) trace_.slice(at_client, "ask", sent, away, request.asked_flow, {});
    trace_.slice(at_client, "wait", away, came, flow, details_of(request, result));
    if (request.reply_ns > 0) trace_.slice(at_client, "reply", came, whole, flow, {});
    if (request.read_ns) trace_.slice(at_client, "read", whole, read, request.reply_ns > 0 ? 0 : flow, {});

    const auto place = placed(request, result);
    const auto arrived = saturating_add(away, place.forth_ns), answered = saturating_add(arrived, request.server_ns);
    trace_.slice(track_of(*server_, connection, arrived, answered), "server", arrived, answered, flow,
                 {{"earlier_ns", place.earlier_ns}, {"later_ns", place.later_ns}}, request.flow);
}

std::vector<std::string> Trace::end(const Answer& answer) {
    auto missing = answer.missing;
    if (left_out_ > 0) missing.push_back(show::PerfettoTrace::left_out_text(left_out_, requests_, "requests"));
    for (const auto& result : answer.results) {
        if (!result.offset_ns && !result.one_clock)
            missing.push_back(fmt::format("when {} had requests of {} is not known, and drawn in the middle",
                                          result.server, result.client));
        for (const auto& [what, text] :
             {std::pair("not joined", not_joined_text(result)), {"not measured", not_measured_text(result)}})
            if (!text.empty()) missing.push_back(fmt::format("{}, {}: {}", hosts_text(result), what, text));
    }
    trace_.finish(missing);
    return missing;
}

}  // namespace stapgen::between
