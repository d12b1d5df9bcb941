// Tells a waiting endpoint that the simulation has ended before it opened its stream.
#pragma once

#include <string>

#include "transport/staging/folder.hpp"

namespace sidestream::staging {

/// A file in the stream's directory while a session of the simulation opens; on one rank. Announcing the stream removes
/// it. If it is still there when this is destroyed, the file says that there will be no stream.
class OpeningFile {
 public:
  /// Makes the directory if it is missing. Throws Error(file).
  explicit OpeningFile(const Folder& folder);
  ~OpeningFile();
  OpeningFile(const OpeningFile&) = delete;
  OpeningFile& operator=(const OpeningFile&) = delete;

 private:
  Folder folder_;
  std::string sign_;  ///< what tells this opening from others
};

/// The endpoint's end.
class OpeningWatch {
 public:
  /// Ignores an opening that is over already: an earlier run's.
  explicit OpeningWatch(const Folder& folder) : folder_(folder), earlier_(over()) {}
  /// True if a simulation that was about to start since then has ended without a stream.
  [[nodiscard]] bool has_ended() const;

 private:
  /// The sign of the opening that is over; empty if none is.
  [[nodiscard]] std::string over() const;
  Folder folder_;
  std::string earlier_;
};

}  // namespace sidestream::staging
