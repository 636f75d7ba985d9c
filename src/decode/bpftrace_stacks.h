#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/drop_stack.h"
#include "decode/trace_importer.h"

namespace stapgen::decode {

/// Maps of bpftrace whose keys are kernel stacks that begin in a function that drops packets (@[kstack] = count(), as
/// skbdrop.bt has it), with or without a name, and other keys beside the stack:
///     @drops[swapper/0,
///         kfree_skb+115
///         __neigh_event_send+165
///     ]: 3
/// The first call that does not only drop is the place. And maps of reasons, which newer versions name:
///     @[SKB_DROP_REASON_NO_SOCKET]: 3
/// Other maps are not understood.
class BpftraceStacks : public TraceImporter {
  public:
    BpftraceStacks();
    [[nodiscard]] std::vector<Note> notes() const override;

  private:
    bool line(std::string_view line, Sink& sink) override;
    void finished(Sink& sink) override;
    bool open(std::string_view line, Sink& sink);
    bool close(std::string_view line, Sink& sink);
    bool call(std::string_view line);
    void count_cut();
    void drop(std::string_view place, std::string_view reason, const Value& count, Sink& sink);

    bool open_ = false;
    std::string reason_;
    DropStack stack_;
    std::int64_t reported_ = 0;
    std::int64_t cut_ = 0;  ///< stacks without a count
};

}  // namespace stapgen::decode
