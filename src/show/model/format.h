// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/terminal.h"
#include "base/text.h"
#include "decode/record.h"
#include "recording/facts.h"
#include "rows/results.h"
#include "study/comparison.h"
#include "table/histogram.h"

namespace stapgen::show {

/// How a report is written. Each format takes of it what it can show.
struct Options {
    std::vector<table::Percentile> percentiles = table::default_percentiles();
    std::size_t top = 20;                    ///< number of largest groups, and of rows of counts
    std::size_t slowest = 5;                 ///< number of slowest records per direction
    std::size_t buckets = 12;                ///< OpenMetrics: at most, of each histogram
    bool series = false;                     ///< text: a row for each block of time
    base::Screen screen{};                   ///< text: what is written to
    bool quiet = false;                      ///< text: the answer, the tables and what is missing only
    bool has_groups = true;                  ///< text: and the tables of groups
    bool hide_benign = false;                ///< benign drops are counted, and have no rows
    bool intervals_shown = false;            ///< each interval has been written as it closed
    std::optional<std::int64_t> interval{};  ///< this is the report of one interval, counted from 0

    /// Columns of text. What does not fit is left out, or as wide as it is.
    [[nodiscard]] std::size_t width() const { return screen.width > 0 ? screen.width : base::default_width; }
};

/// Writes single records as they come.
class RecordWriter {
  public:
    RecordWriter() = default;
    RecordWriter(const RecordWriter&) = delete;
    RecordWriter& operator=(const RecordWriter&) = delete;
    virtual ~RecordWriter() = default;

    virtual void record(const decode::Record& record) = 0;
    /// Where the records are from. May come again, with more known.
    virtual void origin(const recording::Origin& /*origin*/) {}
    /// The two clocks that make a record's time a time of day.
    virtual void ready(const decode::Ready& ready) = 0;
    /// Writes the rest. What could not be written is returned, a sentence for each reason.
    virtual std::vector<std::string> end() = 0;
    /// A report comes next on the same stream.
    virtual void interrupt() {}
};

/// What is written, one behind the other. Each is worked out when its turn comes: it may take much memory.
class Reports {
  public:
    using Make = std::function<rows::Results(std::size_t place, const Options& options)>;
    Reports(std::size_t size, Make make) : size_(size), make_(std::move(make)) {}

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] rows::Results results(std::size_t place, const Options& options) const {
        return make_(place, options);
    }

  private:
    std::size_t size_;
    Make make_;
};

/// A comparison, and each of its sides added up.
struct Compared {
    Compared(study::Comparison of, rows::Results before_results, rows::Results after_results);

    study::Comparison comparison;
    rows::Results before, after;
};

struct Hosts;

/// An output format, and what it can. Null: it cannot. Each is defined beside what writes it, and named in
/// show/formats.cpp.
struct Format {
    std::string_view name;
    /// Writes reports, one behind the other, as one document.
    void (*write)(std::ostream& out, const Reports& reports, const Options& options);
    /// Writes why packets took as long, of each.
    void (*write_whys)(std::ostream& out, const Reports& reports, const Options& options) = nullptr;
    /// Writes comparisons, one behind the other, as one document.
    void (*write_comparisons)(std::ostream& out, std::span<const Compared> all, const Options& options) = nullptr;
    /// Writes hosts, and what they say together, as one document. At least one report.
    void (*write_hosts)(std::ostream& out, const Hosts& hosts, const Reports& reports,
                        const Options& options) = nullptr;
    /// Makes what writes single records as they come.
    std::unique_ptr<RecordWriter> (*records)(std::ostream& out, const Options& options) = nullptr;
    bool intervals = false;       ///< an interval can be written before the end is known, and `write` heeds its number
    bool one_comparison = false;  ///< write_comparisons writes one only
    bool is_trace = false;  ///< drawn by `records`, of one recording, and binary; `write` writes what is beside it
};

template <class Writer>
std::unique_ptr<RecordWriter> records_by(std::ostream& out, const Options& /*options*/) {
    return std::make_unique<Writer>(out);
}

/// Writes one line per record: --events. Lines wait for the `ready` line; those that still wait at the end are written
/// without their times. Does not flush.
class EventWriter : public RecordWriter {
  public:
    void record(const decode::Record& record) override;
    void ready(const decode::Ready& ready) override;
    std::vector<std::string> end() override;

  protected:
    explicit EventWriter(std::ostream& out) : out_(out) {}
    virtual void write(const decode::Record& record) = 0;
    /// When that was, in ns since 1970; nothing where no `ready` line came.
    [[nodiscard]] std::optional<std::int64_t> epoch_of(const decode::Value& time) const;

    std::ostream& out_;  // NOLINT(cppcoreguidelines-non-private-member-variables-in-classes)

  private:
    /// A record that outlives its line.
    struct Held {
        const decode::Schema* schema;
        std::vector<std::string> raw;
        std::vector<decode::Value> values;
    };
    void release();

    std::optional<decode::Ready> ready_;
    std::vector<Held> held_;
};

}  // namespace stapgen::show
