#include <iostream>

#include "cli/commands/commands.h"
#include "module/make.h"
#include "render/standalone.h"
#include "render/tapset_files.h"

namespace stapgen::cli {

base::Result<void> render(const recipe::Program& program, const recipe::Recipe& recipe, const Options& options) {
    auto interval = module::interval_of(options.make.interval, recipe);
    if (!interval) return tl::make_unexpected(interval.error());
    auto script = module::script_of(recipe, options.make.arguments, *interval, options.make.aggregate);
    if (!script) return tl::make_unexpected(script.error());
    if (options.standalone) {
        auto tapsets = render::read_tapsets(render::tapset_folders(program.files, options.make.debuginfo));
        if (!tapsets) return tl::make_unexpected(tapsets.error());
        *script = render::with_tapsets(*script, *tapsets);
    }
    std::cout << *script;
    return {};
}

}  // namespace stapgen::cli
