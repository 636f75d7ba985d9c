#include "recording/facts.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace stapgen::recording {

namespace {

using Json = nlohmann::ordered_json;  // a person reads it from left to right

constexpr std::string_view head_word = "recording\t", tail_word = "recording-end\t";

std::string as_line(std::string word, const Json& json) {
    return std::move(word) + json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Addresses are text: a JSON number of 64 bits does not survive every reader.
Json address_json(std::optional<std::uint64_t> address) {
    return address ? Json(fmt::format("{:x}", *address)) : Json();
}

/// What an object holds under a key; null where there is none.
const Json& at_key(const Json& object, const char* key) {
    static const Json null;
    if (!object.is_object()) return null;
    const auto at = object.find(key);
    return at == object.end() ? null : *at;
}

/// What an array holds. Of anything else nothing: to loop over a text gives the text.
const Json& elements(const Json& json) {
    static const Json none = Json::array();
    return json.is_array() ? json : none;
}

void take(const Json& json, std::string& into) {
    if (json.is_string()) into = json.get<std::string>();
}
void take(const Json& json, bool& into) {
    if (json.is_boolean()) into = json.get<bool>();
}
void take(const Json& json, std::int64_t& into) {
    if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) return;
    if (json.is_number_integer()) into = json.get<std::int64_t>();
}
void take(const Json& json, std::uint64_t& into) {
    if (json.is_number_unsigned()) into = json.get<std::uint64_t>();
}
void take(const Json& json, double& into) {
    if (json.is_number()) into = json.get<double>();
}
void take_address(const Json& json, std::optional<std::uint64_t>& into) {
    if (json.is_string()) into = base::to_unsigned(json.get_ref<const std::string&>(), 16);
}

template <class T>
void take(const Json& json, std::map<std::string, T>& into) {
    if (!json.is_object()) return;
    for (const auto& [key, value] : json.items())
        take(value, into[key]);
}
void take(const Json& json, std::optional<std::int64_t>& into) {
    if (json.is_number_integer()) take(json, into.emplace());
}
void take(const Json& json, std::optional<std::map<std::string, std::string>>& into) {
    if (json.is_object()) take(json, into.emplace());
}
void take(const Json& json, std::map<std::int64_t, std::string>& into) {
    if (!json.is_object()) return;
    for (const auto& [key, value] : json.items()) {
        if (const auto number = base::to_int(key)) take(value, into[*number]);
    }
}

void take(const Json& json, std::vector<std::string>& into) {
    for (const auto& element : elements(json)) {
        if (element.is_string()) into.push_back(element.get<std::string>());
    }
}
void take(const Json& json, std::vector<base::LoadedModule>& into) {
    for (const auto& element : elements(json)) {
        if (!element.is_object()) continue;
        auto& module = into.emplace_back();
        take(at_key(element, "name"), module.name);
        take_address(at_key(element, "base"), module.base);
        take(at_key(element, "size"), module.size);
    }
}
void take(const Json& json, std::vector<AddressName>& into) {
    for (const auto& element : elements(json)) {
        std::optional<std::uint64_t> address;
        take_address(at_key(element, "address"), address);
        if (!address) continue;
        auto& name = into.emplace_back();
        name.address = *address;
        take(at_key(element, "symbol"), name.symbol);
        take(at_key(element, "offset"), name.offset);
        take(at_key(element, "module"), name.module);
    }
}
void take(const Json& json, std::vector<CounterRise>& into) {
    for (const auto& element : elements(json)) {
        if (!element.is_object()) continue;
        auto& rise = into.emplace_back();
        take(at_key(element, "name"), rise.name);
        take(at_key(element, "help"), rise.help);
        take(at_key(element, "count"), rise.count);
    }
}

Json modules_json(const std::vector<base::LoadedModule>& modules) {
    auto json = Json::array();
    for (const auto& module : modules)
        json.push_back({{"name", module.name}, {"base", address_json(module.base)}, {"size", module.size}});
    return json;
}

std::optional<Json> object_of(std::string_view text) {
    auto json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    return json;
}

}  // namespace

std::string head_line(const Head& head) {
    Json json;
    json["run"] = head.run_id;
    json["part"] = head.part;
    json["lines_before"] = head.lines_before;
    json["repeated"] = head.repeated;
    json["start_epoch_ns"] = head.start_epoch_ns;
    json["recipe"] = head.recipe;
    json["command"] = head.command;
    json["parameters"] = head.parameters ? Json(*head.parameters) : Json();
    json["filters"] = head.filters;
    json["hash_of"] = head.hash_of;
    json["sha256"] = head.sha256;
    json["stapgen_version"] = head.stapgen_version;
    json["stap_version"] = head.stap_version;
    json["host"] = head.host;
    json["release"] = head.release;
    json["build_id"] = head.build_id;
    json["architecture"] = head.architecture;
    json["clocks"] = head.clocks;
    json["symbols"] = {
        {"_text", address_json(head.text)}, {"_stext", address_json(head.stext)}, {"_etext", address_json(head.etext)}};
    json["modules"] = modules_json(head.modules);
    auto& reasons = json["drop_reasons"] = Json::object();
    for (const auto& [number, name] : head.drop_reasons)
        reasons[fmt::to_string(number)] = name;
    json["counters"] = head.counters;
    return as_line(fmt::format("{}{}\t", head_word, head.version), json);
}

