// How an endpoint that waits for a simulation learns that it has ended before it opened its stream.
#pragma once

#include <string>

#include "transport/staging/folder.hpp"

namespace sidestream::staging {

/// The simulation's end, on one rank, while its session is open: a file in the stream's directory, which is removed by
/// who announces the stream. If it is still there when this is destroyed, it says that there will be no stream.
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
  /// What is over already is an earlier run's.
  explicit OpeningWatch(const Folder& folder) : folder_(folder), earlier_(over()) {}
  /// Whether a simulation that was about to start since then has ended without a stream.
  [[nodiscard]] bool has_ended() const;

 private:
  /// What tells the opening that is over from others; empty if none is.
  [[nodiscard]] std::string over() const;
  Folder folder_;
  std::string earlier_;
};

}  // namespace sidestream::staging
