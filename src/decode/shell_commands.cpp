// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/shell_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/text.h"

namespace stapgen::decode {

namespace {

using ShellWords = std::vector<std::string>;

constexpr std::size_t max_command_line = 2048, max_commands = 64, max_rounds = 64, max_nested = 8, max_value = 64,
                      max_shell_word = 256;

/// The words that run the command behind them.
constexpr std::string_view runners = "watch time timeout nice ionice nohup exec command env stdbuf unbuffer";
/// The words before a command of a compound one.
constexpr std::string_view keywords = "do then else if elif ! {";
constexpr std::string_view shells = "sh bash zsh ksh ash dash";
/// The words that a line without a prompt may begin with, beside wrappers.
constexpr std::string_view programs =
    "nstat netstat sar ip ifconfig tc conntrack ss ethtool cat grep egrep head tail sleep date echo true hostname "
    "uname cd sync for while until ansible";

/// A program that runs a command somewhere else: its words, between which options may be; what the name behind it is of
/// (empty: there is none); options that have a value.
struct ShellWrapper {
    std::string_view words, kind, valued;
};
constexpr std::string_view container_options =
    "-u --user -e --env -w --workdir --env-file --detach-keys -H --host --context -f --file -p --project-name --index";
constexpr std::string_view pod_options =
    "-n --namespace -c --container --context --kubeconfig -f --filename --cluster --user --as --request-timeout";
constexpr ShellWrapper wrappers[]{{"ip netns exec", "netns", ""},
                                  {"ip vrf exec", "vrf", ""},
                                  {"docker exec", "container", container_options},
                                  {"podman exec", "container", container_options},
                                  {"nerdctl exec", "container", container_options},
                                  {"docker compose exec", "container", container_options},
                                  {"docker-compose exec", "container", container_options},
                                  {"crictl exec", "container", "-r --runtime-endpoint -i --image-endpoint"},
                                  {"lxc exec", "container", "--cwd --env --user --group"},
                                  {"incus exec", "container", "--cwd --env --user --group"},
                                  {"kubectl exec", "pod", pod_options},
                                  {"oc exec", "pod", pod_options},
                                  {"oc rsh", "pod", pod_options},
                                  {"oc debug", "", pod_options},
                                  {"kubectl debug", "", pod_options},
                                  {"ssh", "host", "-p -i -l -o -F -J -L -R -D -b -c -e -m -O -Q -S -W -w -E -I -B"},
                                  {"nsenter", "", "-t --target -S --setuid -G --setgid"},
                                  {"chroot", "", ""},
                                  {"sudo", "", "-u -g -h -p -C -r -t -U"},
                                  {"doas", "", "-u -C"},
                                  {"pdsh", "", "-w -x -l -t -u -f -R -g"},
                                  {"clush", "", "-w -bw -x -l -t -u -f -g -bg"}};

/// A part of a line up to the next ";", "&&" or "||". Its words end at a pipe.
struct ShellPart {
    ShellWords words;
    std::string filter;  ///< "| grep drop"
};

/// Takes a line apart as a shell does. Nothing: a quote or bracket is open, as in prose.
class ShellLexer {
  public:
    explicit ShellLexer(std::string_view line) : line_(line) {}

    std::optional<std::vector<ShellPart>> parts() {
        while (at_ < line_.size()) {
            const char c = line_[at_];
            if (c == '#' && !has_word_) break;
            if (!(c == '\'' || c == '"' ? quoted(c) : c == '`' || rest().starts_with("$(") ? substituted() : sign(c)))
                return std::nullopt;
        }
        end_part();
        return std::move(parts_);
    }

  private:
    [[nodiscard]] std::string_view rest() const { return line_.substr(at_); }

    void put(std::string_view text) {
        if (!is_filter_) word_ += text;
        has_word_ = true;
    }
    void end_word() {
        if (has_word_ && !is_filter_) words_.push_back(std::move(word_));
        word_.clear();
        has_word_ = false;
    }
    void end_part() {
        end_word();
        const auto filter = is_filter_ ? base::trim(line_.substr(filter_, at_ - filter_)) : std::string_view();
        if (!words_.empty()) parts_.push_back({std::exchange(words_, {}), std::string(filter)});
        is_filter_ = false;
    }

