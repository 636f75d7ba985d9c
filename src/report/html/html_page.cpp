#include "report/html/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kainjow/mustache.hpp>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/html/html_parts.h"

namespace stapgen::report::html {

namespace {

using kainjow::mustache::data;
using kainjow::mustache::list;

/// So many colours are in page.css; stages beyond have them with stripes, one way and then the other.
constexpr std::size_t colours = 9, rounds = 3;

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

std::string colour_of(std::size_t stage) {
    const auto round = stage / colours % rounds;
    return round == 0 ? fmt::format("c{}", stage % colours) : fmt::format("c{} s{}", stage % colours, round);
}

data segment_data(const Segment& segment) {
    data object;
    object.set("segment", segment.name);
    object.set("width", width(segment.part));
    object.set("colour", colour_of(segment.colour));
    return object;
}

data stack_data(const Stack& stack) {
    data bar;
    bar.set("label", text_or_false(stack.label));
    bar.set("total", stack.text);
    bar.set("segments", list_of(stack.segments, segment_data));
    return bar;
}

data timelines_data(const Timelines& timelines) {
    data object;
    object.set("rows", list_of(timelines.rows, stack_data));
    object.set("scale", list_of(timelines.scale, [](const Tick& tick) {
                   data mark;
                   mark.set("tick", tick.text);
                   mark.set("at", width(tick.at));
                   return mark;
               }));
    return object;
}

data cell_data(const Cell& cell, Kind kind) {
    data object;
    object.set("text", cell.text);
    object.set("is_head", kind == Kind::head);
    object.set("is_number", kind == Kind::number);
    object.set("hint", text_or_false(cell.title));
    object.set("mark", text_or_false(cell.mark));
    object.set("swatch", cell.colour && !cell.bar ? data(colour_of(*cell.colour)) : data(false));
    object.set("bar", cell.bar ? data(width(*cell.bar)) : data(false));
    if (cell.bar) object.set("bar_colour", cell.colour ? colour_of(*cell.colour) : "plain");
    object.set("segments", list_of(cell.segments, segment_data));
    object.set("has_segments", !cell.segments.empty());
    object.set("range", cell.range.has_value());
    if (cell.range) {
        object.set("low", width(cell.range->low));
        object.set("span", width(cell.range->high - cell.range->low));
        object.set("at", width(cell.range->at));
        object.set("zero", width(cell.range->zero));
    }
    return object;
}

data table_data(const Table& table) {
    data object;
    object.set("caption", table.caption);
    object.set("columns", list_of(table.columns, [](const Column& column) {
                   data head;
                   head.set("column", column.name);
                   head.set("is_number", column.kind == Kind::number);
                   return head;
               }));
    object.set("rows", list_of(table.rows, [&](const std::vector<Cell>& row) {
                   list cells;
                   for (std::size_t i = 0; i < row.size(); ++i)
                       cells.push_back(cell_data(row[i], table.columns[i].kind));
                   data line;
                   line.set("cells", data(std::move(cells)));
                   return line;
               }));
    object.set("below", text_or_false(table.below));
    object.set("folded", table.folded);
    object.set("of_chart", text_or_false(table.chart));
    object.set("of_stage", table.stage);
    object.set("of_unit", table.unit);
    object.set("of_block", fmt::format("{}", table.block_s));
    return object;
}

data section_data(const std::string& run, const Section& section) {
    data object;
    object.set("section_id", fmt::format("{}-{}", run, section.id));
    object.set("heading", section.heading);
    object.set("paragraphs", texts(section.paragraphs));
    object.set("listings", list_of(section.listings, [](const std::vector<std::string>& lines) {
                   data listing;
                   listing.set("lines", texts(lines));
                   return listing;
               }));
    object.set("stacks", list_of(section.stacks, stack_data));
    object.set("legend", list_of(section.legend, segment_data));
    object.set("has_legend", !section.legend.empty());
    object.set("timelines", list_of(section.timelines, timelines_data));
    object.set("chart", text_or_false(section.chart));
    object.set("chart_runs", section.chart_runs);
    object.set("chart_names", section.chart_names);
    object.set("first_stage", section.first_stage);
    object.set("tables", list_of(section.tables, table_data));
    return object;
}

data run_data(const Run& run) {
    data object;
    object.set("run_id", run.id);
    object.set("run_heading", run.heading);
    object.set("facts", text_or_false(run.facts));
    object.set("sentences", texts(run.sentences));
    object.set("warnings", texts(run.warnings));
    object.set("has_warnings", !run.warnings.empty());
    object.set("notes", texts(run.notes));
    object.set("has_notes", !run.notes.empty());
    object.set("sections",
               list_of(run.sections, [&](const Section& section) { return section_data(run.id, section); }));
    return object;
}

}  // namespace

bool has_uplot() {
    return !parts::uplot_script.empty();
}

void write(std::ostream& out, const Page& page) {
    data object;
    object.set("page_title", page.title);
    object.set("several", page.runs.size() > 1);
    object.set("runs", list_of(page.runs, run_data));
    object.set("charts", page.charts);
    object.set("css", data(std::string(parts::css)));
    object.set("script", data(std::string(parts::script)));
    object.set("uplot_css", data(std::string(parts::uplot_css)));
    object.set("uplot_script", data(std::string(parts::uplot_script)));
    object.set("uplot_licence", data(std::string(parts::uplot_licence)));
    object.set("table", data(kainjow::mustache::partial([] { return std::string(parts::table); })));
    kainjow::mustache::mustache engine{std::string(parts::page)};
    engine.set_custom_escape(html_escaped);
    engine.render(object, out);
}

}  // namespace stapgen::report::html
