// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rows/of_interval.h"
#include "table/average.h"
#include "table/breakdown.h"
#include "table/cells.h"
#include "table/histogram.h"
#include "table/keys.h"
#include "table/series.h"

namespace stapgen::rows {

/// The whole of each stage in recipe order, each followed by its parts, then that of each group, the largest first.
struct Stage {
    std::string stage{};
    table::Group group{};
    table::Shared<table::Histogram> distribution{};
    std::optional<double> share{};                  ///< of the time of all stages of its directions and group
    std::optional<std::string> part_of{}, cause{};  ///< of a part of a stage

    static constexpr About about{.name = "stages", .row_name = "stage"};
    static constexpr void columns(auto&& column) {
        column(Key(), "stage", &Stage::stage);
        column(Key(), "group", &Stage::group);
        column(Sum(), Ns("distribution"), &Stage::distribution);
        column(Same(), Share("share"), &Stage::share);
        column(Same(), "part_of", &Stage::part_of, Shown{.in = In::documents, .is_rare = true});
        column(Same(), "cause", &Stage::cause, Shown{.in = In::documents, .is_rare = true});
    }
};

/// What has no unit, in the same order.
struct Value {
    std::string value{};
    table::Group group{};
    table::Shared<table::Histogram> distribution{};

    static constexpr About about{.name = "values", .row_name = "value"};
    static constexpr void columns(auto&& column) {
        column(Key(), "value", &Value::value);
        column(Key(), "group", &Value::group);
        column(Sum(), "distribution", &Value::distribution);
    }
};

/// The whole stays first, and groups have the largest before others, "other" as the last one.
void sort_groups(std::vector<Stage>& stages, std::vector<Value>& values);

/// What the total of a direction is made of, and its slowest records.
struct Breakdown {
    std::string way{};
    table::Texts stages{};
    table::Shared<table::Breakdown> breakdown;

    static constexpr About about{.name = "breakdowns", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Key(), "way", &Breakdown::way);
        column(Key(), "stages", &Breakdown::stages);
        column(Sum(), "breakdown", &Breakdown::breakdown);
    }
};

/// The same of the records of a group, without the slowest: what each of them took has the keys of the group.
struct GroupBreakdown {
    std::string way{};
    table::Group group{};
    table::Texts stages{};
    table::Shared<table::Breakdown> breakdown;

    static constexpr About about{.name = "group_breakdowns", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Key(), "way", &GroupBreakdown::way);
        column(Key(), "group", &GroupBreakdown::group);
        column(Key(), "stages", &GroupBreakdown::stages);
        column(Sum(), "breakdown", &GroupBreakdown::breakdown);
    }
};

/// What one thread, process, connection or peer took for a stage or a part of one.
struct OwnerTime {
    std::string stage{};
    std::string owner{};  ///< the kind: "connection"
    table::Group group{};
    std::int64_t n = 0;
    double sum_ns = 0, squares = 0;

    static constexpr About about{.name = "owner_times", .shape = Shape::none, .most = 1U << 18U};
    static constexpr void columns(auto&& column) {
        column(Key(), "stage", &OwnerTime::stage);
        column(Key(), "owner", &OwnerTime::owner);
        column(Key(), "group", &OwnerTime::group);
        column(Sum(), "n", &OwnerTime::n);
        column(Sum(), "sum_ns", &OwnerTime::sum_ns);
        column(Sum(), "squares", &OwnerTime::squares);
    }
};

/// The one that waited for most of something, though few of the records are its own.
struct StandOut {
    std::string stage{};
    std::string owner{};  ///< the kind: "connection"
    table::Group group{};
    double share = 0;    ///< its part of that time, 0 to 1
    double records = 0;  ///< its part of the records

    static constexpr About about{.name = "stand_outs", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Key(), "stage", &StandOut::stage);
        column(Key(), "owner", &StandOut::owner);
        column(Key(), "group", &StandOut::group);
        column(Same(), "share", &StandOut::share);
        column(Same(), "records", &StandOut::records);
    }
};

/// A stage of a group's records of one direction.
struct StageOfGroup {
    std::string stage{};
    double sum_ns = 0;
    double excess_ns = 0;  ///< how much longer its slow records took than as many others of that direction

