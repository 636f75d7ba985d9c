#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/drop_stack.h"
#include "decode/trace_importer.h"

namespace stapgen::decode {

/// What bcc's tcpdrop prints for each dropped TCP packet:
///     20:49:06 0      4  10.32.119.56:443     > 10.66.65.252:22912   CLOSE (ACK)
///     14:46:49 0      4  39.156.66.10:80      > 10.211.55.10:33280   SYN_SENT (SYN|ACK)   NETFILTER_DROP (12)
/// The second with a reason, since March 2025. Below stand the calls that led there, of which the first that does not
/// only drop is the place. Of a reason the number is taken: the name is looked up in a list of tcpdrop's own, whatever
/// kernel it is.
class TcpDrop : public TraceImporter {
  public:
    TcpDrop();
    [[nodiscard]] std::vector<Note> notes() const override;

  private:
    bool line(std::string_view line, Sink& sink) override;
    void finished(Sink& sink) override;
    bool row(std::string_view line, Sink& sink);
    void close(Sink& sink);

    bool open_ = false;  ///< a row was read, and perhaps not all of its calls
    std::string reason_;
    DropStack stack_;
    std::int64_t reported_ = 0;
    std::int64_t placeless_ = 0;
    bool has_reasons_ = false;
};

}  // namespace stapgen::decode
