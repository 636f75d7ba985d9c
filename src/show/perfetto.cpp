// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/saturate.h"
#include "base/terminal.h"
#include "base/text.h"
#include "decode/group_keys.h"
#include "recording/facts.h"
#include "schema/schema.h"
#include "show/model/format.h"
#include "show/model/slow_records.h"
#include "show/model/texts.h"
#include "show/perfetto_trace.h"

namespace stapgen::show {

namespace {

using decode::Attribute;
using decode::FieldType;

/// All that is known of it, what it is and how it is: host, machine, label:NAME, kernel, build_id, command,
/// filter:OPTION, sample, definition.
std::vector<std::pair<std::string, std::string>> origin_texts(const recording::Origin& origin) {
    std::vector<std::pair<std::string, std::string>> texts;
    const auto say = [&](std::string what, std::string text) {
        if (!text.empty()) texts.emplace_back(std::move(what), std::move(text));
    };
    say("host", origin.host);
    say("machine", origin.machine);
    for (const auto& [name, value] : origin.labels)
        say("label:" + name, value);
    say("kernel", origin.kernel);
    say("build_id", origin.build_id);
    say("command", base::shell_quoted(origin.command));
    for (const auto& [option, value] : origin.filters)
        say("filter:" + option, value);
    if (!origin.definition.empty()) say("sample", fmt::format("{}", origin.sample));
    say("definition", origin.definition);
    return texts;
}

/// As deep as Perfetto's reader keeps slices inside of slices.
constexpr std::int64_t deepest = 511;

std::int64_t time_in(const decode::Record& record, std::size_t field) {
    return record.values[field].number;
}

/// When it began, if it spent its stages without a pause; not before the clock did.
template <class Stages>
std::int64_t begin_of(const Stages& stages, const decode::Record& record, std::int64_t end) {
    std::int64_t sum = 0;
    for (const auto& stage : stages) {
        const auto& value = record.values[stage.field];
        if (value.seen) sum = base::saturating_add(sum, value.number);
    }
    return std::max<std::int64_t>(0, end - sum);
}

table::Group fields_of(const decode::Record& record, const std::vector<std::size_t>& places) {
    table::Group fields;
    for (const auto place : places)
        fields.push_back(decode::group_field(record, {place}));
    return fields;
}

/// Draws records as they come, of whatever recipe, into a trace for Perfetto's viewer (--format perfetto). Each record
/// with stages has a track of its own, its stages one behind the other up to its time; a stage that a CPU or a thread
/// spent is a slice of that one's track, too, and a flow goes through all slices of the record. A record with a depth
/// is a slice of the CPU or the thread that made the call, inside of those above it. Any other record that has a time
/// is an instant. Holds no record, and leaves out those for which the trace has no room.
class PerfettoWriter final : public RecordWriter {
  public:
    explicit PerfettoWriter(std::ostream& out) : trace_(out) {}

    /// Of one recording: a trace has one clock.
    void record(const decode::Record& record) override {
        auto& layout = layout_of(*record.schema);
        ++records_;
        if (!layout.time) {
            ++without_time_;
            return;
        }
        // A track for itself, for its group and that of CPUs, and for each stage's runner.
        const auto new_tracks = 3 + layout.stages.size();
        if (!trace_.has_room(new_tracks)) {
            ++left_out_;
            return;
        }
        draw(layout, record);
    }
    void ready(const decode::Ready& ready) override {
        trace_.clocks(ready);
        for (const auto& [name, text] : origin_texts(origin_))
            trace_.metadata("stapgen-" + name, text);
        origin_ = {};
    }
    void origin(const recording::Origin& origin) override { origin_ = origin; }
    /// The rest of the trace. What is not in it is reported, a sentence for each reason; it is in the trace, too.
    std::vector<std::string> end() override {
        std::vector<std::string> missing;
        if (left_out_ > 0) missing.push_back(PerfettoTrace::left_out_text(left_out_, records_, "records"));
        if (without_time_ > 0) {
            missing.push_back(fmt::format("{} of {} records are not in the trace: they have no time",
                                          base::with_commas(without_time_), base::with_commas(records_)));
        }
        trace_.finish(missing);
        return missing;
    }

