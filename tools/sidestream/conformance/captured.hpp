// Results kept in memory, to be compared.
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

  /// How the other differs, in words; empty if every byte is the same, or with a `tolerance` above 0 if the same files
  /// came and the numbers of their tables differ by no more than that part of them.
  [[nodiscard]] std::string difference(const Captured& other, double tolerance) const;
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }

 private:
  std::map<std::string, Bytes> bytes_;  ///< by file, everything in a fixed form
  std::map<std::string, Table> tables_;
};

}  // namespace sidestream::conformance
