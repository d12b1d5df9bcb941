// Reads oscillators from text, and generates such text.
#pragma once

#include <string>
#include <vector>

#include "field.hpp"
#include "mini_app/user_error.hpp"

namespace oscillators {

using mini_app::UserError;

/// Parses lines `type x y z radius omega0 [zeta]` with type damped, decaying or periodic. `#` starts a comment; empty
/// lines are skipped. zeta is required for damped and ignored for the others. `file` names the text in messages. Throws
/// UserError with file:line for the first invalid line, and if there is no oscillator.
[[nodiscard]] std::vector<Oscillator> parse_oscillators(const std::string& text, const std::string& file);

/// Text with `count` oscillators in the unit cube: small ones of all three kinds, evenly spread over a torus knot. The
/// same on every machine.
[[nodiscard]] std::string generate_oscillators(int count);

}  // namespace oscillators
