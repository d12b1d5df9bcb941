// A way by which iterations go from one MPI job to another, as the registry knows it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sidestream/extend/writer.hpp"

namespace sidestream {

struct StreamConfig;
struct StreamContext;
class StreamReader;
class StreamOpening;

/// Both ends of streams, by what the sending session and the reading endpoint make of it. stream.hpp has the types.
struct StreamKind {
  std::string name;  ///< the name of the output
  /// The sending end: an output that hands iterations to another job. The session fills the context later, before the
  /// first iteration.
  std::function<WriterKind(std::shared_ptr<StreamContext>)> output{};
  /// The reading end; one object on each member of `readers`. Waits until the stream exists, at most `patience`
  /// seconds, and becomes its reader. Collective; throws the same Error everywhere. The communicator must outlive the
  /// result. The stream ends between two iterations once `stop` is true on a member.
  std::function<std::unique_ptr<StreamReader>(const StreamConfig&, Communicator& readers, double patience,
                                              std::function<bool()> stop)>
      reader{};
  /// Tells waiting endpoints that a session is about to open the stream, until the result is destroyed; on one rank.
  /// Throws Error(file).
  std::function<std::unique_ptr<StreamOpening>(const StreamConfig&)> opening{};
  /// Throws Error(configuration), through Settings::fail, if the options of the stream ask for an engine that this
  /// build lacks.
  std::function<void(const Settings&)> check{};
};

}  // namespace sidestream
