// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "decode/format_detector.h"
#include "decode/prefix_stripper.h"
#include "recording/reader.h"
#include "session/session.h"

namespace stapgen::session {

/// How files are read. The answer is the same to the byte, whatever is said here.
struct Reading {
    std::size_t cores = usable_cores();
    /// Bytes of a file that one thread reads at a time, at most. Of what comes through a pipe or is unpacked a
    /// quarter: that is held in memory.
    std::size_t piece_size = std::size_t{32} << 20U;

    /// Those on which this process may run.
    static std::size_t usable_cores();
};

/// Runs that are read at the same time share the cores.
struct SharedCores {
    std::size_t cores;
    std::atomic<std::size_t> readers{0};
};

/// Reads the text of one source in pieces, each by a thread of its own, and joins them in their order. Where a piece
/// does not fit, because something in it depends on lines before it, it is read again from end to end.
class Pieces {
  public:
    using Sink = decode::FormatDetector::Sink;

    Pieces(decode::FormatDetector& detector, Sink& sink, const Reading& reading, const SharedCores& shared);
    Pieces(const Pieces&) = delete;
    Pieces& operator=(const Pieces&) = delete;
    ~Pieces();

    /// What is read next is of another file.
    void begin_file() { not_before_ = 0; }
    /// All that follows has been `session`'s so far. `prefix`: what another tool has put before the lines; null:
    /// nothing.
    void set(const decode::PrefixStripper* prefix, Session& session);

    /// Of a plain file as much as can be read in pieces; `reader` goes on behind that. Nothing may be taken and not yet
    /// finished.
    void read_file(recording::Reader& reader);

    /// Whole lines, that follow those that the detector has been fed. False: this text is not read in pieces.
    bool take(std::string_view lines);
    /// All that was taken has been fed to the detector and the sink.
    void finish();

  private:
    class Piece;
    [[nodiscard]] std::size_t cores() const;
    std::unique_ptr<Piece> make_piece();
    void begin_text(std::size_t size);
    void join_text();
    bool join(Piece& piece);
    void feed(std::string_view lines);

    decode::FormatDetector& detector_;
    Sink& sink_;
    const Reading& reading_;
    const SharedCores& shared_;
    const decode::PrefixStripper* prefix_ = nullptr;
    Session* session_ = nullptr;
    std::string text_;   ///< of the piece that is next
    std::string spare_;  ///< for its memory: new one costs as much as what is put into it
    std::deque<std::unique_ptr<Piece>> at_work_;
    std::uint64_t not_before_ = 0;  ///< place in the file up to which it has to be read from end to end
    int read_again_ = 0;            ///< number of the last pieces
};

}  // namespace stapgen::session
