// The mesh of one domain as RAMSES writes it: its octs, level by level, list by list.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "importers/ramses/fortran_file.hpp"
#include "importers/ramses/output.hpp"

namespace sidestream::ramses {

/// What `amr_NNNNN.outDDDDD` begins with.
struct AmrHeader {
  std::array<std::int64_t, 3> coarse{1, 1, 1};  ///< cells of level 0, those of regions beyond the boundary included
  int levels = 0;
  int boundaries = 0;                ///< regions of octs beyond the boundary
  std::vector<std::int64_t> owners;  ///< of coarse cells, x fastest: the domain, from 1
  /// Octs of level l (from 1) in list b: entry (l - 1) * lists() + b. Lists are those of the domains, then of the
  /// regions.
  std::vector<std::int64_t> counts;
  int domains = 0;
  [[nodiscard]] std::size_t lists() const {
    return static_cast<std::size_t>(domains) + static_cast<std::size_t>(boundaries);
  }
  [[nodiscard]] std::int64_t count(int level, std::size_t list) const {
    return counts[static_cast<std::size_t>(level - 1) * lists() + list];
  }
};

/// Where an oct is: counted in octs of its level along each axis from the first coarse cell. Equals the cell of the
/// level before that it lies in.
using OctIndex = std::array<std::uint32_t, 3>;

/// The octs of one level, in the order of the file.
struct LevelOcts {
  std::vector<OctIndex> octs;
  std::vector<std::uint32_t> list;  ///< of each
};

/// Reads the mesh of a domain from the coarsest level on. Throws Error(file).
class AmrFile {
 public:
  AmrFile(const std::string& path, const Info& info);
  [[nodiscard]] const AmrHeader& header() const noexcept { return header_; }
  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  /// The octs of the next level, the first time of level 1. To be asked for at most `header().levels` times.
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
  int level_ = 0;  ///< that was read last
};

}  // namespace sidestream::ramses
