// SPDX-License-Identifier: GPL-2.0-or-later
#include <map>

#include "base/text.h"
#include "decode/importers.h"

namespace stapgen::decode {

namespace {

/// Counters of drops by reason as ebpf_exporter and others hand them to Prometheus, since these began:
///     ebpf_exporter_kfree_skb_total{ip_proto="tcp",reason="SKB_DROP_REASON_NO_SOCKET"} 12
/// Of several samples the last counts. One that went down has begun anew.
class SkbMetrics final : public DropImporter {
  public:
    SkbMetrics() : DropImporter("kfree_skb_total", "kfree_skb_total") {}

    std::vector<Note> notes() const override {
        return {{"the counts are those since the exporter began, up to its last sample"}};
    }

  private:
    bool line(std::string_view line, Sink& sink) override {
        const auto found = base::match("*kfree_skb_total{*} *", line);
        if (!found) return line.starts_with("# ") && line.find("kfree_skb_total") != line.npos;
        const auto labels = base::match("*reason=\"*\"*", (*found)[1]);
        const auto words = base::words((*found)[2]);  // a time stamp may follow
        const auto count = words.empty() ? std::nullopt : base::to_int(words[0]);
        if (!labels || !count || *count < 0 || values_.size() >= max_counters) return false;
        auto& last = values_[std::string(line.substr(0, line.rfind('}')))];
        const Value rise{words[0], *count < last ? *count : *count - last};
        last = *count;
        report_drop({}, (*labels)[1], sink, rise);
        return true;
    }

    static constexpr std::size_t max_counters = 65536;
    std::map<std::string, std::int64_t> values_;
};

}  // namespace

const MakeImporter make_skb_metrics = make_importer<SkbMetrics>;

}  // namespace stapgen::decode
