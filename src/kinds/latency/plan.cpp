// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/latency/plan.h"

#include <algorithm>

namespace stapgen::kinds {

Plan plan_of(const decode::Schema& schema, const std::vector<std::string>& group_by,
             std::vector<MeasureName>& measures) {
    using decode::FieldType;
    Plan plan;
    plan.is_call = schema.find(decode::Attribute::depth).has_value();
    plan.direction = find_direction(schema);
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        const auto& [name, type, attribute] = schema.fields[i];
        if (type == FieldType::time && !plan.time) plan.time = i;
        if (type != FieldType::stage && type != FieldType::value) continue;
        const auto known = std::ranges::find(measures, name, &MeasureName::name);
        const auto measure = static_cast<std::size_t>(known - measures.begin());
        const bool is_stage = type == FieldType::stage, is_part = is_stage && schema::is_part(name);
        const auto place = std::count_if(measures.begin(), known, [&](const MeasureName& of) {
            return of.is_stage == is_stage && (!is_stage || !schema::is_part(of.name));
        });
        plan.slots.push_back({.field = i,
                              .measure = measure,
                              .place = static_cast<std::size_t>(place),
                              .is_stage = is_stage,
                              .divides_total = divides_total(schema.fields[i]),
                              .is_part = is_part});
        if (plan.slots.back().divides_total) {
            plan.stages.push_back(name);
        } else if (is_stage) {
            plan.total = i;
        }
        if (known == measures.end()) measures.push_back({name, is_stage});
    }
    plan.group_keys = decode::group_keys(schema, group_by);
    return plan;
}

}  // namespace stapgen::kinds
