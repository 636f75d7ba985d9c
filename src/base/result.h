// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace stapgen::base {

/// What kind of failure this is. Only cli turns it into an exit code.
enum class ErrorKind {
    failed,       ///< it went wrong while running (exit code 1)
    bad_input,    ///< wrong usage or bad input (exit code 2)
    regression,   ///< it was done, and the answer is that something became slower (exit code 3)
    cannot_here,  ///< this machine cannot do it (exit code 4)
    partial,      ///< some of it was done (exit code 5)
    over_budget,  ///< the probes took too much of a CPU's time (exit code 6)
};

/// Every error says what happened and why (`what`), and what to do next (`hint`, may be empty).
struct Error {
    ErrorKind kind = ErrorKind::failed;
    std::string what;
    std::string hint;
};

/// A value or an Error. An alias over tl::expected until the compiler has std::expected with and_then.
template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> failed(std::string what, std::string hint = {}) {
    return tl::make_unexpected(Error{ErrorKind::failed, std::move(what), std::move(hint)});
}
inline tl::unexpected<Error> bad_input(std::string what, std::string hint = {}) {
    return tl::make_unexpected(Error{ErrorKind::bad_input, std::move(what), std::move(hint)});
}
inline tl::unexpected<Error> cannot_here(std::string what, std::string hint = {}) {
    return tl::make_unexpected(Error{ErrorKind::cannot_here, std::move(what), std::move(hint)});
}

}  // namespace stapgen::base
