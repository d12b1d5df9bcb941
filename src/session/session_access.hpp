// What commands of our own need of a session and programs do not.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "config/config.hpp"
#include "sidestream/sidestream.hpp"

namespace sidestream {

/// Makes another document of the configuration, the same on every rank. May throw Error.
using EditDocument = std::function<std::shared_ptr<const Document>(const Document&)>;

struct SessionAccess {
  /// As Session::open, with what `edit` makes of the file. Collective.
  [[nodiscard]] static Session open(MPI_Comm comm, const std::string& file, const EditDocument& edit);
  /// The caller publishes what is needed and nothing else: blocks that are declared and not published are no losses.
  /// On every rank, before start and serve. Servers of other jobs do not learn of it.
  static void expect_gaps(Session& session);
};

}  // namespace sidestream
