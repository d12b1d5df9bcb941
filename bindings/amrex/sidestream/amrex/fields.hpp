// Fields of the framework AMReX (MultiFab, iMultiFab and other FabArrays on levels), as something to publish. C++17.
#pragma once

#include <AMReX_Array.H>
#include <AMReX_BoxArray.H>
#include <AMReX_DistributionMapping.H>
#include <AMReX_FabArray.H>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sidestream/amrex/blocks.hpp"

namespace sidestream {

/// Use of ghost cells: omitted; or given to outputs (`hdf5: {ghosts: true}`); or given with exactly the values of the
/// neighbours, bit by bit, as after FillBoundary.
enum class AmrexGhosts { left_out, given, filled };

/// A component of a FabArray, and the name of its variable.
struct AmrexComponent {
  std::string name;
  int number = 0;
};

/// Components of one FabArray per level. Refers to the arrays, which must not change until they are published.
class AmrexFields {
 public:
  /// The array of one box. Boxes count points.
  struct Piece {
    std::int64_t block;
    Box valid, allocated;
    const void* data;        ///< component 0 at the lower corner of `allocated`
    Index component_stride;  ///< in elements
  };

  /// `arrays` has an entry for each level from the coarsest on. `geometries` and `ratios` may have more. Throws
  /// Error(usage), on every rank, if a level has no array, or one of another kind than level 0.
  template <class Fabs>
  AmrexFields(const std::vector<const Fabs*>& arrays, std::vector<AmrexComponent> components,
              const ::amrex::Vector<::amrex::Geometry>& geometries, const ::amrex::Vector<::amrex::IntVect>& ratios)
      : mesh_(amrex_mesh("grid", arrays.size(), geometries, ratios)),
        components_(std::move(components)),
        type_(Element<typename Fabs::value_type>::type) {
    make_names();
    std::int64_t first_id = 0;
    for (std::size_t level = 0; level < arrays.size(); ++level) {
      check(arrays[level], level, arrays.front());
      boxes_.push_back(arrays[level]->boxArray());
      boxes_.back().enclosedCells();
      owners_.push_back(arrays[level]->DistributionMap());
      add_level(*arrays[level], static_cast<int>(level), first_id, geometries[level].Domain().smallEnd());
      first_id += boxes_.back().size();
    }
  }

  /// Sets the mesh of the fields, which is `grid` otherwise. All fields of a mesh have the same boxes on the same
  /// ranks.
  AmrexFields& on(const std::string& mesh) & {
    mesh_.name = mesh;
    return *this;
  }
  AmrexFields&& on(const std::string& mesh) && { return std::move(on(mesh)); }
  /// Sets the use of ghost cells, which are left out otherwise.
  AmrexFields& with(AmrexGhosts ghosts) & {
    ghosts_ = ghosts;
    return *this;
  }
  AmrexFields&& with(AmrexGhosts ghosts) && { return std::move(with(ghosts)); }
  /// Keeps the owner of the arrays alive until the fields are published.
  AmrexFields&& keep(std::shared_ptr<const void> arrays) && {
    kept_ = std::move(arrays);
    return std::move(*this);
  }

  [[nodiscard]] const AmrexMesh& mesh() const { return mesh_; }
  [[nodiscard]] const std::vector<AmrexComponent>& components() const { return components_; }
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  [[nodiscard]] std::size_t levels() const { return boxes_.size(); }
  [[nodiscard]] bool has_ghosts() const { return ghosts_ != AmrexGhosts::left_out; }

  /// The points of a piece that are published.
  [[nodiscard]] const Box& box_of(const Piece& piece) const { return has_ghosts() ? piece.allocated : piece.valid; }

  [[nodiscard]] std::vector<Variable> variables() const {
    std::vector<Variable> found;
    for (const AmrexComponent& component : components_) {
      Variable& variable = found.emplace_back();
      variable.name = component.name;
      variable.type = type_;
      variable.centering = centering_;
      variable.filled = ghosts_ == AmrexGhosts::filled;
    }
    return found;
  }

