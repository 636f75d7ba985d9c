// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "serve/address.h"
#include "serve/exposition.h"

namespace boost::asio {
class io_context;
}

namespace stapgen::serve {

struct PushTimes {
    std::chrono::seconds period{15}, longest_wait{300};
    std::chrono::seconds limit{10};  ///< for one push
};

/// Pushes metrics by OTLP over HTTP, one request every so often. A failed one is reported and repeated later with what
/// there is then, twice as late each time: nothing is lost by it, for sums are cumulative.
class OtlpPush {
  public:
    /// The body of a request, as of now.
    using Body = std::function<std::string()>;

    /// Its work is done in `context`, which must outlive it.
    static std::shared_ptr<OtlpPush> start(boost::asio::io_context& context, const Url& url, const PushTimes& times,
                                           Body body);
    virtual ~OtlpPush() = default;

    /// Once more, then never again; calls `done` whatever comes of it.
    virtual void finish(std::function<void()> done) = 0;

    [[nodiscard]] virtual PushStatus status() const = 0;
};

}  // namespace stapgen::serve
