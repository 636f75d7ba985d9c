// SPDX-License-Identifier: GPL-2.0-or-later
#include "metrics/prometheus.h"

#include <cmath>
#include <protozero/pbf_writer.hpp>

#include "base/text.h"
#include "metrics/buckets.h"

namespace stapgen::metrics {

namespace {

using protozero::pbf_writer;

/// Numbers of the fields, and of values, as io/prometheus/client/metrics.proto gives them.
namespace proto {
namespace metric_family {
constexpr auto name = 1, help = 2, type = 3, metric = 4, unit = 5;
constexpr auto counter = 0, gauge = 1, summary = 2, histogram = 4;
}  // namespace metric_family
namespace metric {
constexpr auto label = 1, gauge = 2, counter = 3, summary = 4, histogram = 7;
}
namespace label_pair {
constexpr auto name = 1, value = 2;
}
namespace number {
constexpr auto value = 1, created_of_counter = 3;
}
namespace summary {
constexpr auto sample_count = 1, sample_sum = 2, created = 4;
}
namespace histogram {
constexpr auto sample_count = 1, sample_sum = 2, bucket = 3, schema = 5, zero_threshold = 6, zero_count = 7,
               positive_span = 12, positive_delta = 13, created = 15;
}
namespace bucket {
constexpr auto cumulative_count = 1, upper_bound = 2;
}
namespace span {
constexpr auto offset = 1, length = 2;
}
namespace timestamp {
constexpr auto seconds = 1, nanos = 2;
}
}  // namespace proto

/// Prometheus' own clients have this one.
const double zero_threshold = std::ldexp(1.0, -128);

void add_created(pbf_writer& to, protozero::pbf_tag_type tag, std::int64_t ns) {
    constexpr std::int64_t ns_per_s = 1'000'000'000;
    pbf_writer created(to, tag);
    created.add_int64(proto::timestamp::seconds, ns / ns_per_s);
    created.add_int32(proto::timestamp::nanos, static_cast<std::int32_t>(ns % ns_per_s));
}

void add_classic(pbf_writer& to, const Histogram& value) {
    const auto ends = classic_ends(scraped_buckets);
    const auto counts = classic_counts(value, ends);
    for (std::size_t i = 0; i < ends.size(); ++i) {
        pbf_writer one(to, proto::histogram::bucket);
        one.add_uint64(proto::bucket::cumulative_count, static_cast<std::uint64_t>(counts[i]));
        one.add_double(proto::bucket::upper_bound, static_cast<double>(ends[i]) / 1e9);
    }
}

/// Buckets that follow each other are a span, whose offset is how many are missing before it; of each count the
/// difference from the one before is written.
void add_native(pbf_writer& to, const ExponentialBuckets& buckets) {
    struct Span {
        int offset = 0, length = 0;
    };
    std::vector<Span> spans;
    std::vector<std::int64_t> deltas;
    int next = 0;
    std::int64_t before = 0;
    for (const auto& [index, count] : buckets.counts) {
        const int upper = index + 1;
        if (spans.empty() || upper != next) spans.push_back({upper - next});
        ++spans.back().length;
        next = upper + 1;
        deltas.push_back(count - std::exchange(before, count));
    }
    for (const auto& [offset, length] : spans) {
        pbf_writer one(to, proto::histogram::positive_span);
        one.add_sint32(proto::span::offset, offset);
        one.add_uint32(proto::span::length, static_cast<std::uint32_t>(length));
    }
    to.add_packed_sint64(proto::histogram::positive_delta, deltas.begin(), deltas.end());
}

/// The value of a sample.
struct PrometheusSample {
    pbf_writer& to;
    const Family& family;
    const ProtobufStyle& style;

    void operator()(std::int64_t value) const { (*this)(static_cast<double>(value)); }
    void operator()(double value) const {
        const bool is_counter = family.type == Type::counter;
        pbf_writer one(to, is_counter ? proto::metric::counter : proto::metric::gauge);
        one.add_double(proto::number::value, value);
        if (is_counter) add_created(one, proto::number::created_of_counter, style.created_ns);
    }
    void operator()(const Sum& value) const {
        pbf_writer one(to, proto::metric::summary);
        one.add_uint64(proto::summary::sample_count, static_cast<std::uint64_t>(value.n));
        one.add_double(proto::summary::sample_sum, value.sum);
        add_created(one, proto::summary::created, style.created_ns);
    }
    void operator()(const Histogram& value) const {
        const auto buckets = exponential_buckets(value, style.schema);
        pbf_writer one(to, proto::metric::histogram);
        one.add_uint64(proto::histogram::sample_count, static_cast<std::uint64_t>(value.n()));
        one.add_double(proto::histogram::sample_sum, value.sum() / 1e9);
        add_classic(one, value);
        one.add_sint32(proto::histogram::schema, style.schema);
        one.add_double(proto::histogram::zero_threshold, zero_threshold);
        one.add_uint64(proto::histogram::zero_count, static_cast<std::uint64_t>(buckets.zero));
        add_native(one, buckets);
        add_created(one, proto::histogram::created, style.created_ns);
    }
};

std::int32_t type_number(Type type) {
    switch (type) {
        case Type::counter:
            return proto::metric_family::counter;
        case Type::histogram:
            return proto::metric_family::histogram;
        case Type::summary:
            return proto::metric_family::summary;
        default:
            return proto::metric_family::gauge;
    }
}

}  // namespace

std::string prometheus_protobuf(const Families& families, const ProtobufStyle& style) {
    std::string all;
    for (const auto& family : families) {
        if (family.samples.empty()) continue;
        std::string message;
        pbf_writer writer(message);
        writer.add_string(proto::metric_family::name, sample_name(family));
        writer.add_string(proto::metric_family::help, family.help);
        writer.add_enum(proto::metric_family::type, type_number(family.type));
        for (const auto& [labels, value] : family.samples) {
            pbf_writer one(writer, proto::metric_family::metric);
            for (const auto& [name, text] : labels) {
                pbf_writer label(one, proto::metric::label);
                label.add_string(proto::label_pair::name, name);
                label.add_string(proto::label_pair::value, base::printable(text));
            }
            std::visit(PrometheusSample{one, family, style}, value);
        }
        if (!family.unit.empty()) writer.add_string(proto::metric_family::unit, family.unit);
        protozero::write_varint(std::back_inserter(all), message.size());
        all += message;
    }
    return all;
}

}  // namespace stapgen::metrics
