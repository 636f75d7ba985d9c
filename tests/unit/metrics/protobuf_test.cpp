// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <protozero/pbf_reader.hpp>
#include <vector>

#include "metrics/otlp.h"
#include "metrics/prometheus.h"

using namespace stapgen::metrics;
using protozero::pbf_reader;

namespace {

/// A message's field, by its numbers from the outside in; the last of each number.
pbf_reader inside(pbf_reader reader, const std::vector<unsigned>& path) {
    for (const auto number : path) {
        pbf_reader found;
        while (reader.next(number))
            found = reader.get_message();
        reader = found;
    }
    return reader;
}

template <class T>
T field(pbf_reader reader, unsigned number, T (pbf_reader::*get)()) {
    T value{};
    while (reader.next(number))
        value = (reader.*get)();
    return value;
}

Families one_histogram(const Histogram& histogram) {
    Family family{"a_seconds", Type::histogram, "seconds", "Help."};
    family.samples[Labels{{"stage", "x"}}] = histogram;
    return {family};
}

Histogram of(std::initializer_list<std::int64_t> values) {
    Histogram histogram;
    for (const auto value : values)
        histogram.add(value);
    return histogram;
}

}  // namespace

TEST_CASE("Prometheus' protobuf: spans and differences of a native histogram, and its start") {
    // Buckets of a second to four: index 0 is up to 1 s, 1 up to 2 s, 2 up to 4 s; -3 up to 125 ms.
    const auto bytes = prometheus_protobuf(
        one_histogram(of({0, 125'000'000, 125'000'000, 999'000'000, 1'500'000'000, 1'500'000'000, 3'000'000'000})),
        {.schema = 0, .created_ns = 1'795'180'848'500'000'000});
    pbf_reader all(bytes.data() + 2, bytes.size() - 2);
    CHECK(static_cast<std::size_t>(static_cast<unsigned char>(bytes[0]) - 128 +
                                   128 * static_cast<unsigned char>(bytes[1])) == bytes.size() - 2);
    CHECK(field(all, 1, &pbf_reader::get_string) == "a_seconds");
    CHECK(field(all, 3, &pbf_reader::get_enum) == 4);
    CHECK(field(all, 5, &pbf_reader::get_string) == "seconds");
    CHECK(field(inside(all, {4, 1}), 2, &pbf_reader::get_string) == "x");
    const auto histogram = inside(all, {4, 7});
    CHECK(field(histogram, 1, &pbf_reader::get_uint64) == 7);
    CHECK(field(histogram, 2, &pbf_reader::get_double) == doctest::Approx(7.249));
    CHECK(field(histogram, 5, &pbf_reader::get_sint32) == 0);
    CHECK(field(histogram, 7, &pbf_reader::get_uint64) == 1);
    CHECK(field(inside(histogram, {15}), 1, &pbf_reader::get_int64) == 1'795'180'848);
    CHECK(field(inside(histogram, {15}), 2, &pbf_reader::get_int32) == 500'000'000);
    std::vector<std::pair<int, unsigned>> spans;
    for (auto reader = histogram; reader.next(12);) {
        const auto span = reader.get_message();
        spans.emplace_back(field(span, 1, &pbf_reader::get_sint32), field(span, 2, &pbf_reader::get_uint32));
    }
    CHECK(spans == std::vector<std::pair<int, unsigned>>{{-3, 1}, {2, 3}});
    std::vector<std::int64_t> deltas;
    for (auto reader = histogram; reader.next(13);) {
        for (const auto delta : reader.get_packed_sint64())
            deltas.push_back(delta);
    }
    CHECK(deltas == std::vector<std::int64_t>{2, -1, 1, -1});
    std::size_t classic = 0;
    std::uint64_t highest = 0;
    for (auto reader = histogram; reader.next(3); ++classic)
        highest = field(reader.get_message(), 1, &pbf_reader::get_uint64);
    CHECK(classic == 53);
    CHECK(highest == 7);
}

TEST_CASE("Prometheus' protobuf: counters and gauges") {
    Family counter{"a", Type::counter, "", "Help."}, state{"b", Type::stateset, "", "Help."};
    counter.samples[Labels()] = std::int64_t{31};
    state.samples[Labels{{"b", "on"}}] = std::int64_t{1};
    const auto bytes =
        prometheus_protobuf({counter, {"none", Type::gauge, "", ""}, state}, {.created_ns = 7'000'000'011});
    const auto first = static_cast<std::size_t>(bytes[0]);
    const pbf_reader a(bytes.data() + 1, first), b(bytes.data() + first + 2, bytes.size() - first - 2);
    CHECK(static_cast<std::size_t>(bytes[first + 1]) == bytes.size() - first - 2);
    CHECK(field(a, 1, &pbf_reader::get_string) == "a_total");
    CHECK(field(inside(a, {4, 3}), 1, &pbf_reader::get_double) == 31);
    CHECK(field(inside(a, {4, 3, 3}), 2, &pbf_reader::get_int32) == 11);
    CHECK(field(b, 1, &pbf_reader::get_string) == "b");
    CHECK(field(b, 3, &pbf_reader::get_enum) == 1);
    CHECK(field(inside(b, {4, 2}), 1, &pbf_reader::get_double) == 1);
}

TEST_CASE("OTLP: an exponential histogram has all buckets from the first to the last") {
    const auto bytes =
        otlp_request(one_histogram(of({-3, 1'000'000'000, 1'001'953'125, 1'003'910'000})),
                     {.resource = {{"host.name", "web1"}}, .version = "1.2", .start_ns = 7, .now_ns = 11});
    const pbf_reader all(bytes);
    CHECK(field(inside(all, {1, 1, 1}), 1, &pbf_reader::get_string) == "host.name");
    CHECK(field(inside(all, {1, 1, 1, 2}), 1, &pbf_reader::get_string) == "web1");
    CHECK(field(inside(all, {1, 2, 1}), 2, &pbf_reader::get_string) == "1.2");
    const auto metric = inside(all, {1, 2, 2});
    CHECK(field(metric, 1, &pbf_reader::get_string) == "a_seconds");
    CHECK(field(metric, 3, &pbf_reader::get_string) == "s");
    CHECK(field(inside(metric, {10}), 2, &pbf_reader::get_enum) == 2);
    const auto point = inside(metric, {10, 1});
    CHECK(field(point, 2, &pbf_reader::get_fixed64) == 7);
    CHECK(field(point, 3, &pbf_reader::get_fixed64) == 11);
    CHECK(field(point, 4, &pbf_reader::get_fixed64) == 4);
    CHECK(field(point, 6, &pbf_reader::get_sint32) == 9);
    CHECK(field(point, 7, &pbf_reader::get_fixed64) == 1);
    CHECK(field(point, 12, &pbf_reader::get_double) == -3e-9);
    CHECK(field(point, 13, &pbf_reader::get_double) == 1.00391);
    // The bucket that ends at 1 s is -1: the bin that 1 s is in has its middle below. The next bins are in 1 and 2.
    const auto positive = inside(point, {8});
    CHECK(field(positive, 1, &pbf_reader::get_sint32) == -1);
    std::vector<std::uint64_t> counts;
    for (auto reader = positive; reader.next(2);) {
        for (const auto count : reader.get_packed_uint64())
            counts.push_back(count);
    }
    CHECK(counts == std::vector<std::uint64_t>{1, 0, 1, 1});
}

TEST_CASE("OTLP: a counter is a cumulative sum that only rises") {
    Family counter{"a", Type::counter, "", "Help."}, gauge{"b_bytes", Type::gauge, "bytes", "Help."};
    counter.samples[Labels{{"k", "v"}}] = std::int64_t{31};
    gauge.samples[Labels()] = 2.5;
    const auto bytes = otlp_request({counter, gauge}, {.start_ns = 7, .now_ns = 11});
    std::vector<pbf_reader> metrics;
    for (auto reader = inside(pbf_reader(bytes), {1, 2}); reader.next(2);)
        metrics.push_back(reader.get_message());
    REQUIRE(metrics.size() == 2);
    const auto sum = inside(metrics[0], {7});
    CHECK(field(sum, 2, &pbf_reader::get_enum) == 2);
    CHECK(field(sum, 3, &pbf_reader::get_bool));
    CHECK(field(inside(sum, {1}), 6, &pbf_reader::get_sfixed64) == 31);
    CHECK(field(inside(sum, {1}), 2, &pbf_reader::get_fixed64) == 7);
    CHECK(field(metrics[1], 3, &pbf_reader::get_string) == "By");
    CHECK(field(inside(metrics[1], {5, 1}), 4, &pbf_reader::get_double) == 2.5);
}

TEST_CASE("OTLP: an answer says what was not taken, and what is none says nothing") {
    // partial_success { rejected_data_points: 3, error_message: "no" }
    const std::string answer("\x0a\x06\x08\x03\x12\x02no", 8);
    CHECK(parse_otlp_response(answer).points == 3);
    CHECK(parse_otlp_response(answer).why == "no");
    for (const auto* text : {"", "{}", "<html>", "\x0a\x7f"}) {
        CHECK(parse_otlp_response(text).points == 0);
        CHECK(parse_otlp_response(text).why.empty());
    }
}