  private:
    struct Stage {
        std::size_t field = 0;
        std::string name;
        decode::Attribute spent_by = decode::Attribute::none;
    };
    /// What there is to draw in one kind of record.
    struct Layout {
        std::string tag;
        std::optional<std::size_t> time, depth, cpu, pid, tid, comm, direction, function;
        std::vector<Stage> stages;        ///< but for a total
        std::vector<std::size_t> parts;   ///< of stages
        std::vector<std::size_t> others;  ///< further fields to be shown
        std::uint64_t group = 0;          ///< the track of all of them, 0: none yet
    };
    struct Runner {
        std::vector<Lane> lanes;
        std::int64_t drawn = 0;  ///< the last record here, whose stages stay together
        std::size_t lane = 0;    ///< where it is
        /// Of calls, by depth: when the first one began that is inside of a call not yet seen.
        std::vector<std::optional<std::int64_t>> first_inside;
    };

    Layout& layout_of(const decode::Schema& schema) {
        if (layouts_.size() <= schema.index) layouts_.resize(schema.index + 1);
        auto& known = layouts_[schema.index];
        if (known) return *known;
        auto& layout = known.emplace();
        layout.tag = schema.tag;
        layout.depth = schema.find(Attribute::depth);
        layout.cpu = schema.find("cpu");
        layout.pid = schema.find("pid");
        layout.tid = schema.find("tid");
        layout.comm = schema.find("comm");
        layout.direction = schema.find("way");
        layout.function = schema.find("function");
        for (std::size_t i = 0; i < schema.fields.size(); ++i) {
            const auto& [name, type, attribute] = schema.fields[i];
            if (type == FieldType::time) {
                if (!layout.time) layout.time = i;
            } else if (type == FieldType::stage && schema::is_part(name)) {
                layout.parts.push_back(i);
            } else if (type == FieldType::stage) {
                if (name != "total") layout.stages.push_back({i, base::printable(name), attribute});
            } else if (i != layout.direction && i != layout.depth && !(layout.depth && i == layout.function)) {
                layout.others.push_back(i);
            }
        }
        return layout;
    }

    void draw(Layout& layout, const decode::Record& record) {
        if (layout.depth) {
            draw_call(layout, record);
        } else if (std::ranges::any_of(layout.stages,
                                       [&](const Stage& stage) { return record.values[stage.field].seen; })) {
            draw_stages(layout, record);
        } else {
            trace_.instant(group_of(layout), layout.tag, time_in(record, *layout.time),
                           fields_of(record, layout.others));
        }
    }

    std::uint64_t group_of(Layout& layout) {
        if (layout.group == 0) layout.group = trace_.track(fmt::format("records {}", layout.tag), 0, 0);
        return layout.group;
    }

    Runner* runner_of(const Layout& layout, const decode::Record& record, Attribute kind) {
        const auto& field = kind == Attribute::cpu ? layout.cpu : layout.tid;
        if ((kind != Attribute::cpu && kind != Attribute::thread) || !field) return nullptr;
        auto& runners = kind == Attribute::cpu ? cpus_ : threads_;
        return &runners[record.values[*field].number];
    }

    void add_lane(const Layout& layout, const decode::Record& record, Attribute kind, Runner& runner) {
        std::uint64_t track = 0;
        if (kind == Attribute::cpu) {
            if (cpu_group_ == 0) cpu_group_ = trace_.track("CPUs", 0, 0);
            const auto cpu = record.values[*layout.cpu].number;
            track = trace_.track(fmt::format("CPU {}", cpu), cpu_group_, cpu);
        } else {
            const auto tid = record.values[*layout.tid].number;
            const auto comm = layout.comm ? decode::unescape(record.values[*layout.comm].raw) : fmt::format("{}", tid);
            track = runner.lanes.empty()
                        ? trace_.thread_track(layout.pid ? record.values[*layout.pid].number : tid, tid, comm)
                        : trace_.track("at the same time", runner.lanes.front().track, 0);
        }
        runner.lanes.push_back({track});
    }