    bool quoted(char quote) {
        const auto end = line_.find(quote, at_ + 1);
        if (end == line_.npos) return false;
        put(line_.substr(at_ + 1, end - at_ - 1));
        at_ = end + 1;
        return true;
    }
    bool substituted() {
        auto end = line_.find('`', at_ + 1);
        if (line_[at_] == '$') {
            std::size_t depth = 0;
            for (end = at_ + 1; end < line_.size(); ++end) {
                depth += line_[end] == '(' ? 1 : 0;
                if (line_[end] == ')' && --depth == 0) break;
            }
        }
        if (end >= line_.size()) return false;
        put(line_.substr(at_, end + 1 - at_));
        at_ = end + 1;
        return true;
    }
    bool sign(char c) {
        const bool is_twice = rest().substr(1).starts_with(c);
        if (c == ';' || c == '&' || c == ')' || (c == '|' && is_twice)) {
            end_part();
            at_ += is_twice ? 2 : 1;
        } else if (c == '|') {
            end_word();
            if (!std::exchange(is_filter_, true)) filter_ = at_;
            ++at_;
        } else if (c == '>' || c == '<') {
            redirect();
        } else if (c == ' ' || c == '\t' || (c == '(' && !has_word_)) {
            end_word();
            ++at_;
        } else {
            put(line_.substr(at_ += c == '\\' ? 1 : 0, 1));
            ++at_;
        }
        return true;
    }
    /// "2>/dev/null", "2>&1", "> out".
    void redirect() {
        if (base::is_decimal(word_)) word_.clear();
        has_word_ = !word_.empty();
        end_word();
        at_ = std::min(line_.find_first_not_of("<>& \t", at_), line_.size());
        at_ = std::min(line_.find_first_of(" \t;|&<>", at_), line_.size());
    }

    std::string_view line_;
    std::size_t at_ = 0, filter_ = 0;  ///< where this part's begins
    std::vector<ShellPart> parts_;
    ShellWords words_;
    std::string word_;
    bool has_word_ = false, is_filter_ = false;
};

/// "eth0" of "$d" or "${d}".
std::string with_value(std::string word, std::string_view variable, std::string_view value) {
    for (const auto& form : {fmt::format("${{{}}}", variable), fmt::format("${}", variable)}) {
        for (auto at = word.find(form); at != word.npos && word.size() <= max_shell_word;
             at = word.find(form, at + value.size())) {
            const auto end = at + form.size();
            const bool is_longer = form.back() != '}' && end < word.size() && base::is_word_character(word[end]);
            if (is_longer) break;
            word.replace(at, form.size(), value);
        }
    }
    return word;
}

/// Runs a command line in mind.
class CommandLine {
  public:
    void run(std::span<const ShellPart> parts, bool repeats, std::size_t depth) {
        for (std::size_t i = 0; i < parts.size() && commands.size() < max_commands; ++i) {
            auto words = parts[i].words;
            while (!words.empty() && base::contains_word(keywords, words.front()))
                words.erase(words.begin());
            if (words.empty() || base::contains_word("done fi }", words.front())) continue;
            if (!is_loop(words.front())) {
                add(std::move(words), parts[i].filter, {}, repeats, depth);
                continue;
            }
            const auto end = end_of_loop(parts, i);
            if (depth < max_nested) run_loop(words, parts.subspan(i + 1, end - i - 1), repeats, depth + 1);
            i = end;
        }
    }

    std::vector<ShellCommand> commands;

  private:
    static bool is_loop(std::string_view word) { return base::contains_word("for while until", word); }

    static std::size_t end_of_loop(std::span<const ShellPart> parts, std::size_t begin) {
        std::size_t depth = 0;
        for (std::size_t i = begin; i < parts.size(); ++i) {
            const auto& words = parts[i].words;
            const auto first =
                std::ranges::find_if_not(words, [](const auto& word) { return base::contains_word(keywords, word); });
            if (first == words.end()) continue;
            if (is_loop(*first)) ++depth;
            if (*first == "done" && --depth == 0) return i;
        }
        return parts.size();
    }

