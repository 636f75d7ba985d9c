// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/otlp_push.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/version.hpp>
#include <optional>

#include "base/saturate.h"
#include "base/terminal.h"
#include "base/text.h"
#include "metrics/otlp.h"

namespace stapgen::serve {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

/// An answer may not be larger.
constexpr std::size_t max_answer = 65536;

class Push final : public OtlpPush, public std::enable_shared_from_this<Push> {
  public:
    Push(asio::io_context& context, Url url, const PushTimes& times, Body body)
        : context_(context),
          timer_(context),
          deadline_(context),
          resolver_(context),
          url_(std::move(url)),
          times_(times),
          body_(std::move(body)) {
        status_.wanted = true;
    }

    void push_in(std::chrono::seconds time) {
        timer_.expires_after(time);
        timer_.async_wait([self = shared_from_this()](error_code error) {
            if (!error) self->push();
        });
    }
    void finish(std::function<void()> done) override {
        finished_ = std::move(done);
        if (!stream_) push();
        // A name that is looked up has no limit of its own.
        deadline_.expires_after(times_.limit);
        deadline_.async_wait([self = shared_from_this()](error_code error) {
            if (!error) self->finished_();
        });
    }
    [[nodiscard]] PushStatus status() const override { return status_; }

  private:
    void push() {
        timer_.cancel();
        is_last_ = finished_ != nullptr;
        stream_.emplace(context_);
        buffer_.clear();
        response_.emplace();
        response_->body_limit(max_answer);
        request_ = {http::verb::post, url_.path, 11};
        request_.set(http::field::host, text_of(Endpoint{url_.host, url_.port}));
        request_.set(http::field::user_agent, "stapgen");
        request_.set(http::field::content_type, "application/x-protobuf");
        request_.set(http::field::connection, "close");
        request_.body() = body_();
        request_.prepare_payload();
        stream_->expires_after(times_.limit);
        // An address needs no resolver, which the static program does not have.
        error_code is_name;
        const auto address = asio::ip::make_address(url_.host, is_name);
        if (!is_name) return stream_->async_connect(tcp::endpoint(address, url_.port), connected());
        resolver_.async_resolve(
            url_.host, fmt::to_string(url_.port), [self = shared_from_this()](error_code error, const auto& found) {
                if (error) return self->fail(fmt::format("no address of {}: {}", self->url_.host, error.message()));
                self->stream_->async_connect(
                    found, [self](error_code refused, const tcp::endpoint&) { self->connected()(refused); });
            });
    }

    std::function<void(error_code)> connected() {
        return [self = shared_from_this()](error_code error) {
            if (error) return self->fail(error.message());
            http::async_write(*self->stream_, self->request_, [self](error_code unsent, std::size_t) {
                if (unsent) return self->fail(unsent.message());
                http::async_read(*self->stream_, self->buffer_, *self->response_,
                                 [self](error_code unread, std::size_t) {
                                     if (unread) return self->fail(unread.message());
                                     self->answered();
                                 });
            });
        };
    }

    void answered() {
        const auto& answer = response_->get();
        if (answer.result_int() / 100 != 2) return fail(fmt::format("HTTP {}", answer.result_int()));
        ++status_.done;
        const auto rejected = metrics::parse_otlp_response(answer.body());
        base::add_saturating(status_.rejected_points, std::max<std::int64_t>(0, rejected.points));
        if (rejected.points > 0)
            report(fmt::format("{} points were rejected: {}", rejected.points, base::printable(rejected.why)));
        if (rejected.points <= 0 && waited_ > times_.period) report("pushed again");
        if (rejected.points <= 0) told_.clear();
        over(times_.period);
    }
    void fail(const std::string& why) {
        ++status_.failed;
        const auto next = std::min(2 * waited_, times_.longest_wait);
        report(fmt::format("{}; the next push includes everything", base::printable(why)));
        over(next);
    }
    void over(std::chrono::seconds wait) {
        waited_ = wait;
        stream_.reset();
        if (is_last_) return finished_();
        if (finished_) return push();
        push_in(wait);
    }
    /// A message that would repeat is written once.
    void report(const std::string& what) {
        if (std::exchange(told_, what) != what) base::print_message("--otlp: " + what);
    }

    asio::io_context& context_;
    asio::steady_timer timer_, deadline_;
    tcp::resolver resolver_;
    Url url_;
    PushTimes times_;
    Body body_;
    std::function<void()> finished_;
    bool is_last_ = false;
    std::chrono::seconds waited_ = times_.period;
    std::optional<beast::tcp_stream> stream_;  ///< of the push that is under way
    beast::flat_buffer buffer_;
    http::request<http::string_body> request_;
    std::optional<http::response_parser<http::string_body>> response_;
    PushStatus status_;
    std::string told_;
};

}  // namespace

std::shared_ptr<OtlpPush> OtlpPush::start(asio::io_context& context, const Url& url, const PushTimes& times,
                                          Body body) {
    auto push = std::make_shared<Push>(context, url, times, std::move(body));
    push->push_in(times.period);
    return push;
}

}  // namespace stapgen::serve
