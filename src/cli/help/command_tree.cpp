#include "cli/help/command_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/options/option_groups.h"

namespace stapgen::cli {

namespace {

/// Where the word for the value ends and what validators add begins: at a colon, but not at that of "DIR[:DIR...]".
std::size_t end_of_word(const std::string& type) {
    int open = 0;
    for (std::size_t at = 0; at < type.size(); ++at) {
        open += type[at] == '[' ? 1 : type[at] == ']' ? -1 : 0;
        if (type[at] == ':' && open == 0) return at;
    }
    return type.size();
}

/// What validators add to the type's name: "FORMAT:{table,json}", "N:INT in [1 - 4095]".
std::string validators_of(const CLI::Option& option) {
    const auto type = option.get_type_name();
    const auto end = end_of_word(type);
    return end == type.size() ? std::string() : type.substr(end + 1);
}

std::string between(const std::string& text, char open, char close) {
    const auto begin = text.find(open);
    const auto end = text.find(close, begin == std::string::npos ? text.size() : begin);
    return end == std::string::npos ? std::string() : text.substr(begin + 1, end - begin - 1);
}

std::string list_of(std::vector<std::string> words) {
    if (words.size() < 2) return fmt::format("{}", fmt::join(words, ""));
    const auto last = words.back();
    words.pop_back();
    return fmt::format("{} or {}", fmt::join(words, ", "), last);
}

std::string list_of(const std::set<CLI::Option*>& options) {
    std::vector<std::string> names;
    for (const auto* option : options)
        names.push_back(names_of(*option).back());
    std::ranges::sort(names);  // their places in memory decide on the order of the set
    return list_of(names);
}

bool is_help(const CLI::App& command, const CLI::Option* option) {
    return option == command.get_help_ptr() || option == command.get_help_all_ptr();
}

OptionGroup& group_named(std::vector<OptionGroup>& groups, const std::string& title) {
    const auto found = std::ranges::find(groups, title, &OptionGroup::title);
    return found == groups.end() ? groups.emplace_back(OptionGroup{title, {}}) : *found;
}

}  // namespace

std::string full_name(const CLI::App& command) {
    if (command.get_parent() == nullptr) return command.get_name();
    return full_name(*command.get_parent()) + ' ' + command.get_name();
}

std::string manual_name(const CLI::App& command) {
    const auto* parent = command.get_parent();
    if (parent == nullptr) return command.get_name();
    return parent->get_parent() == nullptr ? parent->get_name() + '-' + command.get_name() : manual_name(*parent);
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& command) {
    return command.get_subcommands([](const CLI::App* one) { return one->get_group() != groups::hidden; });
}

const CLI::App* subcommand_of(const CLI::App& command, const std::string& name) {
    const auto found = command.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; });
    return found.empty() ? nullptr : found.front();
}

Footer footer_of(const CLI::App& command) {
    constexpr std::string_view heading = "Examples:\n";
    const auto text = command.get_footer();
    Footer footer;
    const auto at = text.find(heading);
    footer.notes = text.substr(0, at);
    if (at == std::string::npos) return footer;
    for (const auto line : base::split(std::string_view(text).substr(at + heading.size()), '\n')) {
        if (const auto example = base::trim(line); !example.empty()) footer.examples.emplace_back(example);
    }
    return footer;
}

std::vector<const CLI::Option*> arguments_of(const CLI::App& command) {
    return command.get_options([](const CLI::Option* one) { return one->get_positional(); });
}

std::string usage_of(const CLI::App& command) {
    auto usage = full_name(command);
    const auto subcommands = subcommands_of(command);
    if (!subcommands.empty()) {
        const bool recipes =
            std::ranges::all_of(subcommands, [](const CLI::App* one) { return one->get_group() == groups::recipes; });
        usage += recipes ? " RECIPE" : " RECIPE|COMMAND";
    }
    usage += " [OPTIONS]";
    for (const auto* option : arguments_of(command)) {
        const auto name = shown_name(*option);
        usage += option->get_required() ? ' ' + name : fmt::format(" [{}]", name);
    }
    return usage;
}

