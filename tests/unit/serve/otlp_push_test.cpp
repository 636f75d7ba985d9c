// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/otlp_push.h"

#include <doctest/doctest.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <optional>
#include <string>

using namespace stapgen::serve;
namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::seconds;

namespace {

/// Asks the push to finish when its first request has come, and then answers that.
struct Collector {
    asio::io_context context;
    tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
    std::optional<tcp::socket> socket;
    std::string received;
    int requests = 0;
    std::shared_ptr<OtlpPush> push;

    int requests_until_done(seconds limit) {
        push = OtlpPush::start(context, {"127.0.0.1", acceptor.local_endpoint().port(), "/"},
                               {.period = limit, .longest_wait = limit, .limit = limit}, [] { return "all"; });
        take_next();
        context.run();
        return requests;
    }
    void take_next() {
        acceptor.async_accept([this](boost::system::error_code, tcp::socket accepted) {
            socket = std::move(accepted);
            received.clear();
            asio::async_read_until(*socket, asio::dynamic_buffer(received), "\r\n\r\nall",
                                   [this](boost::system::error_code error, std::size_t) {
                                       if (!error) answer();
                                   });
        });
    }
    void answer() {
        if (++requests == 1) push->finish([this] { context.stop(); });
        boost::system::error_code gone;
        asio::write(*socket, asio::buffer(std::string("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")), gone);
        take_next();
    }
};

}  // namespace

TEST_CASE("behind a push that is under way at the end comes a last one") {
    // A machine may be too slow for the limit.
    int requests = 0;
    for (seconds limit(1); requests != 2 && limit < seconds(10); limit *= 2)
        requests = Collector().requests_until_done(limit);
    CHECK(requests == 2);
}
