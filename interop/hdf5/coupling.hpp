// A run whose writes to HDF5 files are published: the steps, and the datasets that count.
//
// Ranks agree only inside calls of HDF5 that all ranks of a file make: to open and close it, to create and extend
// datasets, to write collectively. So nothing here can wait for a rank that waits for us elsewhere in the program.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arrays/feed.hpp"
#include "mapped_files.hpp"
#include "program_hdf5.hpp"
#include "taken_write.hpp"

namespace sidestream::interposed {

/// A mapped file that is open for writing.
struct OpenFile {
  std::string name;
  int times = 0;  ///< that it is open
  std::optional<std::int64_t> cycle{};
};

/// The rows that were added to a dataset.
struct Growth {
  std::int64_t period = -1;  ///< in which they were; -1: the dataset was made without any
  Index first = 0;           ///< the first one
};

class Coupling {
 public:
  /// `mapping_file` is the file that `files` and `mapping` were read from. `at_end` is called where the program ends,
  /// and is to call Coupling::finish.
  Coupling(MappedFiles files, arrays::Mapping mapping, std::string mapping_file, void (*at_end)());

  /// Tells if the file counts. Collective over its ranks.
  bool opened(const ProgramHdf5& hdf5, Id file, Id access);
  /// The file that is being closed for the last time; null: another one.
  [[nodiscard]] OpenFile* closing(const ProgramHdf5& hdf5, Id file);
  void closed(OpenFile* file, bool worked);
  void created(const ProgramHdf5& hdf5, Id dataset);
  /// Publishes what was written to a dataset before it had a name.
  void linked(const ProgramHdf5& hdf5, Id dataset);
  void extending(const ProgramHdf5& hdf5, Id dataset, const std::uint64_t* size);
  /// Looks at a write, and ends the step before it. `skip` gets a 1 for each dataset that is not to be written.
  [[nodiscard]] TakenWrites writing(const ProgramHdf5& hdf5, const sidestream_hdf5_write& write, char* skip);
  /// Publishes what was written.
  void written(TakenWrites writes);
  void bypassing(const ProgramHdf5& hdf5, Id dataset, const char* call);
  /// Ends the last step and closes the session. Collective over the ranks of the files.
  void finish();
  /// Says that no file has fitted, if the program opened some. Where the program ends.
  void say_if_no_file_fits();

 private:
  [[nodiscard]] std::optional<Target> target(const ProgramHdf5& hdf5, Id dataset);
  /// Tells if a file's ranks are those of the session, which the first file's ranks become. Collective over them.
  [[nodiscard]] bool join(std::optional<MPI_Comm> comm, const std::string& name);
  void start(std::unique_ptr<interop::Ranks> ranks, bool alone);
  /// Comes to the step of a write; `together`: all ranks are in this call.
  void reach(const Target& target, std::optional<std::int64_t> index, bool together, std::string& why);
  /// The step before anything tells: datasets that grow begin with the index 0.
  [[nodiscard]] std::int64_t first_step() const noexcept { return files_.steps == Steps::index ? 0 : -1; }
  /// Ends the present step and begins another one. Collective.
  void advance(std::int64_t step);
  void end(std::int64_t cycle);
  /// True if the write is sure to be published, so that the file does not need it.
  [[nodiscard]] bool will_publish(const TakenWrite& taken);
  [[nodiscard]] bool all_can(bool can, bool together) const;
  /// Comes to the step of rows that are added to a dataset, which then has `size` of them.
  void grow(const Target& target, Index size);
  /// The first row of this step in a dataset that grows; nothing: it has not grown in this step.
  [[nodiscard]] std::optional<Index> first_row(const Target& target) const;
  void put(TakenWrite& taken);
  void say_no_time(std::int64_t cycle);
  void say(const std::string& sentence) { sentences_.say(sentence); }
  /// Says once for a dataset, or a member of it, why it is not published.
  void refuse(const Target& target, const std::string& member, const std::string& why, const std::string& selection);

  MappedFiles files_;
  arrays::Mapping mapping_;
  std::string mapping_file_;
  void (*finish_)();
  std::unique_ptr<arrays::Feed> feed_;
  const interop::Ranks* ranks_ = nullptr;  ///< those of feed_
  bool alone_ = false;                     ///< one process writes each file
  bool finished_ = false;
  std::map<std::string, OpenFile> open_;
  std::set<std::string> others_;    ///< names of files that do not fit the pattern
  std::set<std::string> datasets_;  ///< names for rules of all datasets and members in mapped files
  std::string last_file_;
  std::int64_t step_;  ///< an index, or a number in paths; the same on all ranks
  std::int64_t ended_ = 0;
  std::int64_t period_ = 0;   ///< counts ends, also of steps without parts; the same on all ranks
  bool closed_step_ = false;  ///< the end of a file has ended the present step
  std::map<std::pair<std::string, std::string>, Growth> grown_;  ///< by file and path
  std::set<std::string> refused_;                                ///< datasets and why
  bool has_parts_ = false;                                       ///< this rank has parts in this step
  std::optional<double> time_;
  bool without_time_ = false;  ///< a step had no time, as has been said
  TakenWrites nameless_;
  interop::Sentences sentences_;
};

}  // namespace sidestream::interposed
