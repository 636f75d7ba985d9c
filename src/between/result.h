// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "between/ends.h"
#include "table/row.h"

/// Where the time of requests between two hosts is: what `stapgen between` answers, as rows of "stapgen.between/1".
namespace stapgen::between {

using table::Key, table::Separate, table::About, table::Shown;

/// The client's host, what is between the hosts, the server's host until its reply begins, and from where that has come
/// until its rest has: together they are what each request took. "between" is what neither host has: both queueing
/// disciplines and cards, the wire, all boxes, and both hosts' interrupts and GRO. Of the rest it is not known whether
/// the server was slow to send it or the way is.
struct Part {
    std::string where{};  ///< "client", "between", "server"; "reply", if any has a rest
    double share = 0;     ///< of all requests' time, 0 to 1
    double mean_ns = 0;
    std::optional<std::int64_t> p50_ns{}, p99_ns{};  ///< nothing: too few requests
    std::optional<double> excess{};  ///< its part of what the slowest requests, those above p99, take longer than the
                                     ///< others; nothing: too few

    static constexpr About about{.name = "parts", .row_name = "part"};
    static constexpr void columns(auto&& column) {
        column(Key(), "where", &Part::where);
        column(Separate(), table::Share("share"), &Part::share);
        column(Separate(), table::Mean("mean_ns"), &Part::mean_ns);
        column(Separate(), "p50_ns", &Part::p50_ns);
        column(Separate(), "p99_ns", &Part::p99_ns);
        column(Separate(), table::Share("excess_share"), &Part::excess);
    }
};

/// One direction between the hosts.
struct Way {
    std::string way{};                               ///< "forth": to the server; "back"
    std::optional<std::int64_t> p50_ns{}, p99_ns{};  ///< above its fastest; with one clock, all of it
    std::int64_t resent = 0;                         ///< requests whose sender has sent segments again
    std::int64_t segments = 0;                       ///< these

    static constexpr About about{.name = "ways", .row_name = "way"};
    static constexpr void columns(auto&& column) {
        column(Key(), "way", &Way::way);
        column(Separate(), "p50_ns", &Way::p50_ns);
        column(Separate(), "p99_ns", &Way::p99_ns);
        column(Separate(), "resent", &Way::resent);
        column(Separate(), "segments", &Way::segments);
    }
};

/// Requests of a client's host to a server's.
struct Result {
    std::string client{}, server{};  ///< hosts
    std::string seen_as{};           ///< "10.9.0.1 asks 10.9.0.2:5432", and the server's view where it is another one
    std::int64_t requests = 0;       ///< at both ends
    std::int64_t client_only = 0, server_only = 0, ambiguous = 0, impossible = 0;
    std::int64_t start_ns = 0, duration_ns = 0;  ///< of these, by the client's clock
    std::optional<std::int64_t> threshold_ns{};  ///< p99; nothing: too few requests
    std::int64_t slow = 0;                       ///< requests above it
    std::vector<Part> parts{};
    std::vector<Way> ways{};
    bool knows_client = true;                  ///< false: by a capture, which has nothing of the client's host
    bool one_clock = false;                    ///< both ends are in one recording
    std::optional<std::int64_t> fastest_ns{};  ///< forth and back together, by the fastest of each; nothing: not known
    std::optional<std::int64_t> offset_ns{}, offset_error_ns{};  ///< the server's clock minus the client's; likewise
    std::optional<double> drift_ppm{};

    static constexpr About about{.name = "results", .row_name = "result"};
    static constexpr void columns(auto&& column) {
        column(Key(), "client", &Result::client);
        column(Key(), "server", &Result::server);
        column(Separate(), "seen_as", &Result::seen_as);
        column(Separate(), "requests", &Result::requests);
        column(Separate(), "client_only", &Result::client_only);
        column(Separate(), "server_only", &Result::server_only);
        column(Separate(), "ambiguous", &Result::ambiguous);
        column(Separate(), "impossible", &Result::impossible);
        column(Separate(), table::Moment("start"), &Result::start_ns);
        column(Separate(), "duration_ns", &Result::duration_ns);
        column(Separate(), "threshold_ns", &Result::threshold_ns);
        column(Separate(), "slow", &Result::slow);
        column(Separate(), "parts", &Result::parts, Shown{.row_name = "part"});
        column(Separate(), "ways", &Result::ways, Shown{.row_name = "way"});
        column(Separate(), "knows_client", &Result::knows_client);
        column(Separate(), "one_clock", &Result::one_clock);
        column(Separate(), "fastest_ns", &Result::fastest_ns);
        column(Separate(), "offset_ns", &Result::offset_ns);
        column(Separate(), "offset_error_ns", &Result::offset_error_ns);
        column(Separate(), "drift_ppm", &Result::drift_ppm);
    }
};

struct Answer {
    std::vector<Result> results;       ///< the one with most requests first
    std::vector<std::string> missing;  ///< what was not found, and why that may be

    static constexpr About about{.name = "between", .shape = table::Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Separate(), "results", &Answer::results);
        column(Separate(), "missing", &Answer::missing);
    }
};

/// Joins each client's requests to each server's. Sorts the hosts' ends.
Answer between(std::vector<Host>& hosts);

}  // namespace stapgen::between