std::string tail_line(const Tail& tail) {
    Json json;
    json["end_epoch_ns"] = tail.end_epoch_ns;
    json["continued"] = tail.continued;
    json["lines"] = tail.lines;
    json["skipped_probes"] = tail.skipped_probes;
    if (!tail.skipped_by.empty()) json["skipped_by"] = tail.skipped_by;
    json["probe_errors"] = tail.probe_errors;
    json["transport_failures"] = tail.transport_failures;
    json["enough_buffer_mb"] = tail.enough_buffer_mb;
    json["broke_off"] = tail.broke_off;
    if (tail.measured_ns > 0) {
        json["cost"] = {{"cycles_per_s", tail.cycles_per_s}, {"measured_ns", tail.measured_ns}, {"cpus", tail.cpus}};
        if (tail.expected_hits) json["cost"]["expected_hits"] = *tail.expected_hits;
    }
    json["clock_set_ns"] = tail.clock_set_ns;
    json["suspended_ns"] = tail.suspended_ns;
    auto& rises = json["counter_rises"] = Json::array();
    for (const auto& rise : tail.counter_rises) {
        rises.push_back({{"name", rise.name}, {"help", rise.help}, {"count", rise.count ? Json(*rise.count) : Json()}});
    }
    json["counters"] = tail.counters;
    auto& addresses = json["addresses"] = Json::array();
    for (const auto& name : tail.addresses) {
        addresses.push_back({{"address", address_json(name.address)},
                             {"symbol", name.symbol},
                             {"offset", name.offset},
                             {"module", name.module}});
    }
    return as_line(std::string(tail_word), json);
}

std::optional<OwnLine> parse_own_line(std::string_view line) {
    OwnLine own;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(tail_word)) {
        own.json = line.substr(tail_word.size());
    } else if (line.starts_with(head_word)) {
        line.remove_prefix(head_word.size());
        const auto tab = line.find('\t');
        if (tab == std::string_view::npos) return std::nullopt;
        const auto version = base::to_int(line.substr(0, tab));
        if (!version || *version < 1 || *version > std::numeric_limits<int>::max()) return std::nullopt;
        own.is_head = true;
        own.version = static_cast<int>(*version);
        own.json = line.substr(tab + 1);
    }
    if (!own.json.starts_with('{')) return std::nullopt;
    return own;
}

std::optional<Head> parse_head(std::string_view text) {
    const auto json = object_of(text);
    if (!json) return std::nullopt;
    Head head;
    take(at_key(*json, "run"), head.run_id);
    take(at_key(*json, "part"), head.part);
    take(at_key(*json, "lines_before"), head.lines_before);
    take(at_key(*json, "repeated"), head.repeated);
    take(at_key(*json, "start_epoch_ns"), head.start_epoch_ns);
    take(at_key(*json, "recipe"), head.recipe);
    take(at_key(*json, "command"), head.command);
    take(at_key(*json, "parameters"), head.parameters);
    take(at_key(*json, "filters"), head.filters);
    take(at_key(*json, "hash_of"), head.hash_of);
    take(at_key(*json, "sha256"), head.sha256);
    take(at_key(*json, "stapgen_version"), head.stapgen_version);
    take(at_key(*json, "stap_version"), head.stap_version);
    take(at_key(*json, "host"), head.host);
    take(at_key(*json, "release"), head.release);
    take(at_key(*json, "build_id"), head.build_id);
    take(at_key(*json, "architecture"), head.architecture);
    take(at_key(*json, "clocks"), head.clocks);
    const auto& symbols = at_key(*json, "symbols");
    take_address(at_key(symbols, "_text"), head.text);
    take_address(at_key(symbols, "_stext"), head.stext);
    take_address(at_key(symbols, "_etext"), head.etext);
    take(at_key(*json, "modules"), head.modules);
    take(at_key(*json, "drop_reasons"), head.drop_reasons);
    take(at_key(*json, "counters"), head.counters);
    return head;
}

std::optional<Tail> parse_tail(std::string_view text) {
    const auto json = object_of(text);
    if (!json) return std::nullopt;
    Tail tail;
    take(at_key(*json, "end_epoch_ns"), tail.end_epoch_ns);
    take(at_key(*json, "continued"), tail.continued);
    take(at_key(*json, "lines"), tail.lines);
    take(at_key(*json, "skipped_probes"), tail.skipped_probes);
    take(at_key(*json, "skipped_by"), tail.skipped_by);
    take(at_key(*json, "probe_errors"), tail.probe_errors);
    take(at_key(*json, "transport_failures"), tail.transport_failures);
    take(at_key(*json, "enough_buffer_mb"), tail.enough_buffer_mb);
    take(at_key(*json, "broke_off"), tail.broke_off);
    const auto& cost = at_key(*json, "cost");
    take(at_key(cost, "cycles_per_s"), tail.cycles_per_s);
    take(at_key(cost, "measured_ns"), tail.measured_ns);
    take(at_key(cost, "cpus"), tail.cpus);
    take(at_key(cost, "expected_hits"), tail.expected_hits);
    take(at_key(*json, "clock_set_ns"), tail.clock_set_ns);
    take(at_key(*json, "suspended_ns"), tail.suspended_ns);
    take(at_key(*json, "counter_rises"), tail.counter_rises);
    take(at_key(*json, "counters"), tail.counters);
    take(at_key(*json, "addresses"), tail.addresses);
    return tail;
}

}  // namespace stapgen::recording
