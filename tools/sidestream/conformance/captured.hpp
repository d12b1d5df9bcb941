// Results kept in memory for comparison.
// Simulated memory failure: the n-th allocation of a thread throws.
#pragma once

#include <map>
#include <string>

#include "sidestream/extend/analysis.hpp"

namespace sidestream::conformance {

class Captured final : public Results {
 public:
  void add(const std::string& file, const Table& table) override;
  void add(const std::string& file, const Image& image) override;
  void add(const std::string& file, const Surface& surface) override;
  void add(const std::string& file, const CellSet& cells) override;
  void add(const std::string& file, const DataSet& data) override;

  /// Describes the first difference; empty if every byte is equal. With a `tolerance` above 0 also empty if the same
  /// files exist and the numbers of their tables differ relatively by at most that.
  [[nodiscard]] std::string difference(const Captured& other, double tolerance) const;
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }

 private:
  std::map<std::string, Bytes> bytes_;  ///< all content by file, in a fixed encoding
  std::map<std::string, Table> tables_;
};

/// During its lifetime, allocation number `after` (from 0) of this thread throws std::bad_alloc, in this program and in
/// plug-ins that it loads; later ones succeed again.
class FailingMemory {
 public:
  explicit FailingMemory(long after) noexcept;
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  /// True if an allocation has failed.
  [[nodiscard]] bool failed() const noexcept;
};

}  // namespace sidestream::conformance
