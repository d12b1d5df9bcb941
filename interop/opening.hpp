// Opening of a session for a program that does not know Sidestream, and sentences about what is left out.
#pragma once

#include <set>
#include <sidestream/sidestream.hpp>
#include <string>
#include <vector>

#include "ranks.hpp"

namespace sidestream::interop {

/// Sentences about what was left out, each with the path or name of it.
using Problems = std::vector<std::string>;

/// Writes sentences to standard error, each once.
class Sentences {
 public:
  void say(const Problems& problems);
  void say(const std::string& problem) { say(Problems{problem}); }

 private:
  std::set<std::string> said_;
};

/// Opens a session in which all ranks run the simulation. Collective. Throws Error, the same on all ranks; also if the
/// configuration's placement makes servers of some ranks.
[[nodiscard]] Session open_on_all(const Ranks& ranks, const std::string& configuration);

/// Closes a session that may not have started. Collective. Closing before the start is an error everywhere, which
/// nobody needs to hear of.
void close_unstarted(Session session) noexcept;

}  // namespace sidestream::interop
