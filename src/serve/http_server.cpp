// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/http_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/version.hpp>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace stapgen::serve {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::seconds header_limit{HttpServer::max_header_seconds},
    answer_limit{HttpServer::max_answer_seconds}, linger_limit{1};
constexpr std::chrono::milliseconds idle_limit{HttpServer::max_idle_ms};

Reply refusal_of(error_code error) {
    Reply reply;
    reply.status = error == http::error::header_limit ? 431 : error == http::error::body_limit ? 413 : 400;
    reply.body = "bad request\n";
    return reply;
}

class Connection;
/// The action when a connection gives its place back: answered and lingering, or over (null).
using Ended = std::function<void(const std::shared_ptr<Connection>& lingering)>;
using Clock = std::chrono::steady_clock;
using IsOwnHost = std::function<bool(std::string_view)>;

/// One request, its answer, and the end. It lives as long as something of it is under way.
class Connection : public std::enable_shared_from_this<Connection> {
  public:
    Connection(tcp::socket socket, const HttpServer::Handler& handler, const IsOwnHost& is_own_host, Ended ended)
        : stream_(std::move(socket)), handler_(handler), is_own_host_(is_own_host), ended_(std::move(ended)) {}
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() { give_place({}); }

    void start() {
        parser_.header_limit(HttpServer::max_header_bytes);
        http::async_read_header(stream_, buffer_, parser_, [self = shared_from_this()](error_code error, std::size_t) {
            // Its request came when it was refused already.
            if (std::exchange(self->has_answer_, true)) return;
            if (error == http::error::end_of_stream) return;
            if (error.category() == http::make_error_code(http::error::bad_method).category()) {
                self->write(refusal_of(error));
            } else if (!error) {
                self->answer();
            }
        });
    }

    /// Answers one that has not asked for so long; `others_wait`: for its room.
    void refuse_if_idle(Clock::duration limit, bool others_wait) {
        if (has_answer_ || Clock::now() - begun_ <= limit) return;
        has_answer_ = true;
        stream_.cancel();
        Reply reply;
        reply.status = others_wait ? 503 : 408;
        reply.body = others_wait ? "no request yet, and others wait: ask again\n" : "no request\n";
        if (others_wait) {
            response_.set(http::field::retry_after, "1");
            linger_ = idle_limit;
        }
        write(std::move(reply));
    }

    /// A connection that was answered: it lingers no longer.
    void end() { stream_.close(); }

  private:
    void give_place(const std::shared_ptr<Connection>& lingering) {
        if (const auto ended = std::exchange(ended_, {})) ended(lingering);
    }

    /// HTTP/1.0 needs no Host, and a browser always sends one.
    [[nodiscard]] bool is_for_here() const {
        const auto [first, last] = parser_.get().equal_range(http::field::host);
        return std::all_of(first, last, [&](const auto& row) {
            return is_own_host_({row.value().data(), row.value().size()});
        });
    }

    void answer() {
        const auto& request = parser_.get();
        is_head_ = request.method() == http::verb::head;
        if (!is_for_here()) {
            Reply reply;
            reply.status = 421;
            reply.body = "this is not the host of that name; ask by address, as localhost, or by the machine's name\n";
            return write(std::move(reply));
        }
        if (!is_head_ && request.method() != http::verb::get) {
            response_.set(http::field::allow, "GET, HEAD");
            Reply reply;
            reply.status = 405;
            reply.body = "GET and HEAD\n";
            return write(std::move(reply));
        }
        const std::string target(request.target());
        std::string accept;
        // Several lines are as one with commas.
        const auto [first, last] = request.equal_range(http::field::accept);
        for (auto row = first; row != last; ++row)
            accept += std::string(row->value()) + ',';
        write(handler_(std::string_view(target).substr(0, target.find('?')), accept));
    }

    void write(Reply reply) {
        response_.result(reply.status);
        response_.version(11);
        response_.keep_alive(false);
        response_.set(http::field::content_type, reply.type);
        response_.set("X-Content-Type-Options", "nosniff");
        response_.content_length(reply.body.size());
        if (!is_head_) response_.body() = std::move(reply.body);
        stream_.expires_after(answer_limit);
        serializer_.emplace(response_);
        const auto done = [self = shared_from_this()](error_code error, std::size_t) {
            if (!error) self->close();
        };
        if (is_head_) {
            http::async_write_header(stream_, *serializer_, done);
        } else {
            http::async_write(stream_, *serializer_, done);
        }
    }

    /// Waits for the other end to close, too: else what it sent and nobody read would be answered by a reset, which may
    /// overtake the answer.
    void close() {
        error_code ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
        stream_.expires_after(linger_);
        drain();
        give_place(shared_from_this());
    }
    void drain() {
        stream_.async_read_some(asio::buffer(drained_), [self = shared_from_this()](error_code error, std::size_t) {
            if (!error) self->drain();
        });
    }