    void run_loop(const ShellWords& head, std::span<const ShellPart> body, bool repeats, std::size_t depth) {
        const bool is_for = head[0] == "for" && head.size() > 3 && head[2] == "in";
        const auto is_unknown = [](const auto& word) {
            return word.size() > max_value || word.find_first_of("$`*?{") != word.npos;
        };
        if (!is_for || std::any_of(head.begin() + 3, head.end(), is_unknown)) return run(body, true, depth);
        for (std::size_t i = 3; i < head.size() && rounds_++ < max_rounds; ++i) {
            std::vector<ShellPart> round(body.begin(), body.end());
            for (auto& part : round) {
                for (auto& word : part.words)
                    word = with_value(std::move(word), head[1], head[i]);
            }
            run(round, repeats, depth);
        }
    }

    /// A command line in an argument: of ssh, watch, sh -c.
    void run_text(std::string_view line, const ShellPlace& place, bool repeats, std::size_t depth) {
        const auto parts = depth < max_nested ? ShellLexer(line).parts() : std::nullopt;
        if (!parts) return;
        const auto first = commands.size();
        run(*parts, repeats, depth + 1);
        for (auto i = first; i < commands.size(); ++i)
            commands[i].place = commands[i].place.within(place);
    }

    void add(ShellWords words, const std::string& filter, ShellPlace place, bool repeats, std::size_t depth) {
        for (;;) {
            const auto is_before = [](const std::string& word) {
                const bool is_assignment = base::is_word_character(word[0]) && word.find('=') != word.npos;
                return base::contains_word(runners, word) || word[0] == '-' || word[0] == '+' ||
                       base::is_digit(word[0]) || is_assignment;
            };
            std::erase_if(words, [](const auto& word) { return word.empty(); });
            words.erase(words.begin(), std::ranges::find_if_not(words, is_before));
            if (words.empty()) return;
            if (words[0].find(' ') != std::string::npos) return run_text(words[0], place, repeats, depth);
            words[0].erase(0, words[0].rfind('/') + 1);  // npos + 1 is 0
            if (words[0].empty()) return;
            if (const auto* line = line_in(words)) return run_text(*line, place, repeats, depth);
            if (!unwrap(words, place)) break;
            if (words.empty()) words = {"sh"};
        }
        take_namespace(words, place);
        auto text = fmt::format("{} {}", fmt::join(words, " "), filter);
        commands.push_back({std::move(words), std::move(text), std::move(place), repeats});
    }

    /// The command of "bash -c LINE", "ansible all -a LINE".
    static const std::string* line_in(const ShellWords& words) {
        const bool is_ansible = words[0] == "ansible";
        if (!is_ansible && !base::contains_word(shells, words[0])) return nullptr;
        const auto option = std::ranges::find_if(words, [&](const auto& word) {
            return is_ansible ? word == "-a" || word == "--args" : word.starts_with('-') && word.ends_with('c');
        });
        return words.end() - option < 2 ? nullptr : &option[1];
    }

    /// The words of a wrapper and their options; returns whether it is there, and keeps what follows.
    static bool unwrap(ShellWords& words, ShellPlace& place) {
        for (const auto& wrapper : wrappers) {
            std::map<std::string, std::string> values;
            std::size_t at = 0;
            const auto skip_options = [&] {
                for (; at < words.size() && words[at].starts_with('-') && words[at] != "--"; ++at) {
                    const auto equals = words[at].find('=');
                    const bool has_value =
                        equals == std::string::npos && base::contains_word(wrapper.valued, words[at]);
                    auto& value = values[words[at].substr(0, equals)];
                    if (equals != std::string::npos) value = words[at].substr(equals + 1);
                    if (has_value && at + 1 < words.size()) value = words[++at];
                }
                if (at < words.size() && words[at] == "--") ++at;
            };
            bool is_it = true;
            for (const auto word : base::words(wrapper.words)) {
                is_it = is_it && at < words.size() && words[at] == word;
                ++at;
                if (is_it) skip_options();
            }
            if (!is_it) continue;
            auto name = wrapper.kind.empty() || at >= words.size() ? "" : words[at];
            // "oc debug node/n1 -- chroot /host", "chroot /host": what it is called is no program.
            if (at < words.size() && (!name.empty() || base::contains_word("oc kubectl chroot", words[0]))) {
                if (words[0] == "oc" || words[0] == "kubectl") name = words[at];
                ++at;
            }
            if (words[0] == "nsenter") {
                name = entered(values);
            } else if (wrapper.kind == "host") {
                place = {.host = name.substr(name.find('@') + 1)};
                name.clear();
            } else if (!name.empty()) {
                const auto space = values.contains("-n") ? values["-n"] : values["--namespace"];
                name = fmt::format("{}{}{}", wrapper.kind.empty() ? "" : fmt::format("{} ", wrapper.kind),
                                   wrapper.kind == "pod" && !space.empty() ? space + "/" : "", name);
            }
            skip_options();
            place = ShellPlace{.inside = name}.within(place);
            words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
            return true;
        }
        return false;
    }