std::vector<OptionGroup> option_groups(const CLI::App& command) {
    std::vector<OptionGroup> found;
    OptionGroup arguments{"Arguments", {}}, general{groups::general, {}};
    for (const auto* option : command.get_options()) {
        if (option->get_positional()) {
            arguments.options.push_back(option);
        } else if (is_help(command, option) || option->get_group() == groups::general) {
            general.options.push_back(option);
        } else if (option->get_group() != groups::hidden) {
            group_named(found, option->get_group()).options.push_back(option);
        }
    }
    if (!arguments.options.empty()) found.insert(found.begin(), std::move(arguments));
    found.push_back(std::move(general));
    return found;
}

std::vector<OptionGroup> all_option_groups(const CLI::App& command) {
    auto all = option_groups(command);
    auto general = std::move(all.back());
    all.pop_back();
    for (const auto* subcommand : subcommands_of(command)) {
        for (const auto& [title, options] : option_groups(*subcommand)) {
            if (title == groups::general) continue;
            auto& known = group_named(all, title).options;
            for (const auto* option : options) {
                const auto is_the_same = [&](const CLI::Option* other) {
                    return shown_name(*other) == shown_name(*option);
                };
                if (std::ranges::none_of(known, is_the_same)) known.push_back(option);
            }
        }
    }
    all.push_back(std::move(general));
    return all;
}

std::vector<std::string> names_of(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const auto& name : option.get_snames())
        names.push_back("-" + name);
    for (const auto& name : option.get_lnames())
        names.push_back("--" + name);
    return names;
}

std::string shown_name(const CLI::Option& option) {
    if (option.get_positional()) return base::upper(option.get_name(true)) + (is_repeatable(option) ? "..." : "");
    const auto value = value_word(option);
    return fmt::format("{}{}{}", fmt::join(names_of(option), ", "), value.empty() ? "" : " ", value);
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

bool is_repeatable(const CLI::Option& option) {
    return option.get_expected_max() > 1;
}

std::string value_word(const CLI::Option& option) {
    if (!takes_value(option)) return {};
    const auto type = option.get_type_name();
    return type.substr(0, end_of_word(type));
}

std::vector<std::string> choices_of(const CLI::Option& option) {
    std::vector<std::string> choices;
    const auto list = between(validators_of(option), '{', '}');
    if (list.empty()) return choices;
    for (const auto choice : base::split(list, ','))
        choices.emplace_back(choice);
    return choices;
}

std::string range_of(const CLI::Option& option) {
    if (validators_of(option) == "POSITIVE") return "1 or more";  // CLI::PositiveNumber
    auto range = between(validators_of(option), '[', ']');
    if (const auto dash = range.find(" - "); dash != std::string::npos) range.replace(dash, 3, " to ");
    return range;
}

std::string text_of(const CLI::Option& option, bool whole) {
    const auto description = option.get_description();
    auto text = whole ? description : description.substr(0, description.find(';'));
    if (const auto choices = choices_of(option); !choices.empty()) {
        const auto end = std::min(text.find(';'), text.size());
        text.insert(end, ": " + list_of(choices));
    }
    std::vector<std::string> remarks;
    if (option.get_required() && !option.get_positional()) remarks.emplace_back("required");
    if (const auto range = range_of(option); !range.empty()) remarks.push_back(range);
    if (const auto value = option.get_default_str(); !value.empty()) remarks.push_back("default " + value);
    if (whole) {
        if (!option.get_envname().empty()) remarks.push_back("or $" + option.get_envname());
        if (is_repeatable(option) && !option.get_positional()) remarks.emplace_back("may be given again");
        if (!option.get_needs().empty()) remarks.push_back("with " + list_of(option.get_needs()));
        if (!option.get_excludes().empty()) remarks.push_back("not with " + list_of(option.get_excludes()));
    }
    if (!remarks.empty()) text += fmt::format(" ({})", fmt::join(remarks, "; "));
    return text;
}

}  // namespace stapgen::cli
