// Records of the files and writes of a program, for `sidestream hdf5-map`: one file of lines for each process.
#pragma once

#include <string>
#include <vector>

#include "program_hdf5.hpp"

namespace sidestream::interposed {

/// A write as it is recorded.
struct RecordedWrite {
  Id number = -1;
  Dataset dataset;
  std::string member{};  ///< of a compound type; empty: it is none
  std::string type{};    ///< in memory; empty if it is none of Sidestream's
  std::string stored{};  ///< in the file, likewise
  std::vector<ChosenBox> boxes{};
  std::string why{};  ///< why it cannot be published
};

/// Appends JSON lists to DIRECTORY/HOST-PROCESS.record, which is made when the first one comes:
///
///   ["open", file]
///   ["write", file, path, type, type in the file, size, endless axes, [[start, count], ...], number of boxes, why not]
///
/// A compound type has one line for each member, with the path `dataset.member`, and at most `most_listed` boxes.
/// At most `most_lines`, so that a long run does not fill the disk.
class Recorder {
 public:
  explicit Recorder(std::string directory) : directory_(std::move(directory)) {}
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void file(const std::string& name);
  /// Records a write when its dataset has a name.
  void write(const RecordedWrite& write);
  void name(Id number, const Dataset& dataset);

 private:
  void line(const std::string& text);
  std::string directory_;
  int descriptor_ = -1;
  bool failed_ = false;
  std::int64_t lines_ = 0;
  std::vector<RecordedWrite> nameless_;
};

}  // namespace sidestream::interposed
