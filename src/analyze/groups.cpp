#include "analyze/groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace stapgen::analyze {

namespace {

std::int64_t size_of(const Groups::Part& part) {
    std::int64_t size = 0;
    for (const auto& measure : part.measures)
        size = std::max(size, measure.n());
    return size;
}

void add_part(Groups::Part& into, const Groups::Part& from) {
    if (into.measures.size() < from.measures.size()) into.measures.resize(from.measures.size());
    for (std::size_t i = 0; i < from.measures.size(); ++i)
        into.measures[i] += from.measures[i];
}

}  // namespace

std::optional<GroupKey> group_key(const decode::Schema& schema, std::string_view name) {
    if (const auto field = schema.find(name)) return GroupKey{*field, false};
    const auto local = schema.find("local");
    if (name == "port" && local && schema.fields[*local].type == decode::FieldType::endpoint)
        return GroupKey{*local, true};
    return std::nullopt;
}

base::Result<void> check_group_keys(const decode::Header& header, const std::vector<std::string>& group_by) {
    const auto& schema = header.schemas.front();
    std::vector<std::string> names;
    for (const auto& field : schema.fields)
        names.push_back(field.name);
    if (!schema.find("port") && group_key(schema, "port")) names.emplace_back("port");
    for (const auto& name : group_by) {
        if (group_key(schema, name)) continue;
        const auto near = base::did_you_mean(name, names);
        return base::bad_input(
            fmt::format("the records of {} have no field '{}' to group by", base::printable(header.recipe),
                        base::printable(name)),
            near ? fmt::format("did you mean '{}'?", *near) : fmt::format("they have {}", fmt::join(names, ", ")));
    }
    return {};
}

std::string_view key_text(const decode::Record& record, const GroupKey& key) {
    const auto raw = record.values[key.field].raw;
    return key.port_only ? raw.substr(raw.rfind(':') + 1) : raw;
}

GroupField group_field(const decode::Record& record, const GroupKey& key) {
    using decode::FieldType;
    const auto& field = record.schema->fields[key.field];
    const auto& value = record.values[key.field];
    if (key.port_only) return {"port", base::to_int(key_text(record, key)).value_or(0)};
    if (field.type == FieldType::text) return {field.name, decode::unescape(value.raw)};
    if (field.type == FieldType::endpoint || field.type == FieldType::ip)
        return {field.name, decode::endpoint_text(value.raw)};
    if (field.type == FieldType::address) return {field.name, fmt::format("0x{:x}", value.address())};
    if (!value.seen) return {field.name, std::string("-")};
    return {field.name, value.number};
}

Group group_of(const decode::Record& record, const std::vector<GroupKey>& keys) {
    Group group;
    for (const auto& key : keys)
        group.push_back(group_field(record, key));
    return group;
}

Groups::Part& Groups::other() {
    if (!other_) other_ = Part{{GroupField{"other", true}}, {}};
    return *other_;
}

Groups::Part& Groups::part_with(std::string_view key, const Group& group) {
    if (const auto found = parts_.find(key); found != parts_.end()) return found->second;
    if (parts_.size() >= max_groups_) return other();
    return parts_.emplace(std::string(key), Part{group, {}}).first->second;
}

std::string_view Groups::joined(const decode::Record& record, const std::vector<GroupKey>& keys) {
    const auto first = key_text(record, keys.front());
    auto last = first;
    std::size_t neighbours = 1;
    for (; neighbours < keys.size(); ++neighbours) {
        const auto next = key_text(record, keys[neighbours]);
        if (last.data() + last.size() + 1 != next.data() || next.data()[-1] != '\t') break;
        last = next;
    }
    if (neighbours == keys.size()) return {first.data(), last.data() + last.size()};
    key_.clear();
    for (const auto& key : keys) {
        if (&key != &keys.front()) key_ += '\t';
        key_ += key_text(record, key);
    }
    return key_;
}

Groups::Part& Groups::part_of(const decode::Record& record, const std::vector<GroupKey>& keys) {
    if (keys.empty()) return ungrouped_;
    const auto key = joined(record, keys);
    auto& recent = recent_[recent_place(key)];
    if (recent.value != nullptr && recent.key == key) return *recent.value;
    auto found = parts_.find(key);
    if (found == parts_.end()) {
        if (parts_.size() >= max_groups_) return other();
        found = parts_.emplace(std::string(key), Part{group_of(record, keys), {}}).first;
    }
    recent = {found->first, &found->second};
    return found->second;
}

Groups& Groups::operator+=(const Groups& from) {
    add_part(ungrouped_, from.ungrouped_);
    for (const auto& [key, part] : from.parts_)
        add_part(part_with(key, part.group), part);
    if (from.other_) add_part(other(), *from.other_);
    return *this;
}

Groups::Part Groups::whole() const {
    Part whole = ungrouped_;
    for (const auto& [key, part] : parts_)
        add_part(whole, part);
    if (other_) add_part(whole, *other_);
    return whole;
}

std::vector<const Groups::Part*> Groups::in_order() const {
    std::vector<std::pair<std::int64_t, const Part*>> sizes;
    for (const auto& [key, part] : parts_)
        sizes.emplace_back(-size_of(part), &part);
    std::ranges::sort(sizes, {}, [](const auto& of) { return std::tie(of.first, of.second->group); });
    std::vector<const Part*> order;
    for (const auto& [size, part] : sizes)
        order.push_back(part);
    if (other_) order.push_back(&*other_);
    return order;
}

}  // namespace stapgen::analyze
