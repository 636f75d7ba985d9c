#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "decode/drop_stack.h"
#include "decode/pwru_row.h"
#include "decode/trace_importer.h"

namespace stapgen::decode {

/// The drops in what pwru prints: see PwruRow. A row of a function that drops (drops_packets()) is a drop of its
/// packet; those of functions that it calls in turn (kfree_skb_list, kfree_skb) are the same drop. The place is the
/// caller where --output-caller or --output-stack tell it. Else pwru does not know it: the last function that the
/// packet entered may have returned before the drop, which is said to be "after" it. All other rows are understood and
/// not used.
class Pwru : public TraceImporter {
  public:
    Pwru();
    [[nodiscard]] std::vector<Note> notes() const override;

    /// So many packets are told apart, then all are forgotten: places may be unknown, the drops are counted.
    static constexpr std::size_t max_packets = 32768;

  private:
    struct Packet {
        std::string function;  ///< the last one that does not drop; empty: none yet
        int depth = -1;        ///< of the last one that drops, see depth_of(); -1: none since then
    };

    bool line(std::string_view line, Sink& sink) override;
    void finished(Sink& sink) override;
    void add(const PwruRow& row, Sink& sink);
    void drop(const PwruRow& row, std::string_view caller, Sink& sink);
    bool stack_line(std::string_view line);
    Packet& packet_of(std::string_view packet);
    void close(Sink& sink);

    std::unordered_map<std::string, Packet> packets_;
    bool open_ = false;  ///< a drop that is not sent yet: its reason and stack may follow
    std::string packet_, reason_, place_;
    bool is_after_ = false;  ///< the place is where the packet had been before
    std::string function_;   ///< of the last row, whose stack may follow
    bool in_stack_ = false;
    DropStack stack_;
    std::int64_t reported_ = 0, passed_ = 0, after_ = 0;
};

}  // namespace stapgen::decode
