// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "between/result.h"
#include "show/perfetto_trace.h"

namespace stapgen::between {

/// Draws requests as they come into a trace for Perfetto's viewer: a track for each host, below it one for each
/// connection. At the client a request is the slices ask, wait, reply and read, at the server one inside of the wait;
/// a flow goes through wait, server, and what the client did next; and another one from the server through what it asks
/// for that request. All are by the clock of the first client, in ns
/// since 1970: a host that is client and server, as a proxy is, has one place on it. Holds no request.
class Trace {
  public:
    explicit Trace(std::ostream& out) : trace_(out) {}

    void request(const Result& result, const Request& request);
    /// The rest of the trace. What is not in it is returned, a sentence for each reason; it is in the trace, too.
    std::vector<std::string> end(const Answer& answer);

  private:
    struct Host {
        std::uint64_t track = 0;
        std::int64_t ahead = 0;  ///< of the trace's clock
        std::map<std::string, std::vector<show::Lane>> connections{};
    };
    Host& add_host(const std::string& name, std::int64_t ahead);
    void begin(const Result& result, const Request& first);
    std::uint64_t track_of(Host& host, const std::string& connection, std::int64_t begin, std::int64_t end);

    show::PerfettoTrace trace_;
    std::map<std::string, Host> hosts_{};
    Host* client_ = nullptr;  ///< of the result whose requests come
    Host* server_ = nullptr;
    std::pair<std::string, std::string> names_{};
    std::int64_t requests_ = 0, left_out_ = 0;
};

}  // namespace stapgen::between