    static constexpr About about{.name = "stages", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Key(), "stage", &StageOfGroup::stage);
        column(Sum(), "sum_ns", &StageOfGroup::sum_ns);
        column(Sum(), "excess_ns", &StageOfGroup::excess_ns);
    }
};
struct WayOfGroup {
    table::Group group{};
    std::string way{};
    std::int64_t n = 0, n_slow = 0;  ///< slow: above p99 of all records of the direction
    std::vector<StageOfGroup> stages{};

    static constexpr About about{.name = "ways_of_groups", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Key(), "group", &WayOfGroup::group);
        column(Key(), "way", &WayOfGroup::way);
        column(Sum(), "n", &WayOfGroup::n);
        column(Sum(), "n_slow", &WayOfGroup::n_slow);
        column(Sum(), "stages", &WayOfGroup::stages);
    }
};

/// Stages and values over time, in the order of their rows of the whole. Documents state Series::by_second().
struct Series {
    table::Shared<table::Series> series{};
    table::Texts stages{}, values{};  ///< names of each block's

    static constexpr About about{.name = "series", .row_name = "series", .shape = Shape::series};
    static constexpr void columns(auto&& column) {
        column(Sum(), "series", &Series::series);
        column(First(), "stages", &Series::stages);
        column(First(), "values", &Series::values);
    }
};

struct Precision {
    double relative_error = table::relative_error;
    std::int64_t resolution_ns = 1;  ///< times of stages are multiples of it
    double confidence_level = 0.95;

    static constexpr About about{.name = "precision", .shape = Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Same(), "relative_error", &Precision::relative_error);
        column(Largest(), Ns("resolution_ns"), &Precision::resolution_ns);
        column(Same(), "confidence_level", &Precision::confidence_level);
    }
};

/// What the input gave means of only.
struct AverageOf {
    std::string name{};
    table::Average average{};

    static constexpr About about{.name = "average_of", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Key(), "name", &AverageOf::name);
        column(Sum(), "average", &AverageOf::average);
    }
};
struct AveragesOfInterval {
    std::int64_t number = 0, line = 0, n = 0;  ///< `line`: that of the input which ends it, counted from 1
    std::vector<AverageOf> averages{};

    static constexpr About about{.name = "averages_of_interval", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Continues(), "number", &AveragesOfInterval::number);
        column(Separate(), "line", &AveragesOfInterval::line);
        column(Separate(), "n", &AveragesOfInterval::n);
        column(Separate(), "averages", &AveragesOfInterval::averages);
    }
};

/// The mean of times or of numbers: a row has one of the two.
struct Average {
    std::string name{};
    std::int64_t n = 0;
    std::optional<double> mean_ns{}, error_ns{}, mean{}, error{};

    static constexpr About about{.name = "averages", .row_name = "average"};
    static constexpr void columns(auto&& column) {
        column(Key(), "name", &Average::name, Shown{.place = 1, .heading = "NAME", .is_head = true});
        column(Sum(), "n", &Average::n, Shown{.place = 2, .heading = "N"});
        constexpr Shown mean_shown{.place = 3, .heading = "MEAN", .is_rare = true};
        constexpr Shown error_shown{.place = 4, .heading = "ERROR", .is_rare = true};
        column(Same(), MeanNs("mean_ns"), &Average::mean_ns, mean_shown);
        column(Same(), MeanNs("error_ns"), &Average::error_ns, error_shown);
        column(Same(), Mean("mean"), &Average::mean, mean_shown);
        column(Same(), Mean("error"), &Average::error, error_shown);
    }
};
struct AverageInterval {
    std::int64_t number = 0, line = 0, n = 0;
    std::vector<Average> averages{};

    static constexpr About about{.name = "average_intervals"};
    static constexpr void columns(auto&& column) {
        column(Key(), "number", &AverageInterval::number, Shown{.in = In::rows});
        column(Sum(), "line", &AverageInterval::line);
        column(Sum(), "n", &AverageInterval::n);
        column(Separate(), "averages", &AverageInterval::averages);
    }
};

/// The total of a direction that no stage has.
struct Total {
    std::string stage{};
    table::Shared<table::Histogram> distribution{};

