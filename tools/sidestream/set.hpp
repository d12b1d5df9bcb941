// `sidestream set`: a person changes a parameter of a running session.
#pragma once

#include <string>

namespace sidestream {

struct SetOptions {
  std::string name, value;
  std::string directory = ".";
  double wait = 60;  ///< seconds
};

/// The answer, with 0 if the change was accepted and 1 if not; without a name the parameters that there are.
struct SetAnswer {
  std::string text;
  int status = 0;
};
/// Throws Error if there is no such session, or no answer.
[[nodiscard]] SetAnswer set_parameter(const SetOptions& options);

}  // namespace sidestream
