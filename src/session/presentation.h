// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "decode/record.h"
#include "kinds/kind.h"
#include "kinds/measured.h"
#include "show/formats.h"
#include "study/compare.h"

namespace stapgen::session {

/// Words that --by takes beside names of fields.
std::vector<std::string_view> grouping_words();
/// Words that --by takes for records like these: those of grouping_words() whose fields they have, and their fields.
std::vector<std::string> groups_of(const decode::Header& header);

/// The fields that a word of grouping_words() stands for; of any other, itself.
std::vector<std::string> fields_of(std::string_view word);

/// How results are shown.
struct Presentation : show::Options {
    const show::Format* format = &show::formats().front();
    base::Colours colours = base::Colours::automatic;
    std::vector<std::string> by_origin;  ///< of origin_words
    /// Names of fields; nothing: the keys of the records, else pid, tid, comm.
    std::optional<std::vector<std::string>> by;
    std::size_t max_groups = kinds::Settings().max_groups;
    bool explains = false;  ///< as kinds::Settings::explains
    bool asks_why = false;  ///< what reports answer is why; the format can

    /// Whether intervals are written as they end.
    [[nodiscard]] bool shows_intervals() const { return format->intervals && !asks_why; }
};

/// The fields of these records to group by.
std::vector<std::string> group_fields(const Presentation& presentation, const decode::Header& header);

/// Fails where --by names what records with this header do not have.
base::Result<void> check_groups(const Presentation& presentation, const decode::Header& header);

/// Fails where what is to be shown needs single records, and records with this header are aggregated in the kernel.
base::Result<void> check_aggregated(const Presentation& presentation, bool events, const decode::Header& header);

/// The option that asks for single records, "--by"; empty if none does.
std::string single_records_option(const Presentation& presentation, bool events);

/// The writer of single records as they come: of a trace, or where `events` are asked for; else null.
std::unique_ptr<show::RecordWriter> record_writer(std::ostream& out, const Presentation& presentation, bool events);

/// Writes the rest. What could not be written goes to stderr.
void finish(show::RecordWriter& records);

/// Writes the reports and flushes. With `interval` it is one report, of that interval, counted from 0, and others
/// follow.
void present(std::ostream& out, std::span<const kinds::Measured> reports, const Presentation& presentation,
             std::optional<std::int64_t> interval = {});
/// Presents reports and their hosts: in front, or among the rows of the first report.
void present(std::ostream& out, const show::Hosts& hosts, std::span<const kinds::Measured> reports,
             const Presentation& presentation);

/// Presents comparisons.
void present(std::ostream& out, std::span<const study::Compared> all, const Presentation& presentation);

/// The results of a measurement, as they are written.
rows::Results results_of(const kinds::Measured& measured, const show::Options& options);

}  // namespace stapgen::session
