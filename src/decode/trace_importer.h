#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/importer.h"

namespace stapgen::decode {

/// Events of a trace of the kernel, some of which its buffer may have lost. Its End counts what report() sent.
class TraceImporter : public Importer {
  public:
    using Importer::Importer;
    void lose(std::int64_t events) override;
    [[nodiscard]] std::vector<Note> notes() const override;

  protected:
    [[nodiscard]] std::int64_t lost() const { return lost_; }
    /// Sends a record of `events` events.
    void report(const Record& record, Sink& sink, std::int64_t events = 1);
    void finished(Sink& sink) override;

  private:
    /// Sends a record that more lines might have belonged to.
    virtual void close(Sink& /*sink*/) {}

    std::int64_t lost_ = 0, reported_ = 0;
};

/// A trace of which drops alone are read: records of location, reason and count.
class DropImporter : public TraceImporter {
  protected:
    DropImporter(std::string_view title, std::string_view recipe);
    /// `place` empty: the text does not have it. `reason`: see reason_value().
    void report_drop(std::string_view place, std::string_view reason, Sink& sink, const Value& count = {"1", 1});
};

}  // namespace stapgen::decode
