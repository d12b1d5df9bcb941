// Reading the oscillators from text, and making such text.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "field.hpp"

namespace oscillators {

/// Something the user has to change; `what()` is the sentence to print.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Lines `type x y z radius omega0 [zeta]` with type damped, decaying or periodic; `#` starts a comment;
/// empty lines are skipped. zeta is required for damped and ignored for the others. `file` names the text in
/// messages. Throws UserError with file:line for the first line that is wrong, and if there is no oscillator
/// at all.
[[nodiscard]] std::vector<Oscillator> parse_oscillators(const std::string& text, const std::string& file);

/// Text for `count` oscillators in the unit cube: small ones, evenly spread over a torus knot, of all three
/// kinds. The same on every machine.
[[nodiscard]] std::string generate_oscillators(int count);

}  // namespace oscillators
