// SPDX-License-Identifier: GPL-2.0-or-later
#include "metrics/otlp.h"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <vector>

#include "base/text.h"
#include "metrics/buckets.h"

namespace stapgen::metrics {

namespace {

using protozero::pbf_writer;

/// Numbers of the fields, and of values, as OpenTelemetry's .proto files give them.
namespace otlp {
namespace request {
constexpr auto resource_metrics = 1;
}
namespace resource_metrics {
constexpr auto resource = 1, scope_metrics = 2;
}
namespace resource {
constexpr auto attributes = 1;
}
namespace scope_metrics {
constexpr auto scope = 1, metrics = 2;
}
namespace scope {
constexpr auto name = 1, version = 2;
}
namespace metric {
constexpr auto name = 1, description = 2, unit = 3, gauge = 5, sum = 7, exponential_histogram = 10, summary = 11;
}
namespace data {
constexpr auto points = 1, temporality = 2, is_monotonic = 3;
constexpr auto cumulative = 2;
}  // namespace data
namespace point {
constexpr auto start_time = 2, time = 3, count = 4, sum = 5;
}
namespace number_point {
constexpr auto as_double = 4, as_int = 6, attributes = 7;
}
namespace summary_point {
constexpr auto attributes = 7;
}
namespace exponential_point {
constexpr auto attributes = 1, scale = 6, zero_count = 7, positive = 8, min = 12, max = 13;
}
namespace buckets {
constexpr auto offset = 1, counts = 2;
}
namespace key_value {
constexpr auto key = 1, value = 2, string_value = 1;
}
namespace response {
constexpr auto partial_success = 1, rejected_points = 1, message = 2;
}
}  // namespace otlp

void add_attributes(pbf_writer& to, protozero::pbf_tag_type tag, const Labels& labels) {
    for (const auto& [name, text] : labels) {
        pbf_writer one(to, tag);
        one.add_string(otlp::key_value::key, name);
        pbf_writer value(one, otlp::key_value::value);
        value.add_string(otlp::key_value::string_value, base::printable(text));
    }
}

void add_times(pbf_writer& to, const OtlpOrigin& origin) {
    to.add_fixed64(otlp::point::start_time, static_cast<std::uint64_t>(origin.start_ns));
    to.add_fixed64(otlp::point::time, static_cast<std::uint64_t>(origin.now_ns));
}

/// A sample as a data point.
struct OtlpPoint {
    pbf_writer& points;
    const Labels& labels;
    const OtlpOrigin& origin;

    void operator()(std::int64_t value) const {
        pbf_writer one(points, otlp::data::points);
        add_times(one, origin);
        one.add_sfixed64(otlp::number_point::as_int, value);
        add_attributes(one, otlp::number_point::attributes, labels);
    }
    void operator()(double value) const {
        pbf_writer one(points, otlp::data::points);
        add_times(one, origin);
        one.add_double(otlp::number_point::as_double, value);
        add_attributes(one, otlp::number_point::attributes, labels);
    }
    void operator()(const Sum& value) const {
        pbf_writer one(points, otlp::data::points);
        add_times(one, origin);
        one.add_fixed64(otlp::point::count, static_cast<std::uint64_t>(value.n));
        one.add_double(otlp::point::sum, value.sum);
        add_attributes(one, otlp::summary_point::attributes, labels);
    }
    void operator()(const Histogram& value) const {
        const auto exponential = exponential_buckets(value, otlp_scale);
        pbf_writer one(points, otlp::data::points);
        add_attributes(one, otlp::exponential_point::attributes, labels);
        add_times(one, origin);
        one.add_fixed64(otlp::point::count, static_cast<std::uint64_t>(value.n()));
        one.add_double(otlp::point::sum, value.sum() / 1e9);
        one.add_sint32(otlp::exponential_point::scale, otlp_scale);
        one.add_fixed64(otlp::exponential_point::zero_count, static_cast<std::uint64_t>(exponential.zero));
        if (!exponential.counts.empty()) {
            const int first = exponential.counts.begin()->first;
            std::vector<std::uint64_t> counts(static_cast<std::size_t>(exponential.counts.rbegin()->first - first) + 1);
            for (const auto& [index, count] : exponential.counts)
                counts[static_cast<std::size_t>(index - first)] = static_cast<std::uint64_t>(count);
            pbf_writer positive(one, otlp::exponential_point::positive);
            positive.add_sint32(otlp::buckets::offset, first);
            positive.add_packed_uint64(otlp::buckets::counts, counts.begin(), counts.end());
        }
        if (value.min()) one.add_double(otlp::exponential_point::min, static_cast<double>(*value.min()) / 1e9);
        if (value.max()) one.add_double(otlp::exponential_point::max, static_cast<double>(*value.max()) / 1e9);
    }
};

protozero::pbf_tag_type data_field_of(Type type) {
    switch (type) {
        case Type::counter:
            return otlp::metric::sum;
        case Type::histogram:
            return otlp::metric::exponential_histogram;
        case Type::summary:
            return otlp::metric::summary;
        default:
            return otlp::metric::gauge;
    }
}

void add_family(pbf_writer& to, const Family& family, const OtlpOrigin& origin) {
    pbf_writer one(to, otlp::scope_metrics::metrics);
    // As Prometheus has it: what reads the one reads the other.
    one.add_string(otlp::metric::name, sample_name(family));
    one.add_string(otlp::metric::description, family.help);
    if (!family.unit.empty()) one.add_string(otlp::metric::unit, family.unit == "seconds" ? "s" : "By");
    const bool is_counter = family.type == Type::counter, is_histogram = family.type == Type::histogram;
    pbf_writer points(one, data_field_of(family.type));
    for (const auto& [labels, value] : family.samples)
        std::visit(OtlpPoint{points, labels, origin}, value);
    if (is_counter || is_histogram) points.add_enum(otlp::data::temporality, otlp::data::cumulative);
    if (is_counter) points.add_bool(otlp::data::is_monotonic, true);
}

}  // namespace

std::string otlp_request(const Families& families, const OtlpOrigin& origin) {
    std::string message;
    pbf_writer writer(message);
    pbf_writer all(writer, otlp::request::resource_metrics);
    {
        pbf_writer sender(all, otlp::resource_metrics::resource);
        add_attributes(sender, otlp::resource::attributes, origin.resource);
    }
    pbf_writer scoped(all, otlp::resource_metrics::scope_metrics);
    {
        pbf_writer own(scoped, otlp::scope_metrics::scope);
        own.add_string(otlp::scope::name, "stapgen");
        own.add_string(otlp::scope::version, origin.version);
    }
    for (const auto& family : families) {
        if (!family.samples.empty()) add_family(scoped, family, origin);
    }
    scoped.commit();
    all.commit();
    return message;
}

OtlpRejection parse_otlp_response(std::string_view text) {
    OtlpRejection rejection;
    try {
        protozero::pbf_reader reader(text.data(), text.size());
        while (reader.next(otlp::response::partial_success)) {
            auto partial = reader.get_message();
            while (partial.next()) {
                if (partial.tag() == otlp::response::rejected_points) {
                    rejection.points = partial.get_int64();
                } else if (partial.tag() == otlp::response::message) {
                    rejection.why = partial.get_string();
                } else {
                    partial.skip();
                }
            }
        }
    } catch (const protozero::exception&) {
        // An answer that is no such message, as an empty page or JSON, says nothing.
    }
    return rejection;
}

}  // namespace stapgen::metrics
