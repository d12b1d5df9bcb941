// Rows of a table that the processes of a run add for as long as it lasts, in bounded memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"

namespace sidestream {

/// One process' rows. What has no room in the buffer goes to a part file that all processes of the run share: the n-th
/// chunk of a member is the (n * members + member)-th of the file, so that nobody asks others where to write, and there
/// is one file for any number of processes. Chunks hold whole rows of text, and what is behind them is a hole: the file
/// can be read after a crash.
class RowSpool {
 public:
  static constexpr std::size_t chunk = 1u << 18;  ///< bytes; the most that is in memory

  RowSpool(std::string path, int member, int members);

  /// Whole rows. After a failure to write the rows in the buffer stay, and what comes later is lost: the simulation
  /// goes on.
  void add(std::string_view rows);
  /// Rows that were lost, and why.
  [[nodiscard]] std::int64_t lost() const noexcept { return lost_; }
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  /// Bytes of all rows.
  [[nodiscard]] std::uint64_t size() const noexcept { return spilled_ + buffer_.size(); }
  /// Of these, in the file.
  [[nodiscard]] std::uint64_t spilled() const noexcept { return spilled_; }
  /// Rows that are in memory: all, or the last ones.
  [[nodiscard]] const std::string& buffered() const noexcept { return buffer_; }
  /// Those in the file, in the order of adding, a chunk at a time. Throws Error(file).
  void read_spilled(const std::function<void(std::string_view)>& take) const;
  /// Closes the file, which somebody may then remove.
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
  std::string failure_;
  std::int64_t lost_ = 0;
  Descriptor file_;
};

/// All whole rows in the part file of a run that ended early, a chunk at a time; none if there is no such file. Throws
/// Error(file).
void read_part_file(const std::string& path, const std::function<void(std::string_view)>& take);

}  // namespace sidestream
