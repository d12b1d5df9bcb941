// Halos and their parts, in the cells of any graph (cell_graph.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"

namespace sidestream::halos {

/// The identifier of no cell; it precedes the identifiers of all cells.
template <class Id>
inline constexpr Id no_cell{};
template <>
inline constexpr Index no_cell<Index> = -1;

/// Greatest value of a set of cells, and its cell. Among equal values the cell of the greatest identifier counts.
template <class Id>
struct Peak {
  double value = -std::numeric_limits<double>::infinity();
  Id id = no_cell<Id>;
  void raise(double other, const Id& other_id) noexcept {
    if (other > value || (other == value && id < other_id)) *this = {other, other_id};
  }
};

/// A number of cells or particles, and the exact sum of what they weigh.
struct CountedSum {
  Index count = 0;
  ExactSum sum;

  /// `words`: memory that is used for each sum in turn.
  void write(ByteWriter& out, std::vector<std::uint32_t>& words) const {
    words.clear();
    pack(sum, words);
    out.put(count);
    out.put(words);
  }
  /// Adds what `write` wrote.
  void read(ByteReader& in, std::vector<std::uint32_t>& words) {
    count += in.get<Index>();
    in.get(words);
    static_cast<void>(add_packed(words.data(), words.size(), sum));
  }
};

/// A halo. Places are differences from the peak's cell in the graph's units of length, the shortest along periodic
/// axes. Masses and volumes are in the graph's unit of volume. Trivially copyable; sent between servers.
template <class Id>
struct Halo {
  Peak<Id> peak;
  Index cells = 0;
  double mass = 0, volume = 0;                ///< sums over its cells, rounded once; no volume if all cells are equal
  std::array<double, 3> weighted{}, plain{};  ///< centroids: weighted by mass, and by volume
  Index3 low{}, high{};                       ///< its first and last cells, or its lower and upper faces
};

/// Rule for which components are halos.
struct HaloRule {
  double least_peak = 0;  ///< least value of the peak
  Index least_cells = 1;
  template <class Id>
  [[nodiscard]] bool takes(const Peak<Id>& peak, Index cells) const noexcept {
    return peak.value >= least_peak && cells >= least_cells;
  }
};

/// A part of a component. Trivially copyable; sent between servers.
template <class Id>
struct Part {
  Peak<Id> peak;
  Index cells = 0;
  Id first_cell = no_cell<Id>;  ///< first cell of its first piece, which identifies the part
};

/// A part of a component, by its first cell, and the peak of its halo. Trivially copyable; sent between servers.
template <class Id>
struct HaloPart {
  Id first_cell = no_cell<Id>, peak = no_cell<Id>;
};

/// A piece of a halo, with the halo's peak. Trivially copyable; sent between servers.
template <class Piece, class Id>
struct HaloPiece {
  Piece piece;
  Id halo = no_cell<Id>;
};

/// A piece of a halo, with the halo's number; -1: none.
template <class Piece>
using NumberedPiece = HaloPiece<Piece, Index>;

}  // namespace sidestream::halos
