// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/html/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kainjow/mustache.hpp>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/text.h"
#include "show/html/html_scale.h"

namespace stapgen::show::html {

/// The files in html/ as they are compiled in: see html_parts.cpp.in. `table` is a partial of `page`.
namespace parts {
extern const std::string_view head, run, section, foot, table, css, script;
}

namespace {

using kainjow::mustache::data;
using kainjow::mustache::list;
using kainjow::mustache::object;

/// The number of colours in page.css. Stages beyond have them with stripes, one way and then the other.
constexpr std::size_t colours = 8, rounds = 3;

/// Control characters made visible, what is no UTF-8 replaced, then escaped for HTML text and quoted attributes.
std::string html_escaped(const std::string& text) {
    using nlohmann::json;
    const auto quoted = json(base::printable(text)).dump(-1, ' ', false, json::error_handler_t::replace);
    return kainjow::mustache::html_escape(json::parse(quoted).get<std::string>());
}

/// mustache takes an empty text for true.
data text_or_false(const std::string& text) {
    return text.empty() ? data(false) : data(text);
}

template <class T, class Function>
data list_of(const std::vector<T>& items, Function convert) {
    list converted;
    converted.reserve(items.size());
    for (const auto& item : items)
        converted.push_back(convert(item));
    return {std::move(converted)};
}

data texts(const std::vector<std::string>& items) {
    return list_of(items, [](const std::string& text) { return data(text); });
}

/// For CSS: percent of a width.
std::string width(double part) {
    return fmt::format("{:.2f}", std::isfinite(part) ? std::clamp(part, 0.0, 1.0) * 100 : 0.0);
}

data segment_data(const Segment& segment) {
    /// Of a bar on a phone in letters, when they are wide.
    constexpr double letters = 36;
    const bool has_room = static_cast<double>(segment.label.size() + 1) < segment.part * letters;
    return object{{"segment", segment.name},
                  {"width", width(segment.part)},
                  {"colour", fmt::format("{}{}", segment.colour ? colour_classes(*segment.colour) : "gap",
                                         segment.uncertain ? " uncertain" : "")},
                  {"inside", has_room ? text_or_false(segment.label) : data(false)}};
}

data stack_data(const Stack& stack) {
    return object{{"label", text_or_false(stack.label)},
                  {"total", stack.text},
                  {"segments", list_of(stack.segments, segment_data)},
                  {"stack_legend", list_of(stack.legend, segment_data)},
                  {"has_stack_legend", !stack.legend.empty()}};
}

/// In a box of 1000 by 100.
data stream_data(const Stream& stream) {
    const auto x = [](double part) { return fmt::format("{:.1f}", std::clamp(part, 0.0, 1.0) * 1000); };
    // All cuts across it are as long: both edges are the same curve.
    const auto left = x(stream.top), right = x(stream.top + stream.width), end_left = x(stream.bottom),
               end_right = x(stream.bottom + stream.width);
    return object{
        {"stream_count", stream.count},
        {"stream_name", stream.name},
        {"stream_of", stream.of},
        {"stream_note", text_or_false(stream.note)},
        {"stream_title", stream.title},
        {"look", stream.look},
        {"trunk", stream.trunk > 0 ? data(x(stream.trunk)) : data(false)},
        {"stream", stream.width > 0 ? data(fmt::format("M{0} 0H{1}C{1} 60 {3} 40 {3} 100H{2}C{2} 40 {0} 60 {0} 0", left,
                                                       right, end_left, end_right))
                                    : data(false)}};
}

data explanation_data(const std::string& run, const Explanation& explanation) {
    return object{{"explanation", explanation.name},
                  {"explanation_id", fmt::format("{}-{}", run, explanation.name)},
                  {"what", explanation.what},
                  {"known", explanation.known},
                  {"remedy", text_or_false(explanation.remedy)}};
}

data answer_data(const std::string& run, const Answer& answer) {
    return object{
        {"part", answer.part},
        {"what", answer.what},
        {"remedy", text_or_false(answer.remedy)},
        {"colour", colour_classes(answer.colour)},
        {"explained", answer.explained.empty() ? data(false) : data(fmt::format("{}-{}", run, answer.explained))}};
}

data tick_data(const Tick& tick) {
    return object{{"tick", tick.text}, {"at", width(tick.at)}};
}

data timelines_data(const Timelines& timelines) {
    return object{{"rows", list_of(timelines.rows, stack_data)}, {"scale", list_of(timelines.scale, tick_data)}};
}

data small_charts_data(const SmallCharts& small) {
    const auto chart_data = [&](const SmallChart& chart) -> data {
        return object{{"chart_name", chart.name},
                      {"chart_text", chart.text},
                      {"stands_out", chart.stands_out},
                      {"path", path_of(chart.steps)},
                      {"at_mark", chart.mark ? data(width(*chart.mark)) : data(false)},
                      {"scale", list_of(small.scale, tick_data)}};
    };
    return list_of(small.charts, chart_data);
}

/// Its text is on the side that has more room.
data mark_data(const Tick& mark) {
    const bool is_left = mark.at > 0.5;
    return object{{"tick", mark.text},
                  {"at", width(mark.at)},
                  {"room", width(is_left ? mark.at : 1 - mark.at)},
                  {"is_left", is_left}};
}

data plot_data(const Plot& plot) {
    const auto shape_data = [](const Shape& shape) -> data {
        return object{{"look", shape.look}, {"path", shape.path}};
    };
    return object{{"plot_name", plot.name},
                  {"plot_caption", plot.caption},
                  {"box", fmt::format("0 0 {} {}", plot.width, plot.height)},
                  {"shapes", list_of(plot.shapes, shape_data)},
                  {"x_scale", plot.x_scale},
                  {"y_scale", plot.y_scale},
                  {"x_ticks", list_of(plot.x, tick_data)},
                  {"y_ticks", list_of(plot.y, tick_data)},
                  {"marks", list_of(plot.marks, mark_data)},
                  {"has_marks", !plot.marks.empty()},
                  {"plot_legend", list_of(plot.legend, segment_data)},
                  {"has_plot_legend", !plot.legend.empty()},
                  {"plot_folded", plot.folded}};
}

data icicle_data(const Icicle& icicle) {
    const auto bar_data = [](const IcicleBar& bar) -> data {
        return object{{"call", bar.name},
                      {"call_title", bar.title},
                      {"from", width(bar.from)},
                      {"part", width(bar.part)},
                      {"depth", fmt::format("{}", bar.depth)},
                      {"colour", colour_classes(bar.colour)}};
    };
    return object{{"icicle_caption", icicle.caption},
                  {"bars", list_of(icicle.bars, bar_data)},
                  {"levels", fmt::format("{}", icicle.depth)},
                  {"scale", list_of(icicle.scale, tick_data)}};
}

data range_data(const Range& range) {
    return object{{"low", width(range.low)},
                  {"span", width(range.high - range.low)},
                  {"at", width(range.at)},
                  {"zero", width(range.zero)}};
}

data cell_data(const Cell& cell, Kind kind) {
    return object{{"text", cell.text},
                  {"is_head", kind == Kind::head},
                  {"is_number", kind == Kind::number},
                  {"hint", text_or_false(cell.title)},
                  {"mark", text_or_false(cell.mark)},
                  {"swatch", cell.colour && !cell.bar ? data(colour_classes(*cell.colour)) : data(false)},
                  {"bar", cell.bar ? data(width(*cell.bar)) : data(false)},
                  {"bar_colour", cell.colour ? colour_classes(*cell.colour) : "plain"},
                  {"range", cell.range ? range_data(*cell.range) : data(false)}};
}

/// Whether its last column has sentences: where a page is narrow they get lines of their own.
bool ends_in_prose(const Table& table) {
    constexpr std::size_t prose = 24;
    const auto last = table.columns.size() - 1;
    return table.columns[last].kind == Kind::text && table.columns[last].in != In::text &&
           std::ranges::any_of(table.rows, [&](const auto& row) { return row[last].text.size() > prose; });
}

data table_data(const Table& table) {
    const auto row_data = [&](const std::vector<Cell>& row) -> data {
        list cells;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (table.columns[i].in != In::text) cells.push_back(cell_data(row[i], table.columns[i].kind));
        }
        return object{{"cells", cells}};
    };
    list columns;
    for (const auto& column : table.columns) {
        if (column.in != In::text)
            columns.push_back(object{{"column", column.name}, {"is_number", column.kind == Kind::number}});
    }
    // Without its last one.
    const auto short_columns = fmt::format("{}", columns.size() - 1);
    return object{{"caption", table.caption},
                  {"prose", ends_in_prose(table) ? data(short_columns) : data(false)},
                  {"columns", columns},
                  {"rows", list_of(table.rows, row_data)},
                  {"below", text_or_false(table.below)},
                  {"folded", table.folded}};
}

data section_data(const std::string& run, const Section& section) {
    const auto listing_data = [](const std::vector<std::string>& lines) -> data {
        return object{{"lines", texts(lines)}};
    };
    return object{{"table", kainjow::mustache::partial([] { return std::string(parts::table); })},
                  {"section_id", fmt::format("{}-{}", run, section.id)},
                  {"heading", section.heading},
                  {"paragraphs", texts(section.paragraphs)},
                  {"icicles", list_of(section.icicles, icicle_data)},
                  {"listings", list_of(section.listings, listing_data)},
                  {"stacks", list_of(section.stacks, stack_data)},
                  {"answers", list_of(section.answers, [&](const Answer& answer) { return answer_data(run, answer); })},
                  {"has_answers", !section.answers.empty()},
                  {"explanations", list_of(section.explanations,
                                           [&](const Explanation& known) { return explanation_data(run, known); })},
                  {"has_explanations", !section.explanations.empty()},
                  {"flow", list_of(section.flow, stream_data)},
                  {"has_flow", !section.flow.empty()},
                  {"legend", list_of(section.legend, segment_data)},
                  {"has_legend", !section.legend.empty()},
                  {"timelines", list_of(section.timelines, timelines_data)},
                  {"small", small_charts_data(section.small)},
                  {"has_small", !section.small.charts.empty()},
                  {"plots", list_of(section.plots, plot_data)},
                  {"tables_name", text_or_false(section.tables_name)},
                  {"tables", list_of(section.tables, table_data)}};
}

data run_data(const Run& run) {
    const auto link_data = [&](const Section& section) -> data {
        return object{{"section_id", fmt::format("{}-{}", run.id, section.id)}, {"heading", section.heading}};
    };
    return object{{"run_id", run.id},
                  {"run_heading", run.heading},
                  {"facts", text_or_false(run.facts)},
                  {"sentences", texts(run.sentences)},
                  {"warnings", texts(run.warnings)},
                  {"has_warnings", !run.warnings.empty()},
                  {"notes", texts(run.notes)},
                  {"has_notes", !run.notes.empty()},
                  {"sections", list_of(run.sections, link_data)}};
}

}  // namespace

