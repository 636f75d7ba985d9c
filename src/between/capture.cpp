// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/files.h"
#include "base/terminal.h"
#include "base/text.h"
#include "decode/record.h"
#include "filter/libpcap.h"

namespace stapgen::between {

namespace {

using Bytes = std::span<const unsigned char>;
using Address = std::array<unsigned char, 16>;  ///< IPv4 as ::ffff:a.b.c.d

std::uint16_t word_at(Bytes bytes, std::size_t at) {
    return static_cast<std::uint16_t>(bytes[at] << 8U | bytes[at + 1]);
}
std::uint32_t number_at(Bytes bytes, std::size_t at) {
    return std::uint32_t{word_at(bytes, at)} << 16U | word_at(bytes, at + 2);
}

/// A TCP segment's headers.
struct Segment {
    Address from{}, to{};
    std::uint16_t from_port = 0, to_port = 0;
    std::uint32_t seq = 0, ack = 0;
    std::uint32_t data = 0;  ///< bytes
};

constexpr unsigned tcp = 6;

/// Of pcap/dlt.h.
enum Link {
    null = 0,
    ethernet = 1,
    raw = 12,
    loop = 108,
    cooked = 113,
    ip4_alone = 228,
    ip6_alone = 229,
    cooked2 = 276
};

/// Where IP begins; nothing: it is none, or it is cut.
std::optional<std::size_t> ip_at(int link, Bytes frame) {
    constexpr std::uint16_t vlan = 0x8100, service_vlan = 0x88a8, ip4 = 0x0800, ip6 = 0x86dd;
    const auto behind = [&](std::size_t type) -> std::optional<std::size_t> {
        while (type + 2 <= frame.size() && (word_at(frame, type) == vlan || word_at(frame, type) == service_vlan))
            type += 4;
        if (type + 2 > frame.size() || (word_at(frame, type) != ip4 && word_at(frame, type) != ip6))
            return std::nullopt;
        return type + 2;
    };
    switch (link) {
        case ethernet:
            return behind(12);
        case cooked:
            return behind(14);
        case cooked2:  // the protocol comes first, and IP behind 20 bytes
            if (frame.size() < 20 || (word_at(frame, 0) != ip4 && word_at(frame, 0) != ip6)) return std::nullopt;
            return 20;
        case raw:
        case ip4_alone:
        case ip6_alone:
            return 0;
        case null:
        case loop:
            return 4;
        default:
            return std::nullopt;
    }
}

/// `length`: of the frame on the wire, for what is too long for IP to say.
std::optional<Segment> segment_of(Bytes frame, std::size_t ip, std::size_t length) {
    constexpr std::size_t ip4_header = 20, ip6_header = 40, tcp_header = 20;
    Segment segment;
    if (ip >= frame.size()) return std::nullopt;
    std::size_t at = 0, end = 0;
    if (frame[ip] >> 4U == 4 && ip + ip4_header <= frame.size()) {
        if (frame[ip + 9] != tcp || (word_at(frame, ip + 6) & 0x3fffU) != 0) return std::nullopt;  // or a fragment
        at = ip + std::size_t{4} * (frame[ip] & 0xfU);
        end = word_at(frame, ip + 2) != 0 ? ip + word_at(frame, ip + 2) : length;
        for (auto* address : {&segment.from, &segment.to}) {
            (*address)[10] = (*address)[11] = 0xff;
            std::ranges::copy(frame.subspan(ip + (address == &segment.from ? 12 : 16), 4), address->begin() + 12);
        }
    } else if (frame[ip] >> 4U == 6 && ip + ip6_header <= frame.size()) {
        if (frame[ip + 6] != tcp) return std::nullopt;
        at = ip + ip6_header;
        end = word_at(frame, ip + 4) != 0 ? at + word_at(frame, ip + 4) : length;
        std::ranges::copy(frame.subspan(ip + 8, 16), segment.from.begin());
        std::ranges::copy(frame.subspan(ip + 24, 16), segment.to.begin());
    } else {
        return std::nullopt;
    }
    if (at + tcp_header > frame.size()) return std::nullopt;
    const auto data = at + std::size_t{4} * (frame[at + 12] >> 4U);
    segment.from_port = word_at(frame, at);
    segment.to_port = word_at(frame, at + 2);
    segment.seq = number_at(frame, at + 4);
    segment.ack = number_at(frame, at + 8);
    segment.data = end > data ? static_cast<std::uint32_t>(end - data) : 0;
    return segment;
}

bool is_after(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a - b) > 0;
}

std::string endpoint_text(const Address& address, std::uint16_t port) {
    const auto half_at = [&](std::size_t at) {
        return std::uint64_t{number_at(address, at)} << 32U | number_at(address, at + 4);
    };
    return decode::endpoint_text(fmt::format("{:x}.{:x}:{}", half_at(0), half_at(8), port));
}

/// Requests as they come up in the packets of all connections.
class Requests {
  public:
    Requests(Host& host, std::uint16_t port) : host_(host), port_(port) {}

