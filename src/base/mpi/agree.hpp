// Collective errors: an error on one process becomes the same error on all. See run_collectively, too.
#pragma once

#include <memory>

#include "sidestream/error.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Makes an object on every member, or throws the same Error on all. Collective. Allocates nothing else before they
/// agree.
template <class T, class... Arguments>
[[nodiscard]] std::unique_ptr<T> make_together(Communicator& members, Arguments&... arguments) {
  std::unique_ptr<T> made;
  const auto make = [&] { made = std::make_unique<T>(arguments...); };
  run_collectively(members, make);
  return made;
}

}  // namespace sidestream
