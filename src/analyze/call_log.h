#pragma once

#include <optional>
#include <vector>

#include "analyze/summary.h"
#include "decode/record.h"

namespace stapgen::analyze {

/// The first calls of an input, in bounded memory: of records with a field of the attribute `depth`.
class CallLog {
  public:
    static constexpr std::size_t max_calls = 10000;
    static constexpr std::size_t max_text_length = 256;  ///< bytes; longer names and arguments are cut

    /// A record without that field is passed over.
    void add(const decode::Record& record);

    /// By packet, then by context, then by begin: an order in which a call stands before those that it made.
    [[nodiscard]] std::vector<Call> rows() const;
    /// So many calls came that are not kept.
    [[nodiscard]] std::int64_t left_out() const { return left_out_; }

  private:
    std::vector<Call> calls_;
    std::int64_t left_out_ = 0;
};

}  // namespace stapgen::analyze
