// The patches of all levels: where they are, who has them, what is in them.
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

/// Layers of cells round a patch that its fluxes need.
inline constexpr Index ghost_layers = 2;

/// Where levels are in space.
class Geometry {
 public:
  Geometry() = default;
  explicit Geometry(const Options& options)
      : axes_(options.dimensions), cells_(options.cells), ratio_(options.ratio), tile_(options.tile) {}
  [[nodiscard]] int axes() const { return axes_; }
  /// Cells of a level along each axis that there is.
  [[nodiscard]] Index cells(int level) const;
  [[nodiscard]] Box domain(int level) const;
  [[nodiscard]] Period period(int level) const { return {cells(level), cells(level), axes_ == 3 ? cells(level) : 0}; }
  /// Cells of the next level along one.
  [[nodiscard]] Index3 ratio() const;
  [[nodiscard]] double spacing(int level) const { return 1.0 / static_cast<double>(cells(level)); }
  [[nodiscard]] Place centre(int level, Index i, Index j, Index k) const;
  /// All tiles of a level, as a box of them; and the cells of some of these.
  [[nodiscard]] Box tiles(int level) const;
  [[nodiscard]] Box cells_of(Box tiles) const;
  [[nodiscard]] Box tiles_of(Box cells) const;
  /// What a patch needs of the next coarser level to fill the cells round it, in cells of that level.
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
  /// Follows from the level and the lower corner: a patch that stays, or only grows, keeps it.
  std::int64_t id = 0;
};

/// Patches for disjoint boxes of a level, by ascending id. Neighbours go to one rank where that is even; ranks that one
/// level leaves empty come first on the next. The same on every rank.
[[nodiscard]] std::vector<Patch> deal(const Geometry& geometry, int level, const std::vector<Box>& boxes, int ranks);

/// One level. Fields have an entry for each patch, empty where another rank has it.
struct Level {
  std::vector<Patch> patches;
  std::vector<Field> density;                ///< the patch and two layers of cells round it
  std::vector<std::array<Field, 3>> speeds;  ///< through the faces of the patch and of one layer round it

  [[nodiscard]] bool own(std::size_t patch) const { return density[patch].box().count() > 0; }
  [[nodiscard]] std::vector<Owned> boxes() const;
  [[nodiscard]] std::int64_t cells() const;
};

/// A level with memory for the patches of this rank, all 0.
[[nodiscard]] Level make_level(std::vector<Patch> patches, const Geometry& geometry, int rank);
/// Sets the speeds; see Problem::through.
void set_speeds(Level& level, int number, const Geometry& geometry, const Problem& problem);
/// Sets the density of the patches of this rank to what it should be at the start.
void set_exact(Level& level, int number, const Geometry& geometry, const Problem& problem);

/// Pointers to fields as CopyPlan takes them.
[[nodiscard]] std::vector<const Field*> sources(const std::vector<Field>& fields);
[[nodiscard]] std::vector<Field*> targets(std::vector<Field>& fields);

}  // namespace advection
