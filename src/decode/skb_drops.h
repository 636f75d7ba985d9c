#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/kernel_event.h"
#include "decode/trace_importer.h"

namespace stapgen::decode {

/// The event skb:kfree_skb in the output of perf script, perf trace and ftrace (see KernelEvent), of all kernels:
///     skbaddr=0xffff8800c4574400 protocol=2048 location=0xffffffff8149a8ed                       2.6.30 to 5.16
///     skbaddr=ffff8881 protocol=2048 location=nf_hook_slow+0x3b/0xc0 [nf_tables] reason: NO_SOCKET      from 5.17
///     skbaddr=ffff8881 rx_sk=(nil) protocol=2048 location=tcp_v4_rcv+0x1f/0x90 reason: NO_SOCKET        from 6.11
///     skbaddr: 0xffff8881, location: 0xffffffff8149a8ed, protocol: 2048, reason: 3                  perf trace
///     [FAILED TO PARSE] skbaddr=0xffff8881 location=0xffffffff8149a8ed protocol=2048 reason=3     an old perf
/// Call chains below them are passed over. skb:consume_skb is no drop.
class SkbDrops : public TraceImporter {
  public:
    SkbDrops();

  private:
    bool line(std::string_view line, Sink& sink) override;
    void finished(Sink& sink) override;

    std::array<Value, 7> values_;
    std::int64_t reported_ = 0;
};

}  // namespace stapgen::decode
