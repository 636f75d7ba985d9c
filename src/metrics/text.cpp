// SPDX-License-Identifier: GPL-2.0-or-later
#include "metrics/text.h"

#include <fmt/format.h>

#include <string>

#include "base/text.h"

namespace stapgen::metrics {

namespace {

/// `a="b",c="d"`, with control characters and what is no UTF-8 as \xNN.
std::string labels_text(const Labels& labels) {
    std::string text;
    for (const auto& [name, value] : labels) {
        text += (text.empty() ? "" : ",") + name + "=\"";
        for (const char c : base::printable(value)) {
            if (c == '\\' || c == '"') text += '\\';
            text += c;
        }
        text += '"';
    }
    return text;
}

std::string_view type_text(const Family& family, const TextStyle& style) {
    switch (family.type) {
        case Type::counter:
            return "counter";
        case Type::histogram:
            return "histogram";
        case Type::summary:
            return "summary";
        case Type::info:
            return style.openmetrics ? "info" : "gauge";
        case Type::stateset:
            return style.openmetrics ? "stateset" : "gauge";
        case Type::gauge:
            break;
    }
    return "gauge";
}

/// The lines of a sample. `name` is the family's.
class SampleWriter {
  public:
    SampleWriter(std::ostream& out, const Family& family, const TextStyle& style, std::string labels)
        : out_(out), family_(family), style_(style), labels_(std::move(labels)) {}

    void operator()(std::int64_t value) const { write(sample_name(family_), value); }
    void operator()(double value) const { write(sample_name(family_), value); }
    void operator()(const Sum& value) const {
        write(family_.name + "_sum", value.sum);
        write(family_.name + "_count", value.n);
    }
    void operator()(const Histogram& value) const {
        const auto ends = classic_ends(style_.buckets);
        const auto counts = classic_counts(value, ends);
        const auto before_le = labels_.empty() ? "" : labels_ + ",";
        for (std::size_t i = 0; i < ends.size(); ++i) {
            out_ << fmt::format("{}_bucket{{{}le=\"{}\"}} {}\n", family_.name, before_le,
                                static_cast<double>(ends[i]) / 1e9, counts[i]);
        }
        out_ << fmt::format("{}_bucket{{{}le=\"+Inf\"}} {}\n", family_.name, before_le, value.n());
        (*this)(Sum{value.n(), value.sum() / 1e9});
    }

    void write(const std::string& name, const auto& value) const {
        out_ << (labels_.empty() ? fmt::format("{} {}\n", name, value)
                                 : fmt::format("{}{{{}}} {}\n", name, labels_, value));
    }

  private:
    std::ostream& out_;
    const Family& family_;
    const TextStyle& style_;
    std::string labels_;
};

}  // namespace

void write_text(std::ostream& out, const Families& families, const TextStyle& style) {
    for (const auto& family : families) {
        if (family.samples.empty()) continue;
        const auto name = style.openmetrics ? family.name : sample_name(family);
        out << "# TYPE " << name << ' ' << type_text(family, style) << '\n';
        if (style.openmetrics && !family.unit.empty()) out << "# UNIT " << name << ' ' << family.unit << '\n';
        out << "# HELP " << name << ' ' << family.help << '\n';
        const bool has_created =
            style.openmetrics && style.created_s &&
            (family.type == Type::counter || family.type == Type::histogram || family.type == Type::summary);
        for (const auto& [labels, value] : family.samples) {
            const SampleWriter sample(out, family, style, labels_text(labels));
            std::visit(sample, value);
            if (has_created) sample.write(family.name + "_created", fmt::format("{:.3f}", *style.created_s));
        }
    }
    if (style.openmetrics) out << "# EOF\n";
}

}  // namespace stapgen::metrics
