// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/facts.h"

#include <fmt/format.h>

#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/json_text.h"
#include "base/text.h"
#include "recording/identity.h"

namespace stapgen::recording {

namespace {

using Json = nlohmann::ordered_json;  // a person reads it from left to right

constexpr std::string_view header_word = "recording\t", trailer_word = "recording-end\t";

template <class T, class Of>
concept is = std::same_as<std::remove_const_t<T>, Of>;

// What is written under which key, and read from it: `io` does the one or the other.

void keys(auto& io, is<base::LoadedModule> auto& module) {
    io("name", module.name);
    io("base", module.base);
    io("size", module.size);
}

void keys(auto& io, is<Counter> auto& counter) {
    io("name", counter.name);
    io("help", counter.help);
    io("count", counter.count);
}

void keys(auto& io, is<AddressName> auto& name) {
    io("address", name.address);
    io("symbol", name.symbol);
    io("offset", name.offset);
    io("module", name.module);
}

void keys(auto& io, is<CodeName> auto& name) {
    io("pid", name.pid);
    io("address", name.address);
    io("symbol", name.symbol);
    io("offset", name.offset);
    io("file", name.file);
    io("build_id", name.build_id);
    io("place", name.place);
    io("after_call", name.after_call);
}

void keys(auto& io, is<Header> auto& header) {
    io("run", header.run_id);
    io("part", header.part);
    io("lines_before", header.lines_before);
    io("repeated", header.repeated);
    io("start_epoch_ns", header.start_epoch_ns);
    auto& setup = header.setup;
    io("recipe", setup.recipe);
    io("command", setup.command);
    io("parameters", setup.parameters);
    io("filters", setup.filters);
    io("recipe_hash", setup.recipe_hash);
    io("functions", setup.functions);
    io("definition", setup.definition);
    io("hash_of", setup.hash_of);
    io("sha256", setup.sha256);
    io("stapgen_version", setup.stapgen_version);
    io("stap_version", setup.stap_version);
    io("host", setup.host);
    io("machine", setup.machine);
    io("labels", setup.labels);
    auto& kernel = setup.kernel;
    io("release", kernel.release);
    io("build_id", kernel.build_id);
    io("architecture", kernel.architecture);
    io("clocks", setup.clocks);
    io.object("symbols", [&](auto symbols) {
        symbols("_text", kernel.text);
        symbols("_stext", kernel.stext);
        symbols("_etext", kernel.etext);
    });
    io("modules", kernel.modules);
    io("drop_reasons", setup.drop_reasons);
    io("counters", setup.counters);
    io("group_names", setup.group_names, !setup.group_names.empty());
    const auto kept = [&](auto of) {
        of("condition", setup.kept.condition);
        of("value", setup.kept.value);
        of("at_epoch_ns", setup.kept.at_epoch_ns);
        of("before_ns", setup.kept.before_ns);
        of("after_ns", setup.kept.after_ns);
        of("unkept", setup.kept.unkept);
        of("moment", setup.kept.moment, setup.kept.moment != 0);
    };
    io.object("kept", kept, !setup.kept.condition.empty());
}

void keys(auto& io, is<Trailer> auto& trailer) {
    io("end_epoch_ns", trailer.end_epoch_ns);
    io("continued", trailer.continued);
    io("lines", trailer.lines);
    auto& outcome = trailer.outcome;
    auto& transport = outcome.transport;
    io("skipped_probes", transport.skipped_probes);
    io("skipped_by", transport.skipped_by, !transport.skipped_by.empty());
    io("probe_errors", transport.probe_errors);
    io("transport_failures", transport.transport_failures);
    io("enough_buffer_mb", transport.enough_buffer_mb);
    io("broke_off", outcome.broke_off);
    auto& clock = outcome.clock;
    const auto cost = [&](auto values) {
        values("cycles_per_s", clock.cycles_per_s);
        values("measured_ns", clock.measured_ns);
        values("cpus", clock.cpus);
        values("expected_hits", clock.expected_hits, clock.expected_hits.has_value());
    };
    io.object("cost", cost, clock.measured_ns > 0);
    io("clock_set_ns", outcome.clock_set_ns);
    io("suspended_ns", outcome.suspended_ns);
    io("counter_rises", outcome.counters);
    io("counters", outcome.net_counters);
    io("addresses", outcome.addresses);
    io("group_names", outcome.group_names, !outcome.group_names.empty());
    io("code", outcome.code, !outcome.code.empty());
    io("kept_since_epoch_ns", outcome.kept_since_epoch_ns, outcome.kept_since_epoch_ns > 0);
}

/// Writes. `known`: else the key is left out.
class FieldWriter {
  public:
    explicit FieldWriter(Json& json) : json_(json) {}
    void operator()(const char* key, const auto& value, bool known = true) {
        if (known) json_[key] = json_of(value);
    }
    void object(const char* key, const auto& values, bool known = true) {
        if (known) values(FieldWriter(json_[key]));
    }