  /// True if both have the same boxes on the same ranks, on all levels that both have.
  [[nodiscard]] bool same_boxes(const AmrexFields& other) const {
    for (std::size_t level = 0; level < std::min(levels(), other.levels()); ++level) {
      if (!(boxes_[level] == other.boxes_[level]) || !(owners_[level] == other.owners_[level])) return false;
    }
    return true;
  }

  /// Publishes all components of all boxes of this rank. Throws what the session throws. Returns refused if any array
  /// is.
  Taken publish(Session& session) const {
    Taken taken = Taken::yes;
    for (const Piece& piece : pieces_) {
      const Box& box = box_of(piece);
      Index3 extents{}, strides{};
      Index offset = 0, stride = 1;
      for (std::size_t a = 0; a < AMREX_SPACEDIM; ++a) {
        extents[a] = box.extent(static_cast<int>(a));
        strides[a] = stride;
        offset += stride * (box.lo[a] - piece.allocated.lo[a]);
        stride *= piece.allocated.extent(static_cast<int>(a));
      }
      for (const AmrexComponent& component : components_) {
        const Index skipped = offset + component.number * piece.component_stride;
        const ProgramArray array{
            type_, bytes_after(piece.data, skipped), AMREX_SPACEDIM, extents.data(), strides.data(), -1};
        if (session.publish(component.name, piece.block, array) == Taken::refused) taken = Taken::refused;
      }
    }
    return taken;
  }

 private:
  [[nodiscard]] const void* bytes_after(const void* data, Index elements) const {
    return static_cast<const std::byte*>(data) + elements * static_cast<Index>(size_of(type_));
  }

