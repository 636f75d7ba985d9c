#include "cli/doing.h"

#include <iostream>

namespace stapgen::cli {

void show_error(const base::Error& error) {
    std::cerr << "stapgen: " << error.what << '\n';
    if (!error.hint.empty()) std::cerr << "  hint: " << error.hint << '\n';
}

int exit_code_of(const base::Error& error) {
    switch (error.kind) {
        case base::ErrorKind::failed:
            return 1;
        case base::ErrorKind::bad_input:
            return 2;
        case base::ErrorKind::cannot_here:
            return 4;
    }
    return 1;
}

}  // namespace stapgen::cli
