// Rows of a table that processes add throughout a run, in bounded memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sidestream/kit/base/files.hpp"

namespace sidestream {

/// The rows of one process. Rows that do not fit the buffer go to a part file that all processes of the run share. The
/// n-th chunk of a member is chunk n * members + member of the file, so processes need not communicate, and any number
/// of them can share one file. Chunks hold whole rows of text followed by a hole, so that the file can be read after a
/// crash.
class RowSpool {
 public:
  static constexpr std::size_t chunk = 1u << 18;  ///< bytes; the most that is kept in memory

  RowSpool(std::string path, int member, int members);

  /// Adds whole rows. After a write failure the buffered rows stay, later rows are lost, and the simulation continues.
  void add(std::string_view rows);
  /// Also writes the rows in memory to the file, for people who watch the run and in case it ends early. They stay in
  /// memory. Does nothing after a write failure.
  void show();
  /// Number of rows that were lost, and the reason.
  [[nodiscard]] std::int64_t lost() const noexcept { return lost_; }
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  /// Bytes of all rows.
  [[nodiscard]] std::uint64_t size() const noexcept { return spilled_ + buffer_.size(); }
  /// Bytes of the rows in the file.
  [[nodiscard]] std::uint64_t spilled() const noexcept { return spilled_; }
  /// The rows in memory, which are all rows or the last ones.
  [[nodiscard]] const std::string& buffered() const noexcept { return buffer_; }
  /// Reads the rows in the file, in the order of adding, a chunk at a time. Throws Error(file).
  void read_spilled(const std::function<void(std::string_view)>& take) const;
  /// Closes the file, which may then be removed.
  void close() noexcept { file_ = Descriptor(); }

 private:
  void spill();
  void open();
  [[nodiscard]] std::uint64_t position(std::size_t number) const noexcept;

  std::string path_;
  std::uint64_t member_, members_;
  std::string buffer_;
  std::vector<std::uint32_t> sizes_;  ///< of the chunks in the file
  std::uint64_t spilled_ = 0;
  std::size_t shown_ = 0;  ///< bytes of the buffer that are in the file
  bool shows_ = true;
  std::string failure_;
  std::int64_t lost_ = 0;
  Descriptor file_;
};

/// Reads all whole rows in the part file of a run that ended early, a chunk at a time. Does nothing if there is no such
/// file. Throws Error(file).
void read_part_file(const std::string& path, const std::function<void(std::string_view)>& take);

}  // namespace sidestream
