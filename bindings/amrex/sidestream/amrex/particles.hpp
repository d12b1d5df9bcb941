// Particles of the framework AMReX, as something to publish. C++17.
#pragma once

#include <AMReX_ParallelDescriptor.H>
#include <AMReX_REAL.H>
#include <AMReX_Vector.H>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sidestream/amrex/blocks.hpp"

namespace sidestream {

/// One variable of particles, and the numbers of a particle that form it.
struct AmrexColumn {
  enum class From { position, id, cpu, real, integer };
  std::string name;
  From from = From::real;
  int first = 0, components = 1;  ///< range in the particle's reals or integers, counted as WritePlotFile does
  [[nodiscard]] Type type() const {
    if (from == From::id) return Type::int64;
    return from == From::cpu || from == From::integer ? Type::int32 : Element<::amrex::ParticleReal>::type;
  }
};

/// Columns of these names. Consecutive `NAME_x`, `NAME_y` and `NAME_z` become one column with components, as in
/// `sidestream import amrex`.
[[nodiscard]] inline std::vector<AmrexColumn> amrex_columns(const ::amrex::Vector<std::string>& names,
                                                            AmrexColumn::From from) {
  std::vector<AmrexColumn> columns;
  const auto taken = [&](const std::string& name) {
    return std::any_of(columns.begin(), columns.end(), [&](const AmrexColumn& c) { return c.name == name; }) ||
           std::find(names.begin(), names.end(), name) != names.end();
  };
  for (std::size_t first = 0; first < amrex_size(names);) {
    AmrexColumn column{names[first], from, static_cast<int>(first), 1};
    const std::string stem = column.name.substr(0, column.name.rfind('_'));
    const auto is = [&](std::size_t n, const char* end) { return n < amrex_size(names) && names[n] == stem + end; };
    if (is(first, "_x") && is(first + 1, "_y") && !taken(stem)) {
      column.components = is(first + 2, "_z") ? 3 : 2;
      column.name = stem;
    }
    first += static_cast<std::size_t>(column.components);
    columns.push_back(std::move(column));
  }
  return columns;
}

/// Particles of one container, in the form that a session takes.
class AmrexParticles {
 public:
  AmrexParticles(const AmrexParticles&) = default;
  AmrexParticles& operator=(const AmrexParticles&) = default;
  virtual ~AmrexParticles() = default;

  [[nodiscard]] const AmrexMesh& mesh() const { return mesh_; }
  /// A block for each grid with particles on this rank; sorted by id.
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] std::vector<Variable> variables() const {
    std::vector<Variable> found;
    for (const AmrexColumn& column : columns_) {
      Variable& variable = found.emplace_back();
      variable.name = column.name;
      variable.type = column.type();
      variable.centering = Centering::node;
      variable.components = column.components;
      if (column.from == AmrexColumn::From::position) variable.role = Role::coordinates;
    }
    return found;
  }
  /// Publishes all variables of all blocks. Throws what the session throws. Returns refused if any array is.
  virtual Taken publish(Session& session) const = 0;

 protected:
  explicit AmrexParticles(const std::string& name) {
    mesh_.name = name;
    mesh_.points = true;
  }
  AmrexMesh mesh_;
  std::vector<AmrexColumn> columns_;
  std::vector<Block> blocks_;
};

