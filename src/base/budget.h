// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/limits.h"
#include "base/result.h"

namespace stapgen::base {

/// The cost that one input may have, with all that is in it. Who opens the input makes it and hands it down to what
/// unpacks, walks, keeps and copies; each charges it, so that limits add up over layers and members. They grow with the
/// bytes that were read from outside; base/limits.h has them. For one thread at a time.
class Budget {
  public:
    /// `name` is for messages. `unpacked`: what its compressed data may unpack to; `cpu_ns`: the time that the thread
    /// which reads it may take.
    explicit Budget(std::string name, const limits::Allowance& unpacked = limits::unpacked_bytes,
                    const limits::Allowance& cpu_ns = limits::any_time)
        : name_(std::move(name)), unpacked_(unpacked), cpu_ns_(cpu_ns) {}

    /// Bytes that came from outside. Errors (bad_input) of this and the next two: a limit is passed, which one, and
    /// what to do; from then on each of them returns it.
    Result<void> read(std::uint64_t bytes);
    /// Bytes that an unpacker made, at whatever depth.
    Result<void> unpack(std::uint64_t bytes);
    /// Another file of an archive or folder.
    Result<void> add_member();

    /// Room for bytes in memory, and in files of our own. False: there is none left, and nothing is charged.
    bool keep(std::uint64_t bytes) { return take(kept_, bytes, limits::kept_bytes); }
    bool copy(std::uint64_t bytes) { return take(copied_, bytes, limits::copied_bytes.of(read_)); }

    /// The limit that was passed; nothing more is read then.
    [[nodiscard]] const std::optional<Error>& over() const { return over_; }

  private:
    static bool take(std::uint64_t& sum, std::uint64_t bytes, std::uint64_t limit) {
        if (bytes > limit || sum > limit - bytes) return false;
        sum += bytes;
        return true;
    }
    Result<void> check_time();
    Result<void> refuse(std::string why, std::string hint);

    std::string name_;
    limits::Allowance unpacked_, cpu_ns_;
    std::uint64_t read_ = 0, made_ = 0, members_ = 0, kept_ = 0, copied_ = 0, spent_ns_ = 0;
    std::thread::id thread_;       ///< that the time was taken of
    std::uint64_t thread_ns_ = 0;  ///< its time then
    std::optional<Error> over_;
};

}  // namespace stapgen::base
