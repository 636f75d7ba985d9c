// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/saturate.h"
#include "between/ends.h"
#include "show/model/format.h"

namespace stapgen::between {

/// Collects a recording's requests.
class Collector final : public show::RecordWriter {
  public:
    explicit Collector(Host& host, std::size_t most = most_requests) : host_(host), most_(most) {}

    void record(const decode::Record& record) override;
    void origin(const recording::Origin& origin) override;
    void ready(const decode::Ready& ready) override {
        to_epoch_ = base::saturating_subtract(ready.epoch_ns, ready.monotonic_ns);
    }
    /// What was left out.
    std::vector<std::string> end() override;
    /// Recordings of several hosts are in it, whose clocks are not one.
    [[nodiscard]] bool has_several() const { return has_several_; }

  private:
    /// Where the fields of a kind of record are.
    struct Places {
        std::optional<std::size_t> time, way, local, remote, seq, reply_seq, position, reply_position, ask, away, total,
            arriving, for_seq, for_stream, pid;
        bool hands_over = false;
        std::vector<std::size_t> steps{};  ///< what each host does
    };
    [[nodiscard]] const Places* places_of(const decode::Schema& schema);
    /// no_connection: the record does not say; nothing: there is no room for one more.
    std::optional<std::uint32_t> connection_of(const decode::Record& record, const Places& places);
    void asked_for(const decode::Record& record, const Places& places, const End& end);
    void hands_over(const decode::Record& record, const Places& places);

    Host& host_;
    std::size_t most_;  ///< requests of either end
    std::int64_t to_epoch_ = 0;
    std::unordered_map<const decode::Schema*, Places> places_;
    std::unordered_map<std::string, std::uint32_t> connections_;
    std::string key_;  ///< of the last record's connection
    bool is_full_ = false, has_origin_ = false, has_several_ = false;
    std::int64_t invalid_ = 0;
};

}  // namespace stapgen::between