/// Particles of a ParticleContainer whose tiles have arrays of structures, structures of arrays, or both. Refers to the
/// container, which must not change until it is published. Omits neighbours, and particles whose id is not positive, as
/// plotfiles do.
template <class Container>
class AmrexParticlesOf final : public AmrexParticles {
 public:
  /// Names are as for WritePlotFile: numbers in structures, then numbers in arrays. Without names they are
  /// `real_comp0`, ... and `int_comp0`, .... Throws Error(usage), on every rank, if there are too few or too many.
  AmrexParticlesOf(const Container& container, const std::string& name, ::amrex::Vector<std::string> reals,
                   ::amrex::Vector<std::string> integers)
      : AmrexParticles(name) {
    using From = AmrexColumn::From;
    fit(reals, Container::NStructReal + container.NumRealComps() - first_real, "real");
    fit(integers, Container::NStructInt + container.NumIntComps(), "int");
    columns_ = {{"position", From::position, 0, AMREX_SPACEDIM}, {"id", From::id, 0, 1}, {"cpu", From::cpu, 0, 1}};
    for (AmrexColumn& column : amrex_columns(integers, From::integer)) columns_.push_back(std::move(column));
    for (AmrexColumn& column : amrex_columns(reals, From::real)) columns_.push_back(std::move(column));
    for (AmrexColumn& column : columns_) column.name.insert(0, name + '_');
    check_memory();
    std::int64_t first_id = 0;
    for (int level = 0; level <= container.finestLevel(); ++level) {
      const auto n = static_cast<std::size_t>(level);
      if (n < amrex_size(container.GetParticles())) add_level(container.GetParticles()[n], first_id);
      first_id += container.ParticleBoxArray(level).size();
    }
    // Adds a block without particles, so that analyses run, and find none, even if no rank has any.
    if (blocks_.empty()) add_block(first_id + ::amrex::ParallelDescriptor::MyProc());
  }

  Taken publish(Session& session) const override {
    Taken taken = Taken::yes;
    for (std::size_t n = 0; n < blocks_.size(); ++n) {
      for (const AmrexColumn& column : columns_) {
        if (!publish(session, blocks_[n], tiles_[n], column)) taken = Taken::refused;
      }
    }
    return taken;
  }

 private:
  using Tile = typename std::decay_t<decltype(std::declval<const Container&>().GetParticles()[0])>::mapped_type;
  using Real = ::amrex::ParticleReal;
  static constexpr bool only_arrays = Container::ParticleType::is_soa_particle;
  /// Without structures, the first reals are the positions, which have no names.
  static constexpr int first_real = only_arrays ? AMREX_SPACEDIM : 0;

  void fit(::amrex::Vector<std::string>& names, int count, const char* kind) const {
    const auto wanted = static_cast<std::size_t>(count);
    for (std::size_t n = 0; amrex_size(names) < wanted && n == amrex_size(names); ++n) {
      names.push_back(kind + std::string("_comp") + std::to_string(n));
    }
    if (amrex_size(names) == wanted) return;
    throw Error(Code::usage, "publish: the particles '" + mesh_.name + "' have " + std::to_string(wanted) + ' ' + kind +
                                 " components and " + std::to_string(names.size()) +
                                 " names of them; give a name for each, or none");
  }

  void check_memory() const {
#ifdef AMREX_USE_GPU
    if constexpr (::amrex::RunOnGpu<typename Container::template AllocatorType<Real>>::value) {
      throw Error(Code::usage, "publish: the particles '" + mesh_.name +
                                   "' are in the memory of a GPU, which Sidestream does not read; copy them to a "
                                   "container with amrex::PinnedArenaAllocator, and publish that");
    }
#endif
  }

  Block& add_block(std::int64_t id) {
    Block& block = blocks_.emplace_back();
    block.id = id;
    block.space = IndexSpace::list;
    block.cells = list_box(0);
    tiles_.emplace_back();
    return block;
  }

  /// Adds a block for each grid with particles. A map of tiles is sorted by grid.
  template <class Map>
  void add_level(const Map& tiles, std::int64_t first_id) {
    for (const auto& [place, tile] : tiles) {
      Index count = 0;
      Bounds bounds;
      for_each(tile, [&](int n) {
        ++count;
        extend(bounds, tile, n);
      });
      if (count == 0) continue;
      const std::int64_t id = first_id + place.first;
      Block& block = blocks_.empty() || blocks_.back().id != id ? add_block(id) : blocks_.back();
      for (std::size_t a = 0; a < 3; ++a) {
        block.bounds.low[a] = std::min(block.bounds.low[a], bounds.low[a]);
        block.bounds.high[a] = std::max(block.bounds.high[a], bounds.high[a]);
      }
      block.lengths.points += count;
      block.cells = list_box(block.lengths.points);
      tiles_.back().push_back(&tile);
    }
  }

  static void extend(Bounds& bounds, const Tile& tile, int n) {
    for (int a = 0; a < 3; ++a) {
      const double x = a < AMREX_SPACEDIM ? static_cast<double>(position(tile, n, a)) : 0;
      if (!std::isfinite(x)) continue;
      double& low = bounds.low[static_cast<std::size_t>(a)];
      double& high = bounds.high[static_cast<std::size_t>(a)];
      low = std::min(low, x);
      high = std::max(high, x);
    }
  }

