// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "table/row.h"

namespace stapgen::between {

using table::Key, table::Separate, table::About, table::Shown;

/// What a host asked a server for one request, or (below depth 1) for questions that it was asked for that.
struct ChainLink {
    std::int64_t depth = 1;
    std::string host{}, server{};  ///< the server's host, or its address where its recording has none of it
    std::int64_t questions = 0;
    std::int64_t waiting_ns = 0;  ///< as long as any of them was under way; of several requests their sum
    std::int64_t joined = 0;      ///< of the questions: those that the server's recording has
    std::int64_t between_ns = 0, served_ns = 0;  ///< of these

    static constexpr About about{.name = "chain", .row_name = "link"};
    static constexpr void columns(auto&& column) {
        column(Separate(), "depth", &ChainLink::depth);
        column(Separate(), "host", &ChainLink::host);
        column(Separate(), "server", &ChainLink::server);
        column(Separate(), "questions", &ChainLink::questions);
        column(Separate(), "waiting_ns", &ChainLink::waiting_ns);
        column(Separate(), "joined", &ChainLink::joined);
        column(Separate(), "between_ns", &ChainLink::between_ns);
        column(Separate(), "served_ns", &ChainLink::served_ns);
    }
};

/// One request at both ends, in steps that follow one another: ask, forth, server, back, reply, read. They are `total`.
struct Request {
    std::int64_t start_ns = 0;             ///< ns since 1970 by the client's clock
    std::string client{}, server{};        ///< addresses as the client has them; empty: not known
    std::uint32_t seq = 0, reply_seq = 0;  ///< at the client
    std::string match{};                   ///< match_text()
    std::int64_t total_ns = 0;             ///< as far as it is known
    std::optional<std::int64_t> ask_ns{};  ///< the client's send call until its last byte is at the device
    std::int64_t between_ns = 0;           ///< forth and back together
    /// What `between_ns` is made of: the fastest forth and back together, and what each way took longer than its
    /// fastest. With one clock there is no fastest, and both ways are whole. Nothing: the clocks say none.
    std::optional<std::int64_t> fastest_ns{}, forth_excess_ns{}, back_excess_ns{};
    std::optional<std::int64_t> forth_ns{},
        back_ns{};                          ///< within Result::offset_error_ns; nothing: the clocks say none
    std::int64_t server_ns = 0;             ///< from the request's last byte until its reply's first one
    std::int64_t reply_ns = 0;              ///< until the reply's last segment comes
    std::optional<std::int64_t> read_ns{};  ///< until the client has read it
    /// What `server_ns` is made of, where the server's questions are known: as long as any of them was under way, and
    /// the rest.
    std::optional<std::int64_t> behind_ns{}, rest_ns{};
    std::vector<ChainLink> chain{};          ///< of the slowest
    std::uint64_t flow = 0, asked_flow = 0;  ///< of traces: what it asks; and if it is a question itself. 0: none

    static constexpr About about{.name = "requests", .row_name = "request"};
    static constexpr void columns(auto&& column) {
        column(Separate(), table::Moment("start"), &Request::start_ns);
        column(Separate(), table::Known("client"), &Request::client);
        column(Separate(), table::Known("server"), &Request::server);
        column(Separate(), "seq", &Request::seq);
        column(Separate(), "reply_seq", &Request::reply_seq);
        column(Separate(), "match", &Request::match);
        column(Separate(), "total_ns", &Request::total_ns);
        column(Separate(), "ask_ns", &Request::ask_ns);
        column(Separate(), "between_ns", &Request::between_ns);
        column(Separate(), "forth_ns", &Request::forth_ns);
        column(Separate(), "back_ns", &Request::back_ns);
        column(Separate(), "server_ns", &Request::server_ns);
        column(Separate(), "reply_ns", &Request::reply_ns);
        column(Separate(), "read_ns", &Request::read_ns);
        column(Separate(), "behind_ns", &Request::behind_ns, Shown{.is_rare = true});
        column(Separate(), "rest_ns", &Request::rest_ns, Shown{.is_rare = true});
        column(Separate(), "chain", &Request::chain, Shown{.is_rare = true, .row_name = "link"});
    }
};

}  // namespace stapgen::between
