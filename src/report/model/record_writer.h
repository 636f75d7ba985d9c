#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "decode/record.h"

namespace stapgen::report {

/// Writes single records as they come.
class RecordWriter {
  public:
    RecordWriter() = default;
    RecordWriter(const RecordWriter&) = delete;
    RecordWriter& operator=(const RecordWriter&) = delete;
    virtual ~RecordWriter() = default;

    virtual void record(const decode::Record& record) = 0;
    /// The two clocks that make a record's time a time of day.
    virtual void ready(const decode::Ready& ready) = 0;
    /// Writes the rest. What could not be written is returned, a sentence for each reason.
    virtual std::vector<std::string> end() = 0;
    /// A report comes next on the same stream.
    virtual void interrupt() {}
};

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

}  // namespace stapgen::report
