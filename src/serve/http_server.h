// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "serve/address.h"

namespace boost::asio {
class io_context;
}

namespace stapgen::serve {

struct Reply {
    unsigned status = 200;
    std::string type = "text/plain; charset=utf-8", body;
};

/// Answers GET and HEAD, a connection for each. What is no HTTP, larger than a request may be, or slower, is refused or
/// dropped; where there are many connections, further ones wait in the kernel's queue. No connection costs another one
/// anything but that wait.
class HttpServer {
  public:
    static constexpr int max_connections = 64;
    static constexpr int max_header_bytes = 8192;
    /// From the connection to the request, and from that to the end of the answer.
    static constexpr int max_seconds = 10;

    using Handler = std::function<Reply(std::string_view path, std::string_view accept)>;

    /// Its work is done in `context`, which must outlive it.
    static base::Result<std::shared_ptr<HttpServer>> listen(boost::asio::io_context& context, const Endpoint& at,
                                                            Handler handler);
    virtual ~HttpServer() = default;

    /// Where it listens.
    [[nodiscard]] virtual Endpoint endpoint() const = 0;
};

}  // namespace stapgen::serve