  private:
    static Json json_of(const auto& value) { return value; }
    /// Addresses are text: a JSON number of 64 bits does not survive every reader.
    static Json json_of(const std::optional<std::uint64_t>& address) {
        return address ? Json(fmt::format("{:x}", *address)) : Json();
    }
    template <class T>
    static Json json_of(const std::optional<T>& value) {
        return value ? Json(*value) : Json();
    }
    static Json json_of(const std::map<std::int64_t, std::string>& names) {
        auto json = Json::object();
        for (const auto& [number, name] : names)
            json[fmt::to_string(number)] = name;
        return json;
    }
    static Json json_of(const std::vector<Cause>& causes) {
        auto json = Json::object();
        for (const auto& [name, count] : causes)
            json[name] = count;
        return json;
    }
    static Json json_of(const std::vector<std::string>& texts) { return texts; }
    template <class T>
    static Json json_of(const std::vector<T>& elements) {
        auto json = Json::array();
        for (const auto& element : elements) {
            FieldWriter fields(json.emplace_back());
            keys(fields, element);
        }
        return json;
    }

    Json& json_;
};

/// Reads; leaves alone what is not there, or is of another type.
class Take {
  public:
    using Json = nlohmann::json;
    explicit Take(const Json& json) : json_(json) {}
    void operator()(const char* key, auto& into, bool = true) { take(at(key), into); }
    void object(const char* key, const auto& values, bool = true) { values(Take(at(key))); }

  private:
    [[nodiscard]] const Json& at(const char* key) const {
        static const Json null;
        if (!json_.is_object()) return null;
        const auto found = json_.find(key);
        return found == json_.end() ? null : *found;
    }

    static void take(const Json& json, std::string& into) {
        if (json.is_string()) into = json.get<std::string>();
    }
    static void take(const Json& json, bool& into) {
        if (json.is_boolean()) into = json.get<bool>();
    }
    static void take(const Json& json, std::int64_t& into) {
        if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) return;
        if (json.is_number_integer()) into = json.get<std::int64_t>();
    }
    static void take(const Json& json, std::uint64_t& into) {
        if (json.is_number_unsigned()) into = json.get<std::uint64_t>();
    }
    static void take(const Json& json, double& into) {
        if (json.is_number()) into = json.get<double>();
    }
    static void take(const Json& json, std::optional<std::uint64_t>& address) {
        if (json.is_string()) address = base::to_unsigned(json.get_ref<const std::string&>(), 16);
    }
    static void take(const Json& json, std::optional<std::int64_t>& into) {
        if (json.is_number_integer()) take(json, into.emplace());
    }
    static void take(const Json& json, std::optional<std::map<std::string, std::string>>& into) {
        if (json.is_object()) take(json, into.emplace());
    }

    // To loop over a text gives the text.
    template <class T>
    static void take(const Json& json, std::map<std::string, T>& into) {
        if (!json.is_object()) return;
        for (const auto& [key, value] : json.items())
            take(value, into[key]);
    }
    static void take(const Json& json, std::map<std::int64_t, std::string>& into) {
        if (!json.is_object()) return;
        for (const auto& [key, value] : json.items()) {
            if (const auto number = base::to_int(key)) take(value, into[*number]);
        }
    }
    static void take(const Json& json, std::vector<Cause>& into) {
        if (!json.is_object()) return;
        for (const auto& [name, count] : json.items())
            take(count, into.emplace_back(Cause{name}).count);
    }
    static void take(const Json& json, std::vector<std::string>& into) {
        if (!json.is_array()) return;
        for (const auto& element : json) {
            if (element.is_string()) into.push_back(element.get<std::string>());
        }
    }
    template <class T>
    static void take(const Json& json, std::vector<T>& into) {
        if (!json.is_array()) return;
        for (const auto& element : json) {
            if (!element.is_object()) continue;
            Take fields(element);
            keys(fields, into.emplace_back());
        }
        if constexpr (requires(T name) { name.address; })
            std::erase_if(into, [](const T& name) { return !name.address; });
    }

    const Json& json_;
};

std::string line_of(std::string word, const auto& facts) {
    Json json;
    FieldWriter fields(json);
    keys(fields, facts);
    return std::move(word) + json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <class T>
std::optional<T> read(std::string_view text) {
    const auto json = base::parse_json(text);
    if (!json || !json->is_object()) return std::nullopt;
    T facts;
    Take fields(*json);
    keys(fields, facts);
    return facts;
}

}  // namespace

Origin Setup::origin() const {
    return {host,       kernel.release, command,  filters, machine, labels, kernel.build_id, sample_of(filters),
            definition, recipe_hash,    functions};
}

std::string header_line(const Header& header) {
    return line_of(fmt::format("{}{}\t", header_word, header.version), header);
}

std::string trailer_line(const Trailer& trailer) {
    return line_of(std::string(trailer_word), trailer);
}

std::optional<OwnLine> parse_own_line(std::string_view line) {
    OwnLine own;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(trailer_word)) {
        own.json = line.substr(trailer_word.size());
    } else if (line.starts_with(header_word)) {
        line.remove_prefix(header_word.size());
        const auto tab = line.find('\t');
        if (tab == std::string_view::npos) return std::nullopt;
        const auto version = base::to_int(line.substr(0, tab));
        if (!version || *version < 1 || *version > std::numeric_limits<int>::max()) return std::nullopt;
        own.is_header = true;
        own.version = static_cast<int>(*version);
        own.json = line.substr(tab + 1);
    }
    if (!own.json.starts_with('{')) return std::nullopt;
    return own;
}

std::optional<Header> parse_header(std::string_view json) {
    auto header = read<Header>(json);
    // A text that is no build-id is not asked for, compared or written.
    if (header && !base::is_build_id(header->setup.kernel.build_id)) header->setup.kernel.build_id.clear();
    return header;
}

std::optional<Trailer> parse_trailer(std::string_view json) {
    return read<Trailer>(json);
}

}  // namespace stapgen::recording
