// The one exception type of Sidestream.
#pragma once

#include <stdexcept>
#include <string>

namespace sidestream {

/// The kind of failure that an Error reports; the values equal the return codes of the C interface.
enum class Code : int {
  ok = 0,
  usage = 1,          ///< a call was made with wrong arguments or at the wrong moment
  configuration = 2,  ///< the configuration is missing, unreadable or wrong
  full = 3,           ///< the buffer has no room and never will have for this iteration
  analysis = 4,       ///< an analysis or a writer failed
  file = 5,           ///< a file could not be written or read
  system = 6,         ///< the operating system or MPI refused something
  refused = 7,        ///< the iteration was refused and its data dropped (`when_full: skip`)
  internal = 8,       ///< a bug in Sidestream
};

/// Thrown by every C++ function of Sidestream that fails. `what()` is one sentence: what was found, where, what was
/// expected and what to change.
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] Code code() const noexcept { return code_; }

 private:
  Code code_;
};

}  // namespace sidestream
