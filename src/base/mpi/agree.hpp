// Failing together: an error on one process becomes the same error on all. And the same text.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sidestream/error.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Collective. Runs `work` everywhere; if it throws anywhere, throws the Error of the lowest member that failed on
/// every member. `work` must not leave others waiting in a collective call that it did not reach.
void run_collectively(Communicator& members, const std::function<void()>& work);

/// Collective: an object on every member, or the same Error on all. It takes no memory of its own before they agree.
template <class T, class... Arguments>
[[nodiscard]] std::unique_ptr<T> make_together(Communicator& members, Arguments&... arguments) {
  std::unique_ptr<T> made;
  const auto make = [&] { made = std::make_unique<T>(arguments...); };
  run_collectively(members, std::cref(make));
  return made;
}

/// Collective: member 0's text on every member.
void share_text(Communicator& all, std::string& text);

}  // namespace sidestream