std::string colour_classes(std::size_t stage) {
    const auto round = stage / colours % rounds;
    return round == 0 ? fmt::format("c{}", stage % colours) : fmt::format("c{} s{}", stage % colours, round);
}

namespace {

/// What a Content-Security-Policy calls a script of this text, which stands in lines of its own: so no other one runs.
std::string script_hash(std::string_view script) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto hexadecimal = base::sha256(fmt::format("\n{}\n", script));
    std::string text;
    // Three bytes are four digits of base64; of the last two bytes there are three.
    for (std::size_t at = 0; at < hexadecimal.size(); at += 6) {
        const auto part = hexadecimal.substr(at, 6);
        const auto bits = base::from_hex(part).value_or(0) << (4 * (6 - part.size()));
        for (std::size_t i = 0; i < (part.size() * 4 + 5) / 6; ++i)
            text += digits[(bits >> (18 - 6 * i)) & 63U];
    }
    text.append(text.size() % 4 == 0 ? 0 : 4 - text.size() % 4, '=');
    return fmt::format("'sha256-{}'", text);
}

}  // namespace

void write(std::ostream& out, const Page& page) {
    const auto render = [&](std::string_view part, const data& values) {
        kainjow::mustache::mustache engine{std::string(part)};
        engine.set_custom_escape(html_escaped);
        engine.render(values, out);
    };
    const auto link_data = [](const Run& run) -> data {
        return object{{"run_id", run.id}, {"run_heading", run.heading}};
    };
    render(parts::head, object{{"page_title", page.title},
                               {"script_hash", script_hash(parts::script)},
                               {"several", page.runs.size() > 1},
                               {"runs", list_of(page.runs, link_data)},
                               {"css", std::string(parts::css)}});
    // One after the other: mustache's data takes 40 times its text.
    for (const auto& run : page.runs) {
        render(parts::run, run_data(run));
        for (const auto& section : run.sections)
            render(parts::section, section_data(run.id, section));
        out << "</article>\n";
    }
    render(parts::foot, object{{"script", std::string(parts::script)}});
}

}  // namespace stapgen::show::html
