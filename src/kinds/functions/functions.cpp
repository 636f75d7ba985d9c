// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/functions/functions.h"

#include <optional>
#include <string>
#include <utility>

#include "kinds/interval_rows.h"

namespace stapgen::kinds::functions {

namespace {

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
        rows_.add(key_, std::move(row));
    }
    void close_interval() override { rows_.close_interval(); }
    void put_into(Measured& measured, const Clocks& /*clocks*/, bool is_open) const override {
        if (index_) rows_.put_into(measured, is_open);
    }
    void put_interval(Measured& measured, std::optional<std::int64_t> /*end_epoch_ns*/) const override {
        if (index_) rows_.put_interval(measured);
    }

  private:
    struct Fields {
        std::size_t pid = 0, comm = 0, call = 0, frames = 0;
    };

    std::optional<std::size_t> index_;  ///< of their schema
    Fields fields_;
    IntervalRows<rows::CodeSample> rows_{
        [](rows::CodeSample& row) { row = {.path = {"other places"}, .files = {""}, .n = row.n}; }};
    std::string key_;  ///< kept for its memory
};

}  // namespace

std::unique_ptr<Kind> make(const Settings& /*settings*/, IntervalLog& /*log*/) {
    return std::make_unique<Functions>();
}

}  // namespace stapgen::kinds::functions
