// The mesh of one domain in RAMSES' format: its octs by level and list.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "importers/ramses/fortran_file.hpp"
#include "importers/ramses/output.hpp"

namespace sidestream::ramses {

/// Beginning of `amr_NNNNN.outDDDDD`.
struct AmrHeader {
  std::array<std::int64_t, 3> coarse{1, 1, 1};  ///< cells of level 0, also of boundary regions
  int levels = 0;
  int boundaries = 0;                ///< number of boundary regions
  std::vector<std::int64_t> owners;  ///< domain, from 1, of each coarse cell, x fastest
  /// Number of octs of level l (from 1) in list b: entry (l - 1) * lists() + b. Lists are those of the domains, then of
  /// the boundary regions.
  std::vector<std::int64_t> counts;
  int domains = 0;
  [[nodiscard]] std::size_t lists() const {
    return static_cast<std::size_t>(domains) + static_cast<std::size_t>(boundaries);
  }
  [[nodiscard]] std::int64_t count(int level, std::size_t list) const {
    return counts[static_cast<std::size_t>(level - 1) * lists() + list];
  }
};

/// Position of an oct, counted in octs of its level along each axis from the first coarse cell. Equals the index of the
/// cell of the next coarser level that contains it.
using OctIndex = std::array<std::uint32_t, 3>;

/// The octs of one level, in the order of the file.
struct LevelOcts {
  std::vector<OctIndex> octs;
  std::vector<std::uint32_t> list;  ///< list of each oct
};

/// Reads the mesh of a domain from the coarsest level on. Throws Error(file).
class AmrFile {
 public:
  AmrFile(const std::string& path, const Info& info);
  [[nodiscard]] const AmrHeader& header() const noexcept { return header_; }
  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  /// The octs of the next level, beginning with level 1. Call at most `header().levels` times.
  [[nodiscard]] LevelOcts next_level();

 private:
  void read_sizes();
  void read_counts();
  void read_coarse();
  void read_list(std::size_t list, std::uint64_t count, LevelOcts& octs);
  [[nodiscard]] std::uint32_t index_of(double middle, int axis) const;

  FortranFile file_;
  Info info_;
  AmrHeader header_;
  int level_ = 0;  ///< the level that was read last
};

}  // namespace sidestream::ramses