  /// Names as `sidestream import amrex` makes them: slashes and bytes other than printable ASCII become `_`, and equal
  /// names are distinguished by more of them.
  void make_names() {
    std::set<std::string> taken;
    for (AmrexComponent& component : components_) {
      for (char& c : component.name) {
        if (c == '/' || static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '_';
      }
      while (!taken.insert(component.name).second) component.name += '_';
    }
  }

  template <class Fabs>
  void check(const Fabs* array, std::size_t level, const Fabs* coarsest) const {
    const auto complain = [&](const std::string& found) {
      throw Error(Code::usage, "publish: the array of '" + (components_.empty() ? "" : components_.front().name) +
                                   "' on level " + std::to_string(level) + " " + found);
    };
    if (array == nullptr || array->empty()) complain("is not defined; give as many levels as there are");
    for (const AmrexComponent& component : components_) {
      if (component.number < array->nComp()) continue;
      complain("has " + std::to_string(array->nComp()) + " components, but '" + component.name + "' is component " +
               std::to_string(component.number) + ", counted from 0; give a name for each component");
    }
    if (array->ixType() != coarsest->ixType()) complain("has another centering (cells, nodes, faces) than on level 0");
#ifdef AMREX_USE_GPU
    if (array->arena() != nullptr && !array->arena()->isHostAccessible()) {
      complain(
          "is in the memory of a GPU, which Sidestream does not read; copy it to a MultiFab of "
          "MFInfo().SetArena(The_Pinned_Arena()), and publish that");
    }
#endif
  }

  template <class Fabs>
  void add_level(const Fabs& array, int level, std::int64_t first_id, const ::amrex::IntVect& first_cell) {
    for (int a = 0; a < AMREX_SPACEDIM; ++a) {
      if (array.ixType().nodeCentered(a)) centering_ = static_cast<Centering>(static_cast<int>(centering_) | 1 << a);
    }
    for (const int box : array.IndexArray()) {
      Block& block = blocks_.emplace_back();
      block.id = first_id + box;
      block.level = level;
      block.cells = amrex_box(::amrex::enclosedCells(array.box(box)), first_cell);
      const auto& fab = array[box];
      pieces_.push_back({block.id, amrex_box(array.box(box), first_cell), amrex_box(fab.box(), first_cell),
                         fab.dataPtr(), static_cast<Index>(fab.box().numPts())});
    }
  }

  AmrexMesh mesh_;
  std::vector<AmrexComponent> components_;
  Type type_;
  Centering centering_ = Centering::cell;
  AmrexGhosts ghosts_ = AmrexGhosts::left_out;
  std::vector<::amrex::BoxArray> boxes_;  ///< in cells, for each level
  std::vector<::amrex::DistributionMapping> owners_;
  std::vector<Block> blocks_;  ///< those of this rank; sorted by id, as boxes are
  std::vector<Piece> pieces_;
  std::shared_ptr<const void> kept_;
};

/// A component for each name.
[[nodiscard]] inline std::vector<AmrexComponent> amrex_components(const ::amrex::Vector<std::string>& names) {
  std::vector<AmrexComponent> components;
  for (const std::string& name : names) components.push_back({name, static_cast<int>(components.size())});
  return components;
}

/// Fields with the arguments of WriteMultiLevelPlotfile: arrays of `levels` levels, a name for each component, and
/// geometries and refinement ratios of all levels that may exist, such as Geom() and refRatio() of an AmrCore.
template <class Fabs>
[[nodiscard]] AmrexFields amrex_fields(int levels, const ::amrex::Vector<const Fabs*>& arrays,
                                       const ::amrex::Vector<std::string>& names,
                                       const ::amrex::Vector<::amrex::Geometry>& geometries,
                                       const ::amrex::Vector<::amrex::IntVect>& ratios) {
  if (levels < 1 || static_cast<std::size_t>(levels) > amrex_size(arrays)) {
    throw Error(Code::usage, "publish: " + std::to_string(arrays.size()) + " arrays for " + std::to_string(levels) +
                                 " levels; give one for each level");
  }
  return AmrexFields(std::vector<const Fabs*>(arrays.begin(), arrays.begin() + levels), amrex_components(names),
                     geometries, ratios);
}

/// Does the same for arrays instead of pointers.
template <class Fabs>
[[nodiscard]] AmrexFields amrex_fields(int levels, const ::amrex::Vector<Fabs>& arrays,
                                       const ::amrex::Vector<std::string>& names,
                                       const ::amrex::Vector<::amrex::Geometry>& geometries,
                                       const ::amrex::Vector<::amrex::IntVect>& ratios) {
  ::amrex::Vector<const Fabs*> pointers;
  for (const Fabs& array : arrays) pointers.push_back(&array);
  return amrex_fields(levels, pointers, names, geometries, ratios);
}

/// Fields on one level, with the arguments of WriteSingleLevelPlotfile.
template <class Fabs>
[[nodiscard]] AmrexFields amrex_fields(const Fabs& array, const ::amrex::Vector<std::string>& names,
                                       const ::amrex::Geometry& geometry) {
  return AmrexFields(std::vector<const Fabs*>{&array}, amrex_components(names), {geometry}, {});
}

/// Values on faces, one array for each direction, as `NAME_x`, `NAME_y` and `NAME_z`. For several components, the
/// number of the component follows: `NAME_x_1`.
template <class Fabs>
[[nodiscard]] std::vector<AmrexFields> amrex_faces(int levels,
                                                   const ::amrex::Vector<::amrex::Array<Fabs, AMREX_SPACEDIM>>& arrays,
                                                   const std::string& name,
                                                   const ::amrex::Vector<::amrex::Geometry>& geometries,
                                                   const ::amrex::Vector<::amrex::IntVect>& ratios) {
  std::vector<AmrexFields> found;
  for (std::size_t a = 0; a < AMREX_SPACEDIM; ++a) {
    ::amrex::Vector<const Fabs*> pointers;
    for (const auto& level : arrays) pointers.push_back(&level[a]);
    ::amrex::Vector<std::string> names;
    const int components = pointers.empty() ? 1 : pointers.front()->nComp();
    for (int c = 0; c < components; ++c) {
      names.push_back(name + '_' + "xyz"[a] + (components > 1 ? '_' + std::to_string(c) : std::string()));
    }
    found.push_back(amrex_fields(levels, pointers, names, geometries, ratios));
  }
  return found;
}

}  // namespace sidestream
