// Sidestream's database, written by dedicated cores or by the ranks themselves.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "method.hpp"
#include "sidestream/sidestream.hpp"

namespace io {

/// A session whose outputs are two databases in `folder`: one waits for the disk, the other does not.
class Stream {
 public:
  /// Collective over `comm`. `placement` as in a configuration.
  Stream(MPI_Comm comm, const Options& options, std::string folder, const std::string& placement);
  [[nodiscard]] bool is_server() const { return session_.is_server(); }
  void serve() { session_.serve(); }
  [[nodiscard]] MPI_Comm comm() const { return session_.comm(); }
  void start(const Fields& fields);
  /// The simulation's part: publishes the fields; one of the databases is due, or none.
  void publish(const Fields& fields, int step, const char* event);
  /// Returns when the database has `contexts` contexts, with their HDF5 views.
  void wait_for(Sync sync, int contexts) const;
  /// Collective; once. Throws Error if data were lost.
  void close();
  /// True if other ranks than those that publish write.
  [[nodiscard]] bool writes_behind() const { return writes_behind_; }
  [[nodiscard]] std::string database(Sync sync) const { return folder_ + "/" + name_of(sync); }

 private:
  std::string folder_;
  sidestream::Session session_;
  bool writes_behind_;
  bool shown_;  ///< true if contexts have HDF5 files: not if all values have codecs
};

/// A method that writes through an open stream, which outlives it. Closing the method does not close the stream.
std::unique_ptr<Method> database_method(Stream& stream);

}  // namespace io