    beast::tcp_stream stream_;
    beast::flat_buffer buffer_{HttpServer::max_header_bytes + 4096};
    http::request_parser<http::empty_body> parser_;  ///< ignores what follows the header
    http::response<http::string_body> response_;
    std::optional<http::response_serializer<http::string_body>> serializer_;
    std::array<char, 512> drained_{};
    const HttpServer::Handler& handler_;
    const IsOwnHost& is_own_host_;
    Ended ended_;
    const Clock::time_point begun_ = Clock::now();
    Clock::duration linger_ = linger_limit;
    bool is_head_ = false, has_answer_ = false;
};

class Listener final : public HttpServer, public std::enable_shared_from_this<Listener> {
  public:
    Listener(asio::io_context& context, std::string machine, Handler handler)
        : acceptor_(context),
          retry_(context),
          sweep_(context),
          handler_(std::move(handler)),
          is_own_host_([this, machine = std::move(machine)](std::string_view header) {
              return serve::is_own_host(header, endpoint(), machine);
          }) {}

    error_code open(const Endpoint& at) {
        error_code error;
        const auto address = asio::ip::make_address(at.address, error);
        const tcp::endpoint endpoint(address, at.port);
        if (!error) acceptor_.open(endpoint.protocol(), error);
        if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
        if (!error) acceptor_.bind(endpoint, error);
        if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
        return error;
    }
    void accept() {
        if (std::exchange(is_accepting_, true)) return;
        acceptor_.async_accept([this](error_code error, tcp::socket socket) {
            is_accepting_ = false;
            if (error == asio::error::operation_aborted) return;
            // Out of descriptors, or the other end is gone already.
            if (error) return accept_later();
            const bool is_first = ++connections_ == 1;
            const auto connection = std::make_shared<Connection>(std::move(socket), handler_, is_own_host_,
                                                                 [weak = weak_from_this()](const auto& lingering) {
                                                                     if (const auto self = weak.lock())
                                                                         self->release(lingering);
                                                                 });
            // A weak pointer keeps the memory of what it points to.
            std::erase_if(open_, [](const auto& one) { return one.expired(); });
            open_.push_back(connection);
            connection->start();
            if (is_first) sweep();
            if (connections_ < max_connections) accept();
        });
    }

    [[nodiscard]] Endpoint endpoint() const override {
        error_code error;
        const auto endpoint = acceptor_.local_endpoint(error);
        return {endpoint.address().to_string(), endpoint.port()};
    }

  private:
    /// As long as there are connections, now and then: those without a request are refused, sooner where others wait.
    void sweep() {
        constexpr std::chrono::milliseconds step{50};
        const bool others_wait = connections_ >= max_connections;
        const Clock::duration limit = others_wait ? Clock::duration(idle_limit) : Clock::duration(header_limit);
        for (const auto& one : open_) {
            if (const auto connection = one.lock()) connection->refuse_if_idle(limit, others_wait);
        }
        if (connections_ == 0) return;
        // Ends the wait of before, if there is one: a first connection may come within it.
        sweep_.expires_after(step);
        sweep_.async_wait([this](error_code error) {
            if (!error) sweep();
        });
    }
    void release(const std::shared_ptr<Connection>& lingering) {
        --connections_;
        if (lingering) {
            std::erase_if(lingering_, [](const auto& one) { return one.expired(); });
            lingering_.push_back(lingering);
            if (lingering_.size() > max_connections) {
                if (const auto oldest = lingering_.front().lock()) oldest->end();
                lingering_.pop_front();
            }
        }
        accept();
    }
    void accept_later() {
        retry_.expires_after(std::chrono::milliseconds(100));
        retry_.async_wait([this](error_code error) {
            if (!error) accept();
        });
    }

    tcp::acceptor acceptor_;
    asio::steady_timer retry_, sweep_;
    Handler handler_;
    IsOwnHost is_own_host_;
    std::vector<std::weak_ptr<Connection>> open_;
    std::deque<std::weak_ptr<Connection>> lingering_;  ///< answered, the oldest first; they have no place
    int connections_ = 0;
    bool is_accepting_ = false;
};

}  // namespace

base::Result<std::shared_ptr<HttpServer>> HttpServer::listen(asio::io_context& context, const Endpoint& at,
                                                             std::string machine, Handler handler) {
    auto listener = std::make_shared<Listener>(context, std::move(machine), std::move(handler));
    if (const auto error = listener->open(at)) {
        return base::failed(fmt::format("cannot listen on {}: {}", text_of(at), error.message()),
                            "another program may use that port: ss -lntp; --listen chooses another one");
    }
    listener->accept();
    return listener;
}

}  // namespace stapgen::serve
