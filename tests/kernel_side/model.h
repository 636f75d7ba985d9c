// SPDX-License-Identifier: GPL-2.0-or-later
// What the plain models of packets and requests have in common. Included behind the headers that it models.
#pragma once

#include <array>
#include <optional>

#include "bytes.h"
#include "invariants.h"

class Model {
  public:
    virtual ~Model() = default;
    /// Until there are no more choices; throws unless all is as it must be after each of them.
    void run(Bytes bytes) {
        while (!bytes.empty()) {
            happens(bytes);
            check();
        }
    }
    long count(int what) const { return counts_[what]; }

  protected:
    static constexpr unsigned tcp_sockets = 3;

    Model() {
        std::memset(&stapgen_counts, 0, sizeof(stapgen_counts));
        shim_time = 1000;
        shim_cpu = 0;
        for (auto& socket : sockets_)
            socket.emplace(u16{1}, ++connections_);
    }
    virtual void happens(Bytes& bytes) = 0;
    virtual void check() = 0;
    /// Another connection has its memory.
    void becomes_another(Socket& socket) {
        ++connections_;
        socket.becomes(connections_ % 2 != 0 ? 1 : static_cast<u16>(2 + connections_ % 1000), connections_);
    }

    std::array<std::optional<Socket>, tcp_sockets> sockets_;
    std::array<long, STAPGEN_COUNTS> counts_{};

  private:
    u64 connections_ = 0;
};
