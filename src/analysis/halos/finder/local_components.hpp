// What a server finds in its blocks: whole halos, and parts of components that may go on in other blocks.
#pragma once

#include <span>
#include <vector>

#include "analysis/halos/finder/halo.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::halos {

/// What makes a component a halo.
struct HaloRule {
  double least_peak = 0;  ///< its greatest value is >= this
  Index least_cells = 1;
  [[nodiscard]] bool takes(const Peak& peak, Index cells) const noexcept {
    return peak.id >= 0 && peak.value >= least_peak && cells >= least_cells;
  }
};

/// A part of a component.
struct Part {
  Peak peak;
  Index cells = 0;
  Index first_cell = -1;  ///< linear index of the first cell of its first run: no other part has it
};

/// A run at the border of a box, whose neighbours may lie in other boxes.
struct BorderRun {
  Run run;
  std::int64_t part = 0;
};

/// A run and what it belongs to: the halo with that peak, or, as ~n, part n.
struct OwnedRun {
  Run run;
  std::int64_t owner = 0;
};

/// Parts are numbered from 0.
struct LocalComponents {
  std::vector<Halo> whole;    ///< that lie in one box each
  std::vector<Part> parts;    ///< all that may go on elsewhere, however small they are
  std::vector<Bytes> planes;  ///< of each part: what PartPlanes wrote
  std::vector<BorderRun> border;
  std::vector<OwnedRun> owned;  ///< of all halos and parts, if wanted
  /// Of each view that was looked through: where its runs end in `owned`. Does not travel.
  std::vector<std::size_t> view_ends;

  void write(ByteWriter& out) const;
  [[nodiscard]] static LocalComponents read(ByteReader& in);
  /// Takes what another has; its parts get numbers behind these.
  void append(LocalComponents&& other);
};

/// Looks through blocks. `keep_runs`: OwnedRuns are wanted.
[[nodiscard]] LocalComponents find_parts(std::span<const BlockView> views, const Lattice& lattice, const Rule& rule,
                                         const HaloRule& halo, bool keep_runs);

}  // namespace sidestream::halos