    Lane& lane_of(const Layout& layout, const decode::Record& record, Attribute kind, Runner& runner,
                  std::int64_t from) {
        if (runner.drawn != drawn_) {
            runner.drawn = drawn_;
            runner.lane = free_lane(runner.lanes, from);
            if (runner.lane == runner.lanes.size()) add_lane(layout, record, kind, runner);
        }
        return runner.lanes[runner.lane];
    }

    void draw_stages(Layout& layout, const decode::Record& record) {
        const auto end = time_in(record, *layout.time);
        auto about = fields_of(record, layout.others);
        const auto name = record_name(
            layout.direction ? decode::unescape(record.values[*layout.direction].raw) : std::string(), about);
        for (const auto part : layout.parts) {
            if (record.values[part].seen) about.push_back(decode::group_field(record, {part}));
        }
        ++drawn_;
        const auto track = trace_.track(fmt::format("#{} {}", drawn_, name), group_of(layout), drawn_, true);
        // One slice alone flows nowhere.
        std::size_t slices = 0;
        for (const auto& stage : layout.stages) {
            if (record.values[stage.field].seen) slices += runner_of(layout, record, stage.spent_by) == nullptr ? 1 : 2;
        }
        const auto flow = slices > 1 ? static_cast<std::uint64_t>(drawn_) : 0;
        auto from = begin_of(layout.stages, record, end);
        for (const auto& stage : layout.stages) {
            const auto& value = record.values[stage.field];
            if (!value.seen) continue;
            const auto to = std::min(end, base::saturating_add(from, value.number));
            trace_.slice(track, stage.name, from, to, flow, about);
            about.clear();  // shown once
            if (auto* runner = runner_of(layout, record, stage.spent_by)) {
                auto& lane = lane_of(layout, record, stage.spent_by, *runner, from);
                lane.end = to;
                trace_.slice(lane.track, stage.name, from, to, flow, {});
            }
            from = to;
        }
    }

    void draw_call(Layout& layout, const decode::Record& record) {
        const auto end = time_in(record, *layout.time);
        auto begin = begin_of(layout.stages, record, end);
        const auto depth = std::clamp<std::int64_t>(record.values[*layout.depth].number, 0, deepest);
        auto kind = layout.tid ? Attribute::thread : Attribute::cpu;
        for (const auto& stage : layout.stages) {
            if (stage.spent_by != Attribute::none && record.values[stage.field].seen) kind = stage.spent_by;
        }
        auto* runner = runner_of(layout, record, kind);
        if (runner == nullptr) {
            trace_.instant(group_of(layout), layout.tag, end, fields_of(record, layout.others));
            return;
        }
        const auto level = static_cast<std::size_t>(depth);
        if (runner->first_inside.size() < level + 2) runner->first_inside.resize(level + 2);
        // Its calls were written before it: of two begins at one time the reader takes the first for the outer one.
        if (runner->first_inside[level + 1] == begin && begin > 0) --begin;
        runner->first_inside[level + 1].reset();
        if (!runner->first_inside[level]) runner->first_inside[level] = begin;
        if (runner->lanes.empty()) add_lane(layout, record, kind, *runner);
        const auto name =
            layout.function ? decode::group_field(record, {*layout.function}) : table::GroupField{"", layout.tag};
        trace_.slice(runner->lanes.front().track, group_text(name), begin, end, 0, fields_of(record, layout.others));
    }

    PerfettoTrace trace_;
    recording::Origin origin_;
    std::vector<std::optional<Layout>> layouts_;  ///< by the schema's index
    std::map<std::int64_t, Runner> cpus_, threads_;
    std::uint64_t cpu_group_ = 0;
    std::int64_t drawn_ = 0;  ///< records with a track of their own
    std::int64_t left_out_ = 0, without_time_ = 0, records_ = 0;
};

/// A trace has no place for it: it goes to stderr.
void tell_account(std::ostream&, const Reports& reports, const Options& options) {
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const auto results = reports.results(i, options);
        for (const auto& line : results.sentences.account)
            base::print_message(line);
        for (const auto& warning : results.sentences.warnings)
            base::print_message("warning: " + warning);
    }
}

}  // namespace

extern constexpr Format perfetto_format{
    .name = "perfetto", .write = tell_account, .records = records_by<PerfettoWriter>, .is_trace = true};

}  // namespace stapgen::show