    void add(const Segment& segment, std::int64_t time) {
        if (segment.data == 0 || !is_time(time)) return;
        const bool is_to_server = port_ != 0 ? segment.to_port == port_ : segment.to_port < segment.from_port;
        if (port_ != 0 && !is_to_server && segment.from_port != port_) return;
        auto* connection = is_to_server ? connection_of(segment.from, segment.from_port, segment.to, segment.to_port)
                                        : connection_of(segment.to, segment.to_port, segment.from, segment.from_port);
        if (connection == nullptr) return;
        if (is_to_server) {
            add_request(*connection, segment, time);
        } else {
            add_reply(*connection, segment, time);
        }
    }
    void end() {
        for (auto& [key, connection] : connections_)
            keep(connection);
    }
    /// Whether there was no room for some.
    [[nodiscard]] bool is_full() const { return is_full_; }

  private:
    struct Connection {
        End end{};
        std::uint32_t number = 0, behind = 0, reply_behind = 0;  ///< behind: the data of the request, and of its reply
        std::int64_t last = 0;                                   ///< of the reply
        bool is_open = false, has_reply = false;
    };
    using Key = std::tuple<Address, std::uint16_t, Address, std::uint16_t>;

    Connection* connection_of(const Address& client, std::uint16_t client_port, const Address& server,
                              std::uint16_t server_port) {
        const Key key{client, client_port, server, server_port};
        auto found = connections_.find(key);
        if (found == connections_.end()) {
            if (connections_.size() == most_connections) {
                is_full_ = true;
                return nullptr;
            }
            found = connections_.emplace(key, Connection{}).first;
            found->second.number = static_cast<std::uint32_t>(host_.connections.size());
            host_.connections.push_back({endpoint_text(client, client_port), endpoint_text(server, server_port)});
        }
        return &found->second;
    }
    void add_request(Connection& connection, const Segment& segment, std::int64_t time) {
        const auto behind = segment.seq + segment.data;
        if (connection.is_open && !is_after(behind, connection.behind)) return;  // sent again
        if (!connection.is_open || connection.has_reply) {
            keep(connection);
            connection.is_open = true;
            connection.has_reply = false;
            connection.end = {
                .seq = segment.seq, .reply_seq = segment.ack, .connection = connection.number, .from = time};
            connection.reply_behind = segment.ack;
        }
        connection.end.from = time;
        connection.behind = behind;
    }
    void add_reply(Connection& connection, const Segment& segment, std::int64_t time) {
        const auto behind = segment.seq + segment.data;
        if (!connection.is_open || !is_after(behind, connection.reply_behind)) return;
        // Of several in flight the server has not had the last byte yet: its times are those of another one.
        if (!connection.has_reply && is_after(connection.behind, segment.ack)) {
            connection.is_open = false;
            return;
        }
        if (!connection.has_reply) connection.end.to = time;
        connection.has_reply = true;
        connection.reply_behind = behind;
        connection.last = time;
    }
    void keep(Connection& connection) {
        auto& end = connection.end;
        // Of packets that are not in the order of their times nothing can be said.
        if (!connection.is_open || !connection.has_reply || end.to < end.from || connection.last < end.to) return;
        if (host_.capture.ends.size() == most_requests) {
            is_full_ = true;
            return;
        }
        end.rest = end.after = connection.last - end.to;
        host_.capture.ends.push_back(end);
    }

    Host& host_;
    std::uint16_t port_;
    std::map<Key, Connection> connections_;
    bool is_full_ = false;
};

}  // namespace

bool is_capture(const std::filesystem::path& file) {
    constexpr std::size_t magic = 4;
    const auto begin = base::read_file(file, magic);
    constexpr std::array<std::string_view, 5> known{"\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1", "\xa1\xb2\x3c\x4d",
                                                    "\x4d\x3c\xb2\xa1", "\x0a\x0d\x0d\x0a"};
    return begin && std::ranges::find(known, *begin) != known.end();
}

base::Result<Host> read_capture(const std::filesystem::path& file, std::uint16_t port) {
    const auto stem = base::printable(file.stem().string());
    const auto failed = [&](const std::string& why) {
        return base::bad_input(fmt::format("{}: {}", base::printable(file.string()), base::printable(why)),
                               "was it copied whole?");
    };
    auto capture = filter::CaptureFile::open(file);
    if (!capture) return failed(capture.error());
    Host host{.name = stem, .file = stem};
    Requests requests(host, port);
    for (;;) {
        const auto frame = capture->next();
        if (!frame && host.connections.empty()) return failed(frame.error());
        if (!frame)
            base::print_message(fmt::format("{}: {}; it is read up to there", stem, base::printable(frame.error())));
        if (!frame || !*frame) break;
        const auto ip = ip_at(capture->link(), (*frame)->bytes);
        const auto segment = ip ? segment_of((*frame)->bytes, *ip, (*frame)->length) : std::nullopt;
        if (segment) requests.add(*segment, (*frame)->time_ns);
    }
    requests.end();
    if (requests.is_full()) base::print_message(full_text(stem, most_requests));
    return host;
}

}  // namespace stapgen::between
