// Components found in a server's blocks: whole halos, and parts that may continue in other blocks.
#pragma once

#include <span>
#include <vector>

#include "cosmology/halos/finder/halo.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::halos {

/// Rule for which components are halos.
struct HaloRule {
  double least_peak = 0;  ///< least value of the peak
  Index least_cells = 1;
  [[nodiscard]] bool takes(const Peak& peak, Index cells) const noexcept {
    return peak.id >= 0 && peak.value >= least_peak && cells >= least_cells;
  }
};

/// A part of a component.
struct Part {
  Peak peak;
  Index cells = 0;
  Index first_cell = -1;  ///< linear index of the first cell of its first run, which identifies the part
};

/// A run at the border of a box, whose neighbours may lie in other boxes.
struct BorderRun {
  Run run;
  std::int64_t part = 0;
};

/// A run and its owner: the halo with that peak, or, as ~n, part n.
struct OwnedRun {
  Run run;
  std::int64_t owner = 0;
};

/// Parts are numbered from 0.
struct LocalComponents {
  std::vector<Halo> whole;    ///< halos that lie in one box
  std::vector<Part> parts;    ///< all parts that may continue elsewhere, however small
  std::vector<Bytes> planes;  ///< of each part, as PartPlanes wrote them
  std::vector<BorderRun> border;
  std::vector<OwnedRun> owned;  ///< runs of all halos and parts, if requested
  /// End of each view's runs in `owned`. Not sent between servers.
  std::vector<std::size_t> view_ends;

  void write(ByteWriter& out) const;
  [[nodiscard]] static LocalComponents read(ByteReader& in);
  /// Appends the contents of another; its parts are renumbered behind these.
  void append(LocalComponents&& other);
};

/// Searches blocks. `keep_runs`: also returns `owned`.
[[nodiscard]] LocalComponents find_parts(std::span<const BlockView> views, const Lattice& lattice, const Rule& rule,
                                         const HaloRule& halo, bool keep_runs);

}  // namespace sidestream::halos
