// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/ledger/ledger.h"

#include <string>
#include <vector>

#include "decode/record.h"

namespace stapgen::kinds::ledger {

namespace {

/// A script has as many devices and steps.
constexpr std::size_t max_entries = 1024;

class LedgerLog final : public Kind {
  public:
    explicit LedgerLog(IntervalLog& log) : rows_(log, {.entry = "other"}, max_entries) {}

    bool takes(const decode::Schema& schema) override {
        fields_.resize(schema.index + 1);
        if (!is_ledger(schema)) return false;
        fields_[schema.index] = {*schema.find("entry"), *schema.find("of"), *schema.find("packets")};
        has_any_ = true;
        return true;
    }
    void add(const decode::Record& record) override {
        const auto& fields = fields_[record.schema->index];
        const auto entry = record.values[fields.entry].raw, of = record.values[fields.of].raw;
        key_.assign(entry).append(1, '\t').append(of);
        const auto make = [&] { return rows::Entry{decode::unescape(entry), decode::unescape(of)}; };
        rows_.add(rows_.thing_of(key_, make), record.values[fields.packets].number);
    }
    void put_into(Measured& measured, const Clocks& /*clocks*/, bool is_open) const override {
        if (has_any_) measured.of<rows::OfInterval<rows::Entry>>() = rows_.rows(is_open);
    }
    void put_interval(Measured& measured, std::optional<std::int64_t> end_epoch_ns) const override {
        if (has_any_) measured.of<rows::OfInterval<rows::Entry>>() = rows_.open_rows(end_epoch_ns);
    }

  private:
    struct Fields {
        std::size_t entry = 0, of = 0, packets = 0;
    };

    bool has_any_ = false;
    std::vector<Fields> fields_;  ///< by schema
    CountedRows<rows::Entry> rows_;
    std::string key_;  ///< kept for its memory
};

}  // namespace

std::unique_ptr<Kind> make(const Settings& /*settings*/, IntervalLog& log) {
    return std::make_unique<LedgerLog>(log);
}

}  // namespace stapgen::kinds::ledger
