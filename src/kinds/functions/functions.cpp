// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/functions/functions.h"

#include <optional>
#include <string>
#include <utility>

#include "base/saturate.h"
#include "kinds/text_map.h"

namespace stapgen::kinds::functions {

namespace {

constexpr auto max_rows = rows::CodeSample::about.most;

/// By all that their records have in common.
using Rows = TextMap<rows::CodeSample>;

void add(Rows& rows, const std::string& key, const rows::CodeSample& row) {
    const auto found = rows.find(key);
    if (found != rows.end()) return base::add_saturating(found->second.n, row.n);
    if (rows.size() < max_rows) {
        rows.emplace(key, row);
        return;
    }
    auto& other =
        rows.try_emplace(std::string(), rows::CodeSample{.path = {"other places"}, .files = {""}}).first->second;
    base::add_saturating(other.n, row.n);
}

class Functions final : public Kind {
  public:
    bool takes(const decode::Schema& schema) override {
        if (!samples_code(schema)) return false;
        fields_ = {*schema.find("pid"), *schema.find("comm"), *schema.find("call"), *schema.find("frames")};
        index_ = schema.index;
        return true;
    }
    void add(const decode::Record& record) override {
        if (record.schema->index != index_) return;
        const auto& values = record.values;
        const auto comm = values[fields_.comm].raw, frames = values[fields_.frames].raw;
        rows::CodeSample row;
        row.comm = decode::unescape(comm);
        row.pid = values[fields_.pid].number;
        row.call = values[fields_.call].number;
        row.addresses = frames;
        row.n = 1;
        key_.assign(values[fields_.pid].raw).append(1, '\t').append(comm).append(1, '\t');
        key_.append(values[fields_.call].raw).append(1, '\t').append(frames);
        functions::add(open_, key_, row);
    }
    void close_interval() override {
        add_open(whole_);
        open_.clear();
    }
    void put_into(Measured& measured, const Clocks& /*clocks*/, bool is_open) const override {
        if (!is_open) return put(measured, whole_);
        auto rows = whole_;
        add_open(rows);
        put(measured, rows);
    }
    void put_interval(Measured& measured, std::optional<std::int64_t> /*end_epoch_ns*/) const override {
        put(measured, open_);
    }

  private:
    struct Fields {
        std::size_t pid = 0, comm = 0, call = 0, frames = 0;
    };

    void add_open(Rows& rows) const {
        for (const auto& [key, row] : open_)
            functions::add(rows, key, row);
    }
    void put(Measured& measured, const Rows& rows) const {
        if (!index_) return;
        auto& samples = measured.of<rows::CodeSample>();
        samples.is_there = true;
        for (const auto& [key, row] : rows)
            samples.push_back(row);
    }

    std::optional<std::size_t> index_;  ///< of their schema
    Fields fields_;
    Rows whole_, open_;
    std::string key_;  ///< kept for its memory
};

}  // namespace

std::unique_ptr<Kind> make(const Settings& /*settings*/, IntervalLog& /*log*/) {
    return std::make_unique<Functions>();
}

}  // namespace stapgen::kinds::functions