    static constexpr About about{.name = "totals", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Key(), "stage", &Total::stage);
        column(Sum(), Ns("distribution"), &Total::distribution);
    }
};

/// A stage that a direction has, and all its time; parts are in that.
struct StageOfWay {
    std::string stage{};
    double sum_ns = 0;

    static constexpr About about{.name = "stages", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Key(), "stage", &StageOfWay::stage);
        column(Sum(), "sum_ns", &StageOfWay::sum_ns);
    }
};
/// A direction. Two kinds of records may have directions of one name, and other stages.
struct Way {
    std::int64_t number = 0;
    std::string way{};
    std::int64_t n = 0;
    std::optional<std::string> tail_stage{};  ///< that has most of the extra time of its slowest records
    std::vector<StageOfWay> stages{};

    static constexpr About about{.name = "ways", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Key(), "number", &Way::number);
        column(Key(), "way", &Way::way);
        column(Sum(), "n", &Way::n);
        column(Same(), "tail_stage", &Way::tail_stage);
        column(Sum(), "stages", &Way::stages);
    }
};

struct StageOfTail {
    std::string stage{};
    double slow_mean_ns = 0, rest_mean_ns = 0, slow_share = 0, rest_share = 0, excess_share = 0;

    static constexpr About about{.name = "stages"};
    static constexpr void columns(auto&& column) {
        column(Key(), "stage", &StageOfTail::stage);
        column(Same(), Mean("slow_mean_ns"), &StageOfTail::slow_mean_ns);
        column(Same(), Mean("rest_mean_ns"), &StageOfTail::rest_mean_ns);
        column(Same(), Share("slow_share"), &StageOfTail::slow_share);
        column(Same(), Share("rest_share"), &StageOfTail::rest_share);
        column(Same(), Share("excess_share"), &StageOfTail::excess_share);
    }
};
/// Where the slowest records of a direction spend more time than the others.
struct Tail {
    std::int64_t number = 0;  ///< of the direction
    std::string way{};
    double percent = 0;
    std::string sentence{};
    std::optional<std::int64_t> threshold_ns{}, n_slow{}, n_rest{};
    std::optional<double> slow_mean_ns{}, rest_mean_ns{};
    std::vector<StageOfTail> stages{};

    static constexpr About about{.name = "tail"};
    static constexpr void columns(auto&& column) {
        column(Key(), "number", &Tail::number, Shown{.in = In::rows});
        column(Key(), "way", &Tail::way);
        column(Same(), "percent", &Tail::percent);
        column(Same(), "sentence", &Tail::sentence);
        column(Same(), Ns("threshold_ns"), &Tail::threshold_ns);
        column(Sum(), "n_slow", &Tail::n_slow);
        column(Sum(), "n_rest", &Tail::n_rest);
        column(Same(), Mean("slow_mean_ns"), &Tail::slow_mean_ns);
        column(Same(), Mean("rest_mean_ns"), &Tail::rest_mean_ns);
        column(Sum(), "stages", &Tail::stages, Shown{.row_name = "tail"});
    }
};

/// One of the slowest records of a direction, the largest first.
struct Slowest {
    std::int64_t number = 0;  ///< of the direction
    std::string way{};
    std::int64_t total_ns = 0;
    std::optional<std::int64_t> time_ns{};
    table::Durations stages_ns{};
    table::Group of{};

    static constexpr About about{.name = "slowest"};
    static constexpr void columns(auto&& column) {
        column(Key(), "number", &Slowest::number, Shown{.in = In::rows});
        column(Key(), "way", &Slowest::way);
        column(Separate(), Ns("total_ns"), &Slowest::total_ns);
        column(Separate(), Ns("time_ns"), &Slowest::time_ns);
        column(Separate(), "stages_ns", &Slowest::stages_ns);
        column(Separate(), "of", &Slowest::of);
    }
};

/// Sets the share of each row: the part that a stage's time is of the time of all stages of its directions and group, 0
/// to 1, "total" left out of that; about 1 of "total" itself. Nothing where that time is 0. A stage of no direction, as
/// "total", is a part of all.
void put_shares(std::vector<Stage>& stages, const std::vector<Way>& ways);

}  // namespace stapgen::rows
