// The outcome of a mini-app's command line.
#pragma once

#include <optional>
#include <string>

namespace mini_app {

/// Result of parsing: options, or a message to print instead of running.
template <class Options>
struct CommandLine {
  std::optional<Options> options;
  std::string message;  ///< help, or a description of the error
  int status = 0;       ///< exit status if there are no options
};

}  // namespace mini_app
