// Results kept in memory for comparison.
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

}  // namespace sidestream::conformance
