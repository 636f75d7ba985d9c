// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/counter_reader.h"
#include "decode/headings.h"
#include "table/counter_source.h"

namespace stapgen::decode {

/// The context of counters, from the lines above them: the commands that print them, at whose prompt and where
/// they ran, and what loops and people have written above.
class CounterContext {
  public:
    /// `host`: what is before each line names it; may be empty.
    explicit CounterContext(std::string_view host) { where_.host = host; }

    /// Takes a command line that prints counters, or sleeps. `line` is what is left of `first`, the line as it came.
    /// False: it is none, and nothing has changed.
    bool take_commands(std::string_view line, std::string_view first, std::int64_t number);
    /// Takes the heading of watch, with its command: "Every 1.0s: ethtool -S eth1    n1: Tue Apr 16 08:23:27 2024".
    void take_watch(std::string_view line, std::int64_t number);
    /// Takes a heading that can be nothing else: of a device, of a host among signs, of a command, of sysstat's tools.
    /// False: it is none.
    bool take_heading(std::string_view line, std::int64_t number);
    /// Nobody understood the line: it may be a prompt with a command, or a heading.
    void pass_over(std::string_view first, bool has_prompt, std::int64_t number);

    /// The block that a line of this format begins where no other is open.
    [[nodiscard]] CounterBlock new_block(const CounterFormat& of, std::int64_t number) const;
    /// It did. From here on it is the turn of the command behind that one.
    void take_turn(const CounterFormat& of);
    /// Whether another command prints this format.
    [[nodiscard]] bool has_next(const CounterFormat& of) const { return next(of).has_value(); }
    /// The output of the next command begins, or of the same one again.
    void begin_anew(const CounterFormat& of, CounterBlock& in, std::int64_t number);
    /// The block has its first values, which are of this source.
    table::CounterSource begin(const CounterFormat& of, const CounterBlock& in, std::int64_t number);
    /// The day of sar's samples, as the last first line of sar has it; empty: there was none.
    [[nodiscard]] const std::string& date() const { return sysstat_date_; }

    /// Whether what comes is of another sample: a command slept.
    bool begins_sample() { return std::exchange(begins_sample_, false); }

    const CounterFormat* format = &counter_formats().front();  ///< of the last line that was understood
    CounterBlock block;                                        ///< of it

  private:
    /// The output of a command of the last command line.
    struct Asked {
        const CounterFormat* format = nullptr;
        CounterBlock block{};
        bool is_later = false;  ///< there is a sleep before it
        bool repeats = false;
        bool is_behind_other = false;  ///< another command prints something before it
    };

    [[nodiscard]] std::optional<std::size_t> next(const CounterFormat& of) const;
    void set_device(const CounterFormat& of, CounterBlock& in, std::int64_t number) const;
    [[nodiscard]] bool is_uncertain() const;
    bool take_sysstat(std::string_view line, std::int64_t number);
    void at_prompt(const PromptLine& prompt);
    bool put_heading(const Heading& heading, std::int64_t number);

    table::CounterSource where_;               ///< without what a block says
    std::string sysstat_host_, sysstat_date_;  ///< of the output that follows
    ShellPlace entered_;                       ///< of the shell that was entered
    /// Prompts of the shell outside and of the first line inside. That of a network namespace is as outside.
    std::string outer_prompt_, inner_prompt_;
    std::vector<Asked> asked_;
    std::size_t next_ = 0;       ///< of asked_
    bool is_disturbed_ = false;  ///< a line among their output was not understood: one of them may have failed
    std::string device_, name_;  ///< of a heading; the name is not where_'s as long as no block has begun
    bool is_word_ = false;       ///< the name is a word that may be anything,
    bool is_weak_ = false;       ///< or may have been a line of some output: it holds for what is right below
    /// No prompt is between the name and what it is above, or was: the output of a loop, which a prompt ends.
    bool is_printed_ = false, was_printed_ = false;
    bool begins_sample_ = false;
};

}  // namespace stapgen::decode