  /// Calls `f` with the number of each particle that counts.
  template <class F>
  static void for_each(const Tile& tile, F&& f) {
    const int count = tile.numParticles();
    for (int n = 0; n < count; ++n) {
      if (id_of(tile, n) > 0) f(n);
    }
  }

  static std::int64_t id_of(const Tile& tile, int n) {
    if constexpr (only_arrays) {
      return static_cast<std::int64_t>(::amrex::Long(tile.id(n)));
    } else {
      return static_cast<std::int64_t>(::amrex::Long(tile.GetArrayOfStructs()[n].id()));
    }
  }

  static std::int32_t cpu_of(const Tile& tile, int n) {
    if constexpr (only_arrays) {
      return static_cast<std::int32_t>(int(tile.cpu(n)));
    } else {
      return static_cast<std::int32_t>(int(tile.GetArrayOfStructs()[n].cpu()));
    }
  }

  static Real position(const Tile& tile, int n, int axis) {
    if constexpr (only_arrays) {
      return tile.GetStructOfArrays().GetRealData(axis)[n];
    } else {
      return tile.GetArrayOfStructs()[n].pos(axis);
    }
  }

  static Real real_of(const Tile& tile, int n, int number) {
    if constexpr (Container::NStructReal > 0) {
      if (number < Container::NStructReal) return tile.GetArrayOfStructs()[n].rdata(number);
    }
    return tile.GetStructOfArrays().GetRealData(number - Container::NStructReal + first_real)[n];
  }

  static std::int32_t integer_of(const Tile& tile, int n, int number) {
    if constexpr (Container::NStructInt > 0) {
      if (number < Container::NStructInt) return tile.GetArrayOfStructs()[n].idata(number);
    }
    return tile.GetStructOfArrays().GetIntData(number - Container::NStructInt)[n];
  }

  /// Writes a column of all tiles to memory of the session. Returns false if the session has no memory.
  template <class T, class Get>
  static bool fill(Session& session, const Block& block, const std::vector<const Tile*>& tiles,
                   const AmrexColumn& column, Get&& get) {
    const auto count = static_cast<std::size_t>(block.lengths.points) * static_cast<std::size_t>(column.components);
    if (count == 0) return session.publish(column.name, block.id, Values(column.type(), nullptr, 0)) == Taken::yes;
    T* to = session.alloc<T>(column.name, block.id, count);
    if (to == nullptr) return false;
    for (const Tile* tile : tiles) {
      for_each(*tile, [&](int n) {
        for (int c = 0; c < column.components; ++c) *to++ = get(*tile, n, column.first + c);
      });
    }
    session.commit(column.name, block.id);
    session.clear(column.name, block.id);
    return true;
  }

  static bool publish(Session& session, const Block& block, const std::vector<const Tile*>& tiles,
                      const AmrexColumn& column) {
    switch (column.from) {
      case AmrexColumn::From::position:
        return fill<Real>(session, block, tiles, column, position);
      case AmrexColumn::From::id:
        return fill<std::int64_t>(session, block, tiles, column, [](const Tile& t, int n, int) { return id_of(t, n); });
      case AmrexColumn::From::cpu:
        return fill<std::int32_t>(session, block, tiles, column,
                                  [](const Tile& t, int n, int) { return cpu_of(t, n); });
      case AmrexColumn::From::integer:
        return fill<std::int32_t>(session, block, tiles, column, integer_of);
      default:
        return fill<Real>(session, block, tiles, column, real_of);
    }
  }

  std::vector<std::vector<const Tile*>> tiles_;  ///< for each block
};

/// The particles of a container as the mesh of points `name` and its variables `NAME_position`, `NAME_id`, `NAME_cpu`
/// and `NAME_` with each name of a component; see AmrexParticlesOf.
template <class Container>
[[nodiscard]] AmrexParticlesOf<Container> amrex_particles(const Container& container, const std::string& name,
                                                          const ::amrex::Vector<std::string>& reals = {},
                                                          const ::amrex::Vector<std::string>& integers = {}) {
  return {container, name, reals, integers};
}

}  // namespace sidestream
