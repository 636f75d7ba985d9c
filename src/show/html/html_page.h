// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "show/model/table.h"

/// What is on an HTML page, as plain data. All texts are as they came from the input: the one who writes the page
/// escapes them.
namespace stapgen::show::html {

/// The classes of page.css for the colour of a stage, by its place among all stages.
std::string colour_classes(std::size_t stage);

/// A part of a stacked bar, or an entry of a legend.
struct Segment {
    std::string name;                       ///< with its number: shown on hover
    double part = 0;                        ///< of the width there is, 0 to 1
    std::optional<std::size_t> colour = 0;  ///< colour_of_stage(); nothing: it is no stage
    std::string label{};                    ///< shown in the bar, if it is wide enough on a phone
    bool uncertain = false;                 ///< it may be another's: hatched
};

/// A stacked bar with its label.
struct Stack {
    std::string label;
    std::string text;
    std::vector<Segment> segments{};
    std::vector<Segment> legend{};  ///< in the order of the bar
};

/// What packets waited for, with what to do about it.
struct Answer {
    std::string part, what, remedy;
    std::size_t colour = 0;
    std::string explained{};  ///< the Explanation's name
};
/// What a stage or a part of it is.
struct Explanation {
    std::string name;  ///< of letters that an address takes
    std::string what, known, remedy;
};

/// Packets of one fate at a step of a flow. Places and widths are 0 to 1, of the picture's.
struct Stream {
    std::string count, name, of, note{};
    std::string title;           ///< what part it is of all
    std::string look;            ///< a class of page.css
    double width = 0;            ///< 0: there is the trunk only
    double top = 0, bottom = 0;  ///< where its left edge is
    double trunk = 0;            ///< width of what passes by
};

/// A mark on a scale.
struct Tick {
    std::string text;
    double at = 0;  ///< 0 to 1
};

/// Bars on one scale, each below its label and as wide as the page.
struct Timelines {
    std::vector<Stack> rows{};
    std::vector<Tick> scale{};
};

/// A part of a distribution, each from 0 to 1.
struct Step {
    double from = 0, to = 0, height = 0;
};

struct SmallChart {
    std::string name;
    std::string text;
    std::vector<Step> steps{};     ///< ascending
    std::optional<double> mark{};  ///< of one place on the scale
    bool stands_out = false;
};

/// Small charts on one scale.
struct SmallCharts {
    std::vector<SmallChart> charts{};
    std::vector<Tick> scale{};
};

/// A shape of a plot.
struct Shape {
    std::string look;  ///< classes of page.css
    std::string path;  ///< SVG, in the box of its plot
};

/// A picture with two scales.
struct Plot {
    std::string name;               ///< of what; folded plots are opened by it
    std::string caption;            ///< what is how much
    int width = 100, height = 100;  ///< of the box, whose y goes down
    std::vector<Shape> shapes{};
    std::vector<Tick> x{}, y{};  ///< y from the bottom
    std::vector<Tick> marks{};   ///< moments, with what happened then
    /// For the script that reads values: "linear" from one number on, "log" of base 2, or "nines" (of percentiles),
    /// then where it begins, its length, and "ns" where it has that unit. Empty: it reads none.
    std::string x_scale{}, y_scale{};
    std::vector<Segment> legend{};
    bool folded = false;
};

/// A call in an icicle.
struct IcicleBar {
    std::string name, title;
    double from = 0, part = 0;  ///< of the width, 0 to 1
    std::size_t depth = 0, colour = 0;
};

/// Calls below their callers, on a scale of time.
struct Icicle {
    std::string caption;
    std::vector<IcicleBar> bars{};
    std::size_t depth = 0;  ///< of the deepest, counted from 1
    std::vector<Tick> scale{};
};

struct Section {
    std::string id;
    std::string heading;
    std::vector<std::string> paragraphs{};
    std::vector<Icicle> icicles{};
    std::vector<std::vector<std::string>> listings{};  ///< lines as they are, in letters of one width; folded
    std::vector<Stack> stacks{};
    std::vector<Answer> answers{};
    std::vector<Explanation> explanations{};
    std::vector<Stream> flow{};  ///< from above
    std::vector<Segment> legend{};
    std::vector<Timelines> timelines{};
    SmallCharts small{};
    std::vector<Plot> plots{};
    std::string tables_name{};  ///< what all tables together are folded behind; empty: they are not
    std::vector<Table> tables{};
};

/// One report, or the part of a comparison that is about both.
struct Run {
    std::string id;
    std::string heading;
    std::string facts{};
    std::vector<std::string> sentences{};  ///< the answer
    std::vector<std::string> warnings{};
    std::vector<std::string> notes{};
    std::vector<Section> sections{};
};

struct Page {
    std::string title;
    std::vector<Run> runs;
};

void write(std::ostream& out, const Page& page);

}  // namespace stapgen::show::html
