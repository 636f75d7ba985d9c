// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rows/of_interval.h"
#include "table/cells.h"
#include "table/keys.h"

namespace stapgen::rows {

/// A call of a function of the kernel. They stand by packet, then by context (a thread, or a CPU in softirq), then by
/// begin, an order in which a call precedes those that it made.
struct Call {
    std::int64_t packet = 0;    ///< the number of the tree that it belongs to
    std::int64_t begin_ns = 0;  ///< since 1970 if the input says how its clock goes with that, else of that clock
    std::int64_t duration_ns = 0, depth = 0;
    std::string function{}, args{};
    std::string context{};  ///< "thread", or "softirq", where the thread is the one that was interrupted
    std::int64_t cpu = 0, tid = 0;
    std::string comm{};

    [[nodiscard]] bool in_thread() const { return context == "thread"; }

    static constexpr About about{.name = "calls", .is_rare = true, .most = 10000};
    static constexpr void columns(auto&& column) {
        column(Continues(), "packet", &Call::packet);
        column(Separate(), Ns("begin_ns"), &Call::begin_ns);
        column(Separate(), Ns("duration_ns"), &Call::duration_ns);
        column(Separate(), "depth", &Call::depth);
        column(Separate(), "function", &Call::function);
        column(Separate(), "args", &Call::args);
        column(Separate(), "context", &Call::context);
        column(Separate(), "cpu", &Call::cpu);
        column(Separate(), "tid", &Call::tid);
        column(Separate(), "comm", &Call::comm);
    }
};

/// Calls beyond the limit.
struct CallsLeftOut {
    std::optional<std::int64_t> calls_left_out{};

    static constexpr About about{.name = "calls_left_out", .shape = Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Same(), "calls_left_out", &CallsLeftOut::calls_left_out, Shown{.is_rare = true});
    }
};

/// A thread and a thing that it waited for. `group` has the thread (tid, comm), what it waited for (`waited`), and by
/// whom. Of a reader of packets `waited` is run-queue, throttled, asleep, stopped or frozen, and whom is `by`, or
/// `cgroup`, or neither where it slept: then `frames` is its call path. Of a thread with a request to answer `waited`
/// is a part of app, or server.first and server.rest of what it asked other servers; `by` is what it slept for, and
/// `waker`, `holder` and `meanwhile` say who woke it, who had the lock, and what that one did meanwhile.
struct Who {
    table::Group group{};
    std::optional<table::Shared<table::Path>> frames{};
    std::int64_t n = 0, sum_ns = 0;  ///< its waits, and how long they were together
    /// For how long of that a packet lay ready which it took afterwards; nothing: it is of requests.
    std::optional<std::int64_t> with_packet_ns{};
    std::int64_t max_ns = 0;
    std::string waiter{}, waited{}, by{};  ///< of the group, as people call it
    std::optional<std::string> waker{}, holder{}, meanwhile{};

    static constexpr About about{.name = "who", .row_name = "who", .is_rare = true, .most = 4096};
    static constexpr void columns(auto&& column) {
        column(Key(), "group", &Who::group);
        column(Key(), "frames", &Who::frames,
               Shown{.place = 11, .heading = "PATH", .if_any = true, .on_page_only = true});
        column(Sum(), "n", &Who::n, Shown{.place = 7, .heading = "N"});
        column(Sum(), Ns("sum_ns"), &Who::sum_ns, Shown{.place = 8, .heading = "TOTAL"});
        column(Sum(), Ns("with_packet_ns"), &Who::with_packet_ns,
               Shown{.place = 9, .heading = "WITH PACKET", .if_any = true});
        column(Largest(), Ns("max_ns"), &Who::max_ns, Shown{.place = 10, .heading = "MAX"});
        column(First(), "waiter", &Who::waiter,
               Shown{.place = 1, .heading = "WAITER", .is_head = true, .in = In::hidden});
        column(First(), "waited", &Who::waited, Shown{.place = 2, .heading = "WAITED", .in = In::hidden});
        column(First(), "by", &Who::by, Shown{.place = 3, .heading = "BY", .in = In::hidden});
        column(First(), "waker", &Who::waker,
               Shown{.place = 4, .heading = "WOKEN BY", .if_any = true, .in = In::hidden});
        column(First(), "holder", &Who::holder,
               Shown{.place = 5, .heading = "HELD BY", .if_any = true, .in = In::hidden});
        column(First(), "meanwhile", &Who::meanwhile,
               Shown{.place = 6, .heading = "MEANWHILE", .if_any = true, .in = In::hidden});
    }
};

