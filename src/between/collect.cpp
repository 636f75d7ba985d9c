// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/collect.h"

#include <fmt/format.h>

#include "base/saturate.h"
#include "base/text.h"
#include "decode/record.h"
#include "recording/facts.h"

namespace stapgen::between {

const Collector::Places* Collector::places_of(const decode::Schema& schema) {
    const auto [found, is_new] = places_.try_emplace(&schema);
    auto& places = found->second;
    if (is_new) {
        places = {.time = schema.find("time"),
                  .way = schema.find("way"),
                  .local = schema.find("local"),
                  .remote = schema.find("remote"),
                  .seq = schema.find("seq"),
                  .reply_seq = schema.find("reply_seq"),
                  .position = schema.find("position"),
                  .reply_position = schema.find("reply_position"),
                  .ask = schema.find("ask"),
                  .away = schema.find("away"),
                  .total = schema.find("total"),
                  .arriving = schema.find("arriving"),
                  .for_seq = schema.find("for_seq"),
                  .for_stream = schema.find("for_stream"),
                  .pid = schema.find("pid"),
                  .hands_over = schema.tag == "handed"};
        host_.says_for = host_.says_for || (places.for_seq && places.for_stream && places.pid);
        for (std::size_t i = 0; i < schema.fields.size(); ++i)
            if (schema.index == 0 && schema::divides_total(schema.fields[i]) && i != places.away)
                places.steps.push_back(i);
    }
    return places.hands_over || (places.time && places.way && places.seq) ? &places : nullptr;
}

std::optional<std::uint32_t> Collector::connection_of(const decode::Record& record, const Places& places) {
    if (!places.local || !places.remote) return no_connection;
    const auto& local = record.values[*places.local].raw;
    const auto& remote = record.values[*places.remote].raw;
    const auto first_of = [&](auto seq, auto position) -> std::optional<std::uint32_t> {
        if (!seq || !position || !record.values[*position].seen) return std::nullopt;
        return static_cast<std::uint32_t>(record.values[*seq].number - record.values[*position].number);
    };
    const auto first = first_of(places.seq, places.position),
               reply_first = first_of(places.reply_seq, places.reply_position);
    key_.assign(local).append(1, '\t').append(remote);
    if (first || reply_first) key_ += fmt::format("\t{}\t{}", first.value_or(0), reply_first.value_or(0));
    const auto found = connections_.find(key_);
    if (found != connections_.end()) return found->second;
    if (host_.connections.size() == most_connections) return std::nullopt;
    const auto number = static_cast<std::uint32_t>(host_.connections.size());
    host_.connections.push_back({decode::endpoint_text(local), decode::endpoint_text(remote), first, reply_first});
    connections_.emplace(key_, number);
    return number;
}

void Collector::asked_for(const decode::Record& record, const Places& places, const End& end) {
    if (!places.for_seq || !places.for_stream || !places.pid) return;
    constexpr std::int64_t last = 0xffffffff;
    const auto seq = record.values[*places.for_seq].number, stream = record.values[*places.for_stream].number;
    if (seq < 0 || seq > last || stream < 0 || stream > last) return;
    host_.asked.push_back({.seq = end.seq,
                           .reply_seq = end.reply_seq,
                           .from = end.from,
                           .for_seq = static_cast<std::uint32_t>(seq),
                           .for_stream = static_cast<std::uint32_t>(stream),
                           .process = record.values[*places.pid].number});
}

void Collector::hands_over(const decode::Record& record, const Places& places) {
    if (!places.pid) return;
    if (host_.handing.size() < most_processes) {
        host_.handing.insert(record.values[*places.pid].number);
    } else {
        is_full_ = true;
    }
}

void Collector::record(const decode::Record& record) {
    const auto* places = places_of(*record.schema);
    if (places == nullptr) return;
    if (places->hands_over) return hands_over(record, *places);
    const auto number = [&](const std::optional<std::size_t>& place) {
        return place ? record.values[*place].number : std::int64_t{0};
    };
    const auto way = record.values[*places->way].raw;
    if (way != "client" && way != "server") return;
    auto& side = way == "client" ? host_.client : host_.server;
    const auto connection = connection_of(record, *places);
    if (!connection || side.ends.size() + side.resent.size() == most_) {
        is_full_ = true;
        return;
    }
    const auto seq = static_cast<std::uint32_t>(number(places->seq));
    if (!places->reply_seq) {
        side.resent.push_back({*connection, seq});
        return;
    }
    const auto time = base::saturating_add(number(places->time), to_epoch_);
    const auto total = number(places->total);
    End end{.seq = seq, .reply_seq = static_cast<std::uint32_t>(number(places->reply_seq)), .connection = *connection};
    // Parts are no longer than the whole, which began after 1970, or another program wrote them.
    const auto ask = number(places->ask), away = number(places->away), arriving = number(places->arriving);
    if (!is_time(time) || !is_time(base::saturating_subtract(time, total)) || total < 0 || ask < 0 || away < 0 ||
        arriving < 0 || total - ask < away || total - ask - away < arriving) {
        ++invalid_;
        return;
    }
    if (way == "client") {
        end.before = ask;
        end.from = time - total + end.before;
        end.to = end.from + away;
        end.after = time - end.to;
        end.rest = arriving;
    } else {
        end.from = time - total + arriving;
        end.to = time;
    }
    // Growing by copies takes twice as much; what is not used is not there.
    constexpr std::size_t many = 1'000'000;
    if (side.ends.size() == many) side.ends.reserve(most_);
    side.ends.push_back(end);
    if (way == "client") asked_for(record, *places, end);
    for (std::size_t i = 0; i < places->steps.size(); ++i) {
        if (i == side.steps.size()) side.steps.push_back({.stage = record.schema->fields[places->steps[i]].name});
        const auto& value = record.values[places->steps[i]];
        if (!value.seen) continue;
        side.steps[i].sum_ns = base::saturating_add(side.steps[i].sum_ns, value.number);
        ++side.steps[i].n;
    }
}

void Collector::origin(const recording::Origin& origin) {
    if (origin.host.empty()) return;
    auto name = base::printable(origin.host);
    has_several_ = has_several_ || (has_origin_ && name != host_.name);
    has_origin_ = true;
    host_.name = std::move(name);
}

std::string full_text(const std::string& host, std::size_t most) {
    return fmt::format("{} has more than {} requests or {} connections: the others are left out", host,
                       base::with_commas(most), base::with_commas(most_connections));
}

std::vector<std::string> Collector::end() {
    std::vector<std::string> said;
    if (is_full_) said.push_back(full_text(host_.name, most_));
    if (invalid_ > 0) {
        said.push_back(
            fmt::format("{}: {} requests are left out: their stages are longer than the whole, or it began before 1970",
                        host_.name, base::with_commas(invalid_)));
    }
    return said;
}

}  // namespace stapgen::between
