// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::launch {

/// Consequences of a message of stap or staprun for the run.
enum class MessageKind {
    failure,  ///< why it failed
    warning,  ///< it goes on, but look at this
    loss,     ///< data is missing from the result
};

/// How much a message says of why a run failed. Of several in one run the first of the highest level is the one to
/// show; it says what kind of error that is.
enum class CauseLevel {
    outcome,   ///< only that something failed, or that something is amiss in a run that goes on
    context,   ///< where it failed
    general,   ///< what failed, in general
    script,    ///< the script, or a name that this kernel does not have
    run,       ///< something that happened while the script ran, or as it was to begin
    overload,  ///< the probes took too much of a CPU's time: over_budget
    system,    ///< SystemTap, the kernel and its debuginfo do not fit: cannot_here
    machine,   ///< the machine cannot do it, whatever the script: cannot_here
};
base::ErrorKind error_kind(CauseLevel level);

/// The class of a message, in its row of the table.
struct MessageClass {
    std::string_view id;  ///< stable name of the row, for tests and doctor
    int pass = 0;         ///< stap's pass, 0 if none in particular
    MessageKind kind = MessageKind::failure;
    CauseLevel level = CauseLevel::outcome;
    std::string_view checks;  ///< ids of doctor's checks that may say why, by blanks; "workarounds": all of these
};

/// One message of stap or staprun as it may be met in a line. In `pattern` a * stands for any text, which
/// `cause` and `remedy` may use as {1}, {2}, ...; they may also say {release}, {headers}, {debuginfo}, {rebuild},
/// {log}.
struct MessageRow : MessageClass {
    std::string_view pattern, cause, remedy;
    std::string_view explains = {};  ///< the rows whose deeper cause this is, by blanks
};

/// message_table.cpp. The first row that fits a line counts.
std::span<const MessageRow> message_table();

/// The texts of the stars, if the pattern is found in the line. The last star takes all that is left.
std::optional<std::vector<std::string_view>> match(std::string_view pattern, std::string_view line);

/// One recognised message.
struct Diagnosis : MessageClass {
    std::string cause, remedy;
    std::string line;           ///< as stap wrote it
    std::string_view explains;  ///< as MessageRow::explains
};

/// Placeholders in remedies.
struct MessageContext {
    std::string release;            ///< of the target kernel
    std::string install_headers;    ///< a command
    std::string install_debuginfo;  ///< a command
    bool is_built = false;          ///< options for stap came too late: the module is made already
    bool is_log = false;            ///< whoever reads the message has the log before them
};

/// Losses as SystemTap itself counts them.
struct Losses {
    std::int64_t errors = 0;
    std::int64_t skipped_probes = 0;
    std::int64_t transport_failures = 0;
    std::int64_t lost_messages = 0;
    std::int64_t lost_bytes = 0;
    std::int64_t buffer_mb = 0;  ///< per CPU, where transport failures name it
    /// Skipped probes that the kernel missed, by function: "tcp_v4_rcv", "return of tcp_recvmsg";
    /// 500 at most.
    std::map<std::string, std::int64_t, std::less<>> missed{};

    [[nodiscard]] bool any() const {
        return (errors | skipped_probes | transport_failures | lost_messages | lost_bytes) != 0;
    }
};

/// A line of `stap -v` that says a pass is over.
struct PassLine {
    int pass = 0;
    std::chrono::milliseconds real{0};
    bool cached = false;
    bool failed = false;
};
std::optional<PassLine> parse_pass_line(std::string_view line);

/// One line on its own; nothing if it says nothing known.
std::optional<Diagnosis> diagnose(std::string_view line, const MessageContext& context = {});

/// A row in words, as of a line with X, Y, Z where cause or remedy name what the stars stand for, else with "...".
Diagnosis described(const MessageRow& row, const MessageContext& context = {});

/// Adds what this line says was lost; false if it says nothing of the kind.
bool count_losses(std::string_view line, Losses& losses);

/// Reads all of a run's stderr and draws the conclusion.
class MessageReader {
  public:
    explicit MessageReader(MessageContext context = {}) : context_(std::move(context)) {}

    void line(std::string_view text);

    /// The pass that failed or is being worked on: 1 before the first line.
    [[nodiscard]] int pass() const { return pass_; }
    /// The most likely cause of the run's failure.
    [[nodiscard]] const Diagnosis* cause() const;
    [[nodiscard]] const std::vector<Diagnosis>& diagnoses() const { return diagnoses_; }
    [[nodiscard]] const Losses& losses() const { return losses_; }

  private:
    MessageContext context_;
    int pass_ = 1;
    bool pass_failed_ = false;
    std::vector<Diagnosis> diagnoses_;
    Losses losses_;
};

/// "parsing the script", "compiling the module", ...
std::string_view pass_name(int pass);

/// The cause of stap's failure in a kept log, of a machine that only the log knows: remedies name the packages of
/// its distribution. Nothing where the text is not stap's, whatever errors are in it.
std::optional<Diagnosis> failure_in(std::string_view log);

}  // namespace stapgen::launch
