// Results kept in memory for comparison.
#pragma once

#include <map>
#include <string>

#include "sidestream/extend/analysis.hpp"
#include "storage/results/result_bytes.hpp"

namespace sidestream {

template <>
inline constexpr std::size_t field_count<Image> = 3;

namespace conformance {

class Captured final : public Results {
 public:
  void add(const std::string& file, const Table& table) override;
  void add(const std::string& file, const Image& image) override { keep(file, packed(image)); }
  void add(const std::string& file, const Surface& surface) override { keep(file, packed(surface)); }
  void add(const std::string& file, const CellSet& cells) override { keep(file, packed(cells)); }
  void add(const std::string& file, const DataSet& data) override { keep(file, packed(data)); }

  /// Describes the first difference; empty if every byte is equal. With a `tolerance` above 0 also empty if the same
  /// files exist and the numbers of their tables differ relatively by at most that.
  [[nodiscard]] std::string difference(const Captured& other, double tolerance) const;
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }

 private:
  void keep(const std::string& file, const Bytes& bytes);

  std::map<std::string, Bytes> bytes_;  ///< all content by file
  std::map<std::string, Table> tables_;
};

}  // namespace conformance
}  // namespace sidestream