/// Packets of one entry of a ledger's records, of one thing: a device, a protocol.
struct Entry {
    std::string entry{}, of{};
    std::int64_t count = 0;

    static constexpr About about{.name = "entries", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Key(), "entry", &Entry::entry);
        column(Key(), "of", &Entry::of);
        column(Sum(), "count", &Entry::count);
    }
};

/// The ledger in its order, from the card on.
struct Ledger {
    std::string entry{};
    table::Group group{};
    std::int64_t packets = 0;

    static constexpr About about{.name = "ledger", .row_name = "ledger", .is_rare = true};
    static constexpr void columns(auto&& column) {
        column(Key(), "entry", &Ledger::entry, Shown{.place = 1, .heading = "LEDGER", .is_head = true});
        column(Key(), "group", &Ledger::group, Shown{.place = 2});
        column(Sum(), "packets", &Ledger::packets, Shown{.place = 3, .heading = "PACKETS"});
    }
};

/// One of several hosts. Durations are of the stage or total that is compared.
struct Host {
    std::string host{}, kernel{};
    std::int64_t n = 0, lost = 0;
    std::string stage{};  ///< empty: there are no durations
    std::optional<std::int64_t> p50_ns{}, p99_ns{}, max_ns{};
    std::string slowest_stage{};  ///< that with the largest p99
    std::string differs_in{};     ///< "ip-tcp": the stage that is most unlike other hosts'; empty: none is
    std::string difference{};     ///< "ip-tcp p50 +752 %": how it differs

    static constexpr About about{.name = "hosts", .row_name = "host", .is_rare = true};
    static constexpr void columns(auto&& column) {
        column(Key(), "host", &Host::host);
        column(Same(), Known("kernel"), &Host::kernel);
        column(Sum(), "n", &Host::n);
        column(Sum(), "lost", &Host::lost);
        column(Same(), Known("stage"), &Host::stage);
        column(Same(), "p50_ns", &Host::p50_ns);
        column(Same(), "p99_ns", &Host::p99_ns);
        column(Largest(), "max_ns", &Host::max_ns);
        column(Same(), Known("slowest_stage"), &Host::slowest_stage);
        column(Same(), Known("differs_in"), &Host::differs_in);
        column(Same(), Known("difference"), &Host::difference);
    }
};

/// What matters most of what packets waited for, in words.
struct CauseOfWait {
    std::string part{};             ///< "app-tcp.nagle"
    std::string what{};             ///< how many packets, whose, how long and for what: without a full stop
    std::string known{}, remedy{};  ///< how that is known, and what can be done about it
    table::Group group{};           ///< the thread, process, connection or peer that stands out; empty: none does
    std::optional<double> who_share{}, who_packets_share{};  ///< its part of that wait's time, and of the packets

    static constexpr About about{.name = "causes", .row_name = "cause", .is_rare = true};
    static constexpr void columns(auto&& column) {
        column(Key(), "part", &CauseOfWait::part, Shown{.place = 1, .heading = "PART", .is_head = true});
        column(Same(), "what", &CauseOfWait::what, Shown{.place = 2, .heading = "CAUSE"});
        column(Same(), "known", &CauseOfWait::known, Shown{.place = 3, .heading = "KNOWN BY"});
        column(Same(), "remedy", &CauseOfWait::remedy, Shown{.place = 4, .heading = "REMEDY"});
        column(Separate(), "who_group", &CauseOfWait::group, Shown{.is_rare = true});
        column(Same(), Share("who_share"), &CauseOfWait::who_share, Shown{.is_rare = true});
        column(Same(), Share("who_packets_share"), &CauseOfWait::who_packets_share, Shown{.is_rare = true});
    }
};

}  // namespace stapgen::rows
