// Errors that the user of a mini-app can correct.
#pragma once

#include <stdexcept>

namespace mini_app {

/// `what()` is the sentence to print.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace mini_app
