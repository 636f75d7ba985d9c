// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/plan.h"

#include <algorithm>

namespace stapgen::analyze {

Plan plan_of(const decode::Schema& schema, const std::vector<std::string>& group_by,
             std::vector<MeasureName>& measures) {
    using decode::FieldType;
    Plan plan;
    plan.is_main = schema.index == 0;
    plan.is_call = schema.find(decode::Attribute::depth).has_value();
    plan.direction = find_direction(schema);
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        const auto& [name, type, attribute] = schema.fields[i];
        if (type == FieldType::time && !plan.time) plan.time = i;
        if ((type == FieldType::address || type == FieldType::place) && !plan.place) plan.place = i;
        if ((type == FieldType::reason || type == FieldType::reason_name) && !plan.reason) plan.reason = i;
        if (type == FieldType::stack && !plan.stack) plan.stack = i;
        if (type == FieldType::count && !plan.count) plan.count = i;
        if (type != FieldType::stage && type != FieldType::value) continue;
        const auto known = std::ranges::find(measures, name, &MeasureName::name);
        const auto measure = static_cast<std::size_t>(known - measures.begin());
        const bool is_stage = type == FieldType::stage;
        const auto place = std::count_if(measures.begin(), known, [&](auto& m) { return m.is_stage == is_stage; });
        plan.slots.push_back({i, measure, static_cast<std::size_t>(place), is_stage, is_part(schema.fields[i])});
        if (plan.slots.back().is_part) {
            plan.parts.push_back(name);
        } else if (is_stage) {
            plan.total = i;
        }
        if (known == measures.end()) measures.push_back({name, is_stage});
    }
    for (const auto& name : group_by) {
        if (const auto key = group_key(schema, name)) plan.group_keys.push_back(*key);
    }
    if (plan.group_keys.size() != group_by.size()) plan.group_keys.clear();
    return plan;
}

}  // namespace stapgen::analyze
