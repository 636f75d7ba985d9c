// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "between/ends.h"
#include "between/request.h"
#include "table/row.h"

/// Where the time of requests between two hosts is: what `stapgen between` answers, as rows of "stapgen.between/1".
namespace stapgen::between {

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

/// What a host did for its part of the time, by stages of the recipe both-ends: of all requests that it recorded.
struct Inside {
    std::string host{}, stage{};
    std::int64_t n = 0;
    double share = 0;  ///< of that host's part of its requests, 0 to 1
    double mean_ns = 0;

    static constexpr About about{.name = "inside", .row_name = "stage"};
    static constexpr void columns(auto&& column) {
        column(Key(), "host", &Inside::host);
        column(Key(), "stage", &Inside::stage);
        column(Separate(), "n", &Inside::n);
        column(Separate(), table::Share("share"), &Inside::share);
        column(Separate(), table::Mean("mean_ns"), &Inside::mean_ns);
    }
};

/// What a server asked another one for its requests.
struct Behind {
    std::string server{};       ///< a host, or an address where no recording has its end
    std::int64_t requests = 0;  ///< for which it was asked
    std::int64_t questions = 0;
    double share = 0;         ///< of the time that the asking server has its requests: as long as any was under way
    double mean_ns = 0;       ///< of a request for which it was asked
    std::int64_t joined = 0;  ///< of the questions: those that the other server's recording has
    double between_ns = 0, served_ns = 0;  ///< the mean of these

    static constexpr About about{.name = "behind", .row_name = "behind"};
    static constexpr void columns(auto&& column) {
        column(Key(), "server", &Behind::server);
        column(Separate(), "requests", &Behind::requests);
        column(Separate(), "questions", &Behind::questions);
        column(Separate(), table::Share("share"), &Behind::share);
        column(Separate(), table::Mean("mean_ns"), &Behind::mean_ns);
        column(Separate(), "joined", &Behind::joined);
        column(Separate(), table::Mean("between_ns"), &Behind::between_ns);
        column(Separate(), table::Mean("served_ns"), &Behind::served_ns);
    }
};

/// Requests that a host has seen, and has no record of; or questions that are not known to be for one of its requests.
struct NotMeasured {
    std::string host{}, cause{};
    std::int64_t count = 0;

    static constexpr About about{.name = "not_measured", .row_name = "not measured"};
    static constexpr void columns(auto&& column) {
        column(Key(), "host", &NotMeasured::host);
        column(Key(), "cause", &NotMeasured::cause);
        column(Separate(), "count", &NotMeasured::count);
    }
};

/// Requests of a client's host to a server's.
struct Result {
    std::string client{}, server{};  ///< hosts
    std::string seen_as{};           ///< "10.9.0.1 asks 10.9.0.2:5432", and the server's view where it is another one
    std::int64_t requests = 0;       ///< at both ends
    std::int64_t by_difference = 0, by_position = 0;  ///< of these, by Match
    std::int64_t client_only = 0, server_only = 0, ambiguous = 0, impossible = 0;
    std::int64_t start_ns = 0, duration_ns = 0;  ///< of these, by the client's clock
    std::optional<std::int64_t> threshold_ns{};  ///< p99; nothing: too few requests
    std::int64_t slow = 0;                       ///< requests above it
    std::vector<Part> parts{};
    std::vector<Way> ways{};
    std::vector<Inside> inside{};    ///< by share
    std::vector<Request> slowest{};  ///< the slowest first
    std::vector<NotMeasured> not_measured{};
    /// What the server's time of all these requests is made of, to the ns: see Request::behind_ns. Nothing: none of its
    /// questions is known to be for one.
    std::optional<std::int64_t> behind_ns{}, rest_ns{};
    std::vector<Behind> behind{};              ///< by share
    std::vector<NotMeasured> not_placed{};     ///< the server's questions
    bool knows_client = true;                  ///< false: by a capture, which has nothing of the client's host
    bool one_clock = false;                    ///< both ends are in one recording
    std::optional<std::int64_t> fastest_ns{};  ///< forth and back together, by the fastest of each; nothing: not known
    std::optional<std::int64_t> offset_ns{}, offset_error_ns{};  ///< the server's clock minus the client's; likewise
    std::optional<double> drift_ppm{}, drift_error_ppm{};        ///< its change; nothing: too few requests

    static constexpr About about{.name = "results", .row_name = "result"};
    static constexpr void columns(auto&& column) {
        column(Key(), "client", &Result::client);
        column(Key(), "server", &Result::server);
        column(Separate(), "seen_as", &Result::seen_as);
        column(Separate(), "requests", &Result::requests);
        column(Separate(), "by_difference", &Result::by_difference);
        column(Separate(), "by_position", &Result::by_position);
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
        column(Separate(), "inside", &Result::inside, Shown{.row_name = "stage"});
        column(Separate(), "slowest", &Result::slowest, Shown{.row_name = "request"});
        column(Separate(), "not_measured", &Result::not_measured, Shown{.row_name = "not measured"});
        column(Separate(), "behind", &Result::behind, Shown{.is_rare = true, .row_name = "behind"});
        column(Separate(), "not_placed", &Result::not_placed, Shown{.is_rare = true, .row_name = "not placed"});
        column(Separate(), "knows_client", &Result::knows_client);
        column(Separate(), "one_clock", &Result::one_clock);
        column(Separate(), "fastest_ns", &Result::fastest_ns);
        column(Separate(), "offset_ns", &Result::offset_ns);
        column(Separate(), "offset_error_ns", &Result::offset_error_ns);
        column(Separate(), "drift_ppm", &Result::drift_ppm);
        column(Separate(), "drift_error_ppm", &Result::drift_error_ppm);
        column(Separate(), "behind_ns", &Result::behind_ns, Shown{.is_rare = true});
        column(Separate(), "rest_ns", &Result::rest_ns, Shown{.is_rare = true});
    }
};

/// When the server had a request, after it had left its client, by the client's clock.
struct Placed {
    std::int64_t forth_ns = 0, back_ns = 0;     ///< with what the server took they are how long the client waited
    std::int64_t earlier_ns = 0, later_ns = 0;  ///< that all may have been
};
/// Where the clocks say nothing: in the middle.
Placed placed(const Request& request, const Result& result);

struct Answer {
    std::vector<Result> results;       ///< the one with most requests first
    std::vector<std::string> missing;  ///< what was not found, and why that may be

    static constexpr About about{.name = "between", .shape = table::Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Separate(), "results", &Answer::results);
        column(Separate(), "missing", &Answer::missing);
    }
};

/// Gets each request of a result, by the time at the client.
using EachRequest = std::function<void(const Result&, const Request&)>;

/// Joins each client's requests to each server's. Sorts the hosts' ends. `each` may be empty.
Answer between(std::vector<Host>& hosts, const EachRequest& each = {});

}  // namespace stapgen::between
