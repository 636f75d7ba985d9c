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

/// Answers GET and HEAD, a connection for each. What is no HTTP, larger than a request may be, or slower, is refused
/// (400, 431, 408). Where there are many connections, further ones wait in the kernel's queue, and those that have not
/// asked yet are refused sooner (503), so that they do not keep others out; one that was answered keeps no place. A
/// request that names another host than this machine is refused (421). Only who does not read the answer gets none.
class HttpServer {
  public:
    static constexpr int max_connections = 64;
    static constexpr int max_header_bytes = 8192;
    static constexpr int max_header_seconds = 5;   ///< from the connection to the request
    static constexpr int max_idle_ms = 200;        ///< the same where others wait
    static constexpr int max_answer_seconds = 10;  ///< from that to the end of the answer

    using Handler = std::function<Reply(std::string_view path, std::string_view accept)>;

    /// Its work is done in `context`, which must outlive it. `machine`: the name of the machine.
    static base::Result<std::shared_ptr<HttpServer>> listen(boost::asio::io_context& context, const Endpoint& at,
                                                            std::string machine, Handler handler);
    virtual ~HttpServer() = default;

    /// Where it listens.
    [[nodiscard]] virtual Endpoint endpoint() const = 0;
};

}  // namespace stapgen::serve
