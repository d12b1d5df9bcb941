// The patches of all levels: positions, owners and values.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "box.hpp"
#include "clustering.hpp"
#include "copy_plan.hpp"
#include "options.hpp"
#include "problem.hpp"

namespace advection {

/// Layers of cells around a patch that its fluxes need.
inline constexpr Index ghost_layers = 2;

/// Geometry of the levels.
class Geometry {
 public:
  Geometry() = default;
  explicit Geometry(const Options& options)
      : axes_(options.dimensions), cells_(options.cells), ratio_(options.ratio), tile_(options.tile) {}
  [[nodiscard]] int axes() const { return axes_; }
  /// Cells of a level along each used axis.
  [[nodiscard]] Index cells(int level) const;
  [[nodiscard]] Box domain(int level) const;
  [[nodiscard]] Period period(int level) const { return {cells(level), cells(level), axes_ == 3 ? cells(level) : 0}; }
  /// Refinement ratio to the next level.
  [[nodiscard]] Index3 ratio() const;
  [[nodiscard]] double spacing(int level) const { return 1.0 / static_cast<double>(cells(level)); }
  [[nodiscard]] Place centre(int level, Index i, Index j, Index k) const;
  /// All tiles of a level, as a box of tiles; the cells of a box of tiles, and the reverse.
  [[nodiscard]] Box tiles(int level) const;
  [[nodiscard]] Box cells_of(Box tiles) const;
  [[nodiscard]] Box tiles_of(Box cells) const;
  /// The cells of the next coarser level that a patch needs to fill its ghosts.
  [[nodiscard]] Box under(const Box& cells) const {
    return grown(coarsened(grown(cells, ghost_layers, axes()), ratio()), 1, axes());
  }

 private:
  int axes_ = 2;
  Index cells_ = 0, ratio_ = 2, tile_ = 0;
};

struct Patch {
  Box box;
  int owner = 0;
  /// Derived from the level and the lower corner, so that a patch that stays, or only grows, keeps it.
  std::int64_t id = 0;
};

/// Distributes disjoint boxes of a level as patches, by ascending id. Neighbours go to one rank if that is balanced;
/// ranks left empty on one level come first on the next. The same on every rank.
[[nodiscard]] std::vector<Patch> deal(const Geometry& geometry, int level, const std::vector<Box>& boxes, int ranks);

/// One level. Fields have an entry per patch, empty if another rank owns it.
struct Level {
  std::vector<Patch> patches;
  std::vector<Field> density;                ///< the patch and two layers of cells around it
  std::vector<std::array<Field, 3>> speeds;  ///< through the faces of the patch and of one layer around it

  [[nodiscard]] bool own(std::size_t patch) const { return density[patch].box().count() > 0; }
  [[nodiscard]] std::vector<Owned> boxes() const;
  [[nodiscard]] std::int64_t cells() const;
};

/// A level with memory for the patches of this rank, initialised to 0.
[[nodiscard]] Level make_level(std::vector<Patch> patches, const Geometry& geometry, int rank);
/// Sets the speeds; see Problem::through.
void set_speeds(Level& level, int number, const Geometry& geometry, const Problem& problem);
/// Sets the density of this rank's patches to the exact one at the start.
void set_exact(Level& level, int number, const Geometry& geometry, const Problem& problem);

/// Pointers to fields, as arguments of CopyPlan.
[[nodiscard]] std::vector<const Field*> sources(const std::vector<Field>& fields);
[[nodiscard]] std::vector<Field*> targets(std::vector<Field>& fields);

}  // namespace advection
