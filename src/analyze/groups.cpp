#include "analyze/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stapgen::analyze {

namespace {

GroupField group_field(const decode::Field& field, const decode::Value& value) {
    using decode::FieldType;
    if (field.type == FieldType::text) return {field.name, decode::unescape(value.raw)};
    if (field.type == FieldType::address) return {field.name, fmt::format("0x{:x}", value.address())};
    if (!value.seen) return {field.name, std::string("-")};
    return {field.name, value.number};
}

std::int64_t size_of(const Groups::Part& part) {
    std::int64_t size = 0;
    for (const auto& measure : part.measures)
        size = std::max(size, measure.n());
    return size;
}

void add_up(Groups::Part& into, const Groups::Part& from) {
    if (into.measures.size() < from.measures.size()) into.measures.resize(from.measures.size());
    for (std::size_t i = 0; i < from.measures.size(); ++i)
        into.measures[i] += from.measures[i];
}

}  // namespace

void Groups::Part::add(std::size_t measure, std::int64_t value) {
    if (measure >= measures.size()) measures.resize(measure + 1);
    measures[measure].add(value);
}

Groups::Part& Groups::other() {
    if (!other_) other_ = Part{{GroupField{"other", true}}, {}};
    return *other_;
}

Groups::Part& Groups::part_with(std::string_view key, const Group& group) {
    const auto found = parts_.find(key);
    if (found != parts_.end()) return found->second;
    if (parts_.size() >= max_groups_) return other();
    return parts_.emplace(std::string(key), Part{group, {}}).first->second;
}

Groups::Part& Groups::part_of(const decode::Record& record, const std::vector<std::size_t>& fields) {
    key_.clear();
    for (const auto field : fields) {
        key_ += record.values[field].raw;
        key_ += '\t';
    }
    const auto found = parts_.find(std::string_view(key_));
    if (found != parts_.end()) return found->second;
    Group group;
    for (const auto field : fields) {
        group.push_back(group_field(record.schema->fields[field], record.values[field]));
    }
    return part_with(key_, group);
}

Groups& Groups::operator+=(const Groups& from) {
    add_up(whole_, from.whole_);
    for (const auto& [key, part] : from.parts_)
        add_up(part_with(key, part.group), part);
    if (from.other_) add_up(other(), *from.other_);
    return *this;
}

std::vector<const Groups::Part*> Groups::in_order() const {
    std::vector<std::pair<std::int64_t, const std::string*>> sizes;
    for (const auto& [key, part] : parts_)
        sizes.emplace_back(-size_of(part), &key);
    std::ranges::sort(sizes, [](const auto& a, const auto& b) {
        return std::pair<std::int64_t, std::string_view>(a.first, *a.second) <
               std::pair<std::int64_t, std::string_view>(b.first, *b.second);
    });
    std::vector<const Part*> order{&whole_};
    for (const auto& [size, key] : sizes)
        order.push_back(&parts_.find(*key)->second);
    if (other_) order.push_back(&*other_);
    return order;
}

}  // namespace stapgen::analyze
