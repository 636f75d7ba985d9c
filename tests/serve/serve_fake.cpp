// SPDX-License-Identifier: GPL-2.0-or-later
// What `stapgen serve` does once its words are understood, with other programs in place of the stapgen that each recipe
// is, and without the waits that nobody would wait for in a test:
//     serve_fake LISTEN MAX_SERIES NATIVE_SCHEMA OTLP|- (NAME PROGRAM ARGUMENT)...

#include <cstdlib>

#include "base/terminal.h"
#include "launch/child_process.h"
#include "serve/serve.h"

using namespace stapgen;

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    serve::Job job;
    job.listen = serve::parse_endpoint(words.at(0)).value();
    job.max_series = static_cast<std::size_t>(std::atoll(words.at(1).c_str()));
    job.native_schema = std::atoi(words.at(2).c_str());
    if (words.at(3) != "-") job.otlp = serve::parse_otlp_url(words[3]).value();
    using std::chrono::seconds;
    job.push_times = {.period = seconds(1), .longest_wait = seconds(1), .limit = seconds(600)};
    for (std::size_t i = 4; i + 2 < words.size(); i += 3) {
        serve::RecipeJob recipe;
        recipe.name = words[i];
        recipe.argv = {words[i + 1], words[i + 2]};
        recipe.wait = seconds(1);
        recipe.recipe.counters = {{"Ip.InReceives", ""}};
        job.recipes.push_back(std::move(recipe));
    }
    const auto done = serve::serve(*launch::this_machine(), job);
    if (!done) base::show_error(done.error());
    return done ? 0 : 1;
}
