// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "between/result.h"

namespace stapgen::between {

/// Requests of a client and a server whose clock is ahead.
struct Service {
    static constexpr std::int64_t ahead = 100'000'000'000;
    Host app{.name = "app1", .file = "app1", .connections = {{"10.0.0.1:40000", "10.9.0.2:5432"}}};
    Host db{.name = "db1", .file = "db1", .connections = {{"10.0.0.2:5432", "10.0.0.1:40000"}}};
    std::int64_t now = 1'000'000;

    struct Times {
        std::int64_t before = 11'000, forth = 31'000, served = 307'000, back = 37'000, rest = 0, after = 13'000;
    };
    void ask(std::uint32_t seq, std::uint32_t reply_seq, const Times& times) {
        const auto left = now + times.before, came = left + times.forth, answered = came + times.served;
        app.client.ends.push_back({.seq = seq,
                                   .reply_seq = reply_seq,
                                   .connection = 0,
                                   .from = left,
                                   .to = answered + times.back,
                                   .before = times.before,
                                   .after = times.rest + times.after,
                                   .rest = times.rest});
        db.server.ends.push_back(
            {.seq = seq, .reply_seq = reply_seq, .connection = 0, .from = came + ahead, .to = answered + ahead});
        now = app.client.ends.back().to + times.rest + times.after + 101'000;
    }
    Answer answer() {
        std::vector hosts{app, db};
        return between(hosts);
    }
};

}  // namespace stapgen::between
