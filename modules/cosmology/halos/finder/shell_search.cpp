// Sums over the cells in shells around halos.
//
// For spheres, each box first lists the indices along each axis that are near the halo, with squared distances, so that
// the loops over cells visit only the box around the sphere and add three numbers per cell. Otherwise the runs of the
// halo's own cells are visited. A cell's shell is found by binary search among squared edges.
#include <algorithm>
#include <cmath>

#include "cosmology/halos/finder/profile.hpp"
#include "cosmology/halos/finder/shells.hpp"
#include "sidestream/kit/mesh/point_values.hpp"

namespace sidestream::halos {
namespace {

/// Arrays of a block's fields; null data if a field is not on this server.
struct BlockFields {
  ArrayView density;
  std::vector<ArrayView> arrays;
};

/// An index along an axis, and its squared distance.
struct ShellPlace {
  Index place = 0;
  double squared = 0;
};

/// Distances from one halo, the shortest along periodic axes.
class Distances {
 public:
  Distances(const Field& field, const HaloPlace& from, double most)
      : field_(field), peak_(field.lattice.cell_of(from.peak)), offset_(from.offset), most_(most) {}

  /// Squared length along an axis, from -n/2 cells to just below n/2. Uses indices of the whole lattice, so that the
  /// bits are the same wherever it is computed.
  [[nodiscard]] double squared(std::size_t axis, Index place) const noexcept {
    double cells = static_cast<double>(field_.lattice.difference(axis, peak_[axis], place)) - offset_[axis];
    if (field_.lattice.periodic[axis]) {
      const auto n = static_cast<double>(field_.lattice.size[axis]);
      if (cells < -n / 2) cells += n;
      if (cells >= n / 2) cells -= n;
    }
    const double length = cells * field_.spacing[axis];
    return length * length;
  }
  /// Indices in [low, high) that are within the outermost shell.
  void near(std::size_t axis, Index low, Index high, std::vector<ShellPlace>& places) const {
    places.clear();
    for (Index p = low; p < high; ++p) {
      const double away = squared(axis, p);
      if (away < most_) places.push_back({p, away});
    }
  }

 private:
  const Field& field_;
  Index3 peak_;
  std::array<double, 3> offset_;
  double most_;
};

class ShellSearch {
 public:
  ShellSearch(const ProfileQuery& query, const Field& field, const LocalInput& input)
      : query_(query), field_(field), input_(input), sums_(query.shells(), query.fields.size()) {
    for (const double edge : query.edges) squares_.push_back(edge * edge);
  }

  /// Sums over all cells of all blocks.
  void spheres(const KnownHalos& known, ByteWriter& out) {
    const std::vector<BlockView>& views = input_.of(field_.variable);
    std::vector<BlockFields> fields;
    std::vector<std::vector<Box>> boxes;
    for (const BlockView& view : views) {
      fields.push_back(fields_of(view));
      boxes.push_back(view.counted());
    }
    for (std::size_t h = 0; h < known.places.size(); ++h) {
      const Distances distances(field_, known.places[h], squares_.back());
      for (std::size_t v = 0; v < views.size(); ++v) {
        for (const Box& box : boxes[v]) look(views[v], fields[v], box, distances);
      }
      put(static_cast<std::int64_t>(h), out);
    }
  }

  /// Sums over the cells of halos.
  void halos(const std::vector<NumberedRun>& runs, const KnownHalos& known, ByteWriter& out) {
    const std::vector<BlockView>& views = input_.of(field_.variable);
    std::vector<BlockFields> fields;
    for (const BlockView& view : views) fields.push_back(fields_of(view));
    for (std::size_t n = 0; n < runs.size(); ++n) {
      const NumberedRun& one = runs[n];
      const Distances distances(field_, known.places[static_cast<std::size_t>(one.halo)], squares_.back());
      look(fields[one.view], one.run, distances);
      if (n + 1 == runs.size() || runs[n + 1].halo != one.halo) put(one.halo, out);
    }
  }

 private:
  [[nodiscard]] BlockFields fields_of(const BlockView& view) const {
    BlockFields fields{view.array, {}};
    for (const ProfileField& field : query_.fields) {
      const BlockView* of = input_.find(field.variable, view.block.id);
      fields.arrays.push_back(of ? of->array : ArrayView{});
    }
    return fields;
  }
  void put(std::int64_t halo, ByteWriter& out) {
    if (!sums_.any()) return;
    ByteWriter sums;
    sums_.write(sums);
    out.put(halo);
    out.put(sums.bytes());
    sums_.clear();
  }

  /// Adds a cell; `p` in the mesh's indices.
  void add(const BlockFields& fields, const Index3& p, double squared) {
    if (!(squared < squares_.back())) return;
    const double density = number_at(fields.density, p, field_.component);
    if (std::isnan(density)) return;
    const auto shell =
        static_cast<std::size_t>(std::upper_bound(squares_.begin(), squares_.end(), squared) - squares_.begin());
    sums_.add(shell, density);
    if (!std::isfinite(density)) return;
    for (std::size_t f = 0; f < fields.arrays.size(); ++f) {
      if (fields.arrays[f].data == nullptr) continue;
      const double value = number_at(fields.arrays[f], p, query_.fields[f].component);
      if (std::isfinite(value)) sums_.add_field(shell, f, density, value);
    }
  }
  void look(const BlockView& view, const BlockFields& fields, const Box& box, const Distances& distances) {
    for (std::size_t a = 0; a < 3; ++a) {
      distances.near(a, box.lo[a] - field_.lattice.origin[a], box.hi[a] - field_.lattice.origin[a], near_[a]);
      if (near_[a].empty()) return;
    }
    Index3 p;
    for (const ShellPlace& x : near_[0]) {
      p[0] = x.place + field_.lattice.origin[0];
      for (const ShellPlace& y : near_[1]) {
        p[1] = y.place + field_.lattice.origin[1];
        const double flat = x.squared + y.squared;
        if (!(flat < squares_.back())) continue;
        for (const ShellPlace& z : near_[2]) {
          p[2] = z.place + field_.lattice.origin[2];
          if (view.ghosts.data != nullptr && *view.ghosts.at<std::uint8_t>(p[0], p[1], p[2]) != 0) continue;
          add(fields, p, flat + z.squared);
        }
      }
    }
  }
  void look(const BlockFields& fields, const Run& run, const Distances& distances) {
    const Lattice& lattice = field_.lattice;
    Index3 cell = lattice.cell_in(run.row, run.first);
    for (; cell[lattice.along] <= run.last; ++cell[lattice.along]) {
      const double squared =
          distances.squared(0, cell[0]) + distances.squared(1, cell[1]) + distances.squared(2, cell[2]);
      add(fields, {cell[0] + lattice.origin[0], cell[1] + lattice.origin[1], cell[2] + lattice.origin[2]}, squared);
    }
  }

  const ProfileQuery& query_;
  const Field& field_;
  const LocalInput& input_;
  std::vector<double> squares_;  ///< squares of the edges
  ShellSums sums_;               ///< of the current halo
  std::array<std::vector<ShellPlace>, 3> near_;
};

}  // namespace

Bytes sum_shells(const ProfileQuery& query, const Field& field, const std::vector<NumberedRun>& runs,
                 const KnownHalos& known, const LocalInput& input) {
  ShellSearch search(query, field, input);
  ByteWriter out;
  if (query.sphere) {
    search.spheres(known, out);
  } else {
    search.halos(runs, known, out);
  }
  return out.take();
}

}  // namespace sidestream::halos