    /// nsenter's network namespace; empty: it stays in that of the host.
    static std::string entered(const std::map<std::string, std::string>& values) {
        const auto value_of = [&](const char* a, const char* b) {
            const auto found = values.contains(a) ? values.find(a) : values.find(b);
            return found == values.end() ? std::string() : found->second;
        };
        const auto net = value_of("--net", "-n");
        if (!net.empty()) return "netns " + net.substr(net.rfind('/') + 1);
        const bool is_of_network = std::ranges::any_of(values, [](const auto& option) {
            const auto& name = option.first;
            return name == "--net" || name == "--all" ||
                   (name[0] == '-' && name[1] != '-' && name.find_first_of("na") != name.npos);
        });
        const auto target = value_of("-t", "--target");
        return is_of_network && !target.empty() ? "netns of process " + target : "";
    }

    /// The namespace of "ip -n blue", "tc -netns blue", "ss -N blue".
    static void take_namespace(ShellWords& words, ShellPlace& place) {
        const bool is_ss = words[0] == "ss";
        if (!is_ss && words[0] != "ip" && words[0] != "tc") return;
        const auto option = std::ranges::find_if(words, [&](const auto& word) {
            return is_ss ? word == "-N" : word == "-n" || word == "-net" || word == "-netns";
        });
        if (words.end() - option < 2) return;
        place = ShellPlace{.inside = "netns " + option[1]}.within(place);
        words.erase(option, option + 2);
    }

    std::size_t rounds_ = 0;
};

bool may_begin(std::string_view word) {
    word.remove_prefix(word.rfind('/') + 1);
    return base::contains_word(runners, word) || base::contains_word(programs, word) ||
           base::contains_word(shells, word) || std::ranges::any_of(wrappers, [&](const auto& wrapper) {
               return word == wrapper.words.substr(0, wrapper.words.find(' '));
           });
}

bool is_known_command(const ShellCommand& command) {
    return base::contains_word(programs, command.words[0]) || base::contains_word(shells, command.words[0]);
}

}  // namespace

ShellPlace ShellPlace::within(const ShellPlace& outer) const {
    if (!host.empty()) return *this;
    const auto* const between = inside.empty() || outer.inside.empty() ? "" : " in ";
    return {.host = outer.host, .inside = fmt::format("{}{}{}", inside, between, outer.inside)};
}

bool ShellCommand::is_shell() const {
    return base::contains_word(shells, words[0]) &&
           std::all_of(words.begin() + 1, words.end(), [](const auto& word) { return word.starts_with('-'); });
}

bool has_variable(std::string_view word) {
    return word.find_first_of("$`") != word.npos;
}

bool ShellCommand::varies() const {
    return has_variable(place.host) || has_variable(place.inside) || std::ranges::any_of(words, has_variable);
}

std::vector<ShellCommand> commands_of(std::string_view line, bool is_prompted) {
    line = base::trim(line);
    if (line.size() > max_command_line) return {};
    const auto file = base::match("==> * <==", line);
    if (file) return {{.words = {"cat", std::string(file->front())}, .text = fmt::format("cat {}", file->front())}};
    if (!is_prompted && !may_begin(line.substr(0, line.find_first_of(" \t;|")))) return {};
    const auto parts = ShellLexer(line).parts();
    if (!parts) return {};
    CommandLine run;
    run.run(*parts, false, 0);
    if (!is_prompted && !std::ranges::all_of(run.commands, is_known_command)) return {};
    return std::move(run.commands);
}

}  // namespace stapgen::decode
