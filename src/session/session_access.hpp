// Access to a session for our own commands, hidden from programs.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "config/config.hpp"
#include "sidestream/sidestream.hpp"

namespace sidestream {

/// Returns a modified document of the configuration, the same on every rank. May throw Error.
using EditDocument = std::function<std::shared_ptr<const Document>(const Document&)>;

struct SessionAccess {
  /// Like Session::open, with the file as modified by `edit`. Collective.
  [[nodiscard]] static Session open(MPI_Comm comm, const std::string& file, const EditDocument& edit);
  /// Declares that the caller publishes only what is needed, so that declared blocks without values are not losses.
  /// Call it on every rank, before start and serve. Servers of other jobs do not learn of it.
  static void expect_gaps(Session& session);
};

}  // namespace sidestream
