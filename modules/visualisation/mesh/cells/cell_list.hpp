// A block of an unstructured mesh: its lists as plain arrays, checked.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "visualisation/mesh/plane.hpp"

namespace sidestream {

/// Whole numbers of a list: a view if they are contiguous, otherwise a copy.
class WholeNumbers {
 public:
  WholeNumbers() = default;
  explicit WholeNumbers(const BlockView& view);
  explicit WholeNumbers(std::vector<std::int64_t> numbers) : copy_(std::move(numbers)) {
    numbers_ = std::span<const std::int64_t>(copy_);
  }
  WholeNumbers(WholeNumbers&&) noexcept = default;  // no copy: it would refer to the numbers of the original
  WholeNumbers& operator=(WholeNumbers&&) noexcept = default;
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::int64_t operator[](std::size_t n) const noexcept {
    return std::visit([n](auto numbers) { return static_cast<std::int64_t>(numbers[n]); }, numbers_);
  }
  /// Calls f with a span of std::uint8_t, std::int32_t or std::int64_t.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), numbers_);
  }

 private:
  std::variant<std::span<const std::int64_t>, std::span<const std::int32_t>, std::span<const std::uint8_t>> numbers_;
  std::vector<std::int64_t> copy_;
};

/// The points and cells of a block as surfaces need them. Points and cells have names that order them over all blocks:
/// their numbers (point_ids, cell_ids), or else the block and the position in its lists. Strips and cells of higher
/// order are cut into linear cells (mesh/cells/subdivision.hpp), each with the name of the whole.
class CellList {
 public:
  /// All arrays must be present. Throws Error(analysis), naming block and mesh, if a cell has points that the block
  /// does not have, a number of points that does not fit its type, or a type that surfaces do not support.
  CellList(const LocalInput& input, const Mesh& mesh, const Block& block);
  /// Makes a list of computed cells of one type. Each point has its position and its number, on which blocks agree;
  /// each cell has its points, which may be repeated. Keeps a reference to the mesh.
  CellList(const Mesh& mesh, std::vector<std::array<double, 3>> places, std::vector<std::int64_t> point_ids,
           std::uint8_t type, std::vector<std::int64_t> links);

  [[nodiscard]] int dimensions() const noexcept { return mesh_->dimensions; }
  [[nodiscard]] std::size_t points() const noexcept { return places_.size(); }
  [[nodiscard]] std::size_t cells() const noexcept { return types_.size(); }
  [[nodiscard]] const std::vector<std::array<double, 3>>& places() const noexcept { return places_; }
  [[nodiscard]] std::span<const std::uint8_t> types() const noexcept { return types_; }
  [[nodiscard]] const WholeNumbers& links() const noexcept { return links_; }
  [[nodiscard]] const WholeNumbers& ends() const noexcept { return ends_; }
  [[nodiscard]] std::int64_t point_name(std::size_t point) const noexcept {
    return point_ids_ ? (*point_ids_)[point] : first_name_ + static_cast<std::int64_t>(point);
  }
  /// True if p has a lower name than q.
  [[nodiscard]] bool comes_before(std::size_t p, std::size_t q) const noexcept {
    return point_ids_ ? (*point_ids_)[p] < (*point_ids_)[q] : p < q;
  }
  /// True if points have numbers that other blocks know.
  [[nodiscard]] bool numbered_points() const noexcept { return point_ids_.has_value(); }
  /// The name of a cell. Nothing if points have numbers and cells do not; then its points identify the cell.
  [[nodiscard]] std::optional<std::int64_t> cell_name(std::size_t cell) const noexcept {
    if (cell_ids_) return (*cell_ids_)[whole(cell)];
    if (point_ids_) return std::nullopt;
    return own_name(cell);
  }
  /// The name made of the block and the position in its list.
  [[nodiscard]] std::int64_t own_name(std::size_t cell) const noexcept {
    return first_name_ + static_cast<std::int64_t>(whole(cell));
  }
  /// The published cell that a cell is or is part of, and the number of the part.
  [[nodiscard]] std::size_t whole(std::size_t cell) const noexcept { return wholes_.empty() ? cell : wholes_[cell]; }
  [[nodiscard]] std::int64_t part(std::size_t cell) const noexcept { return parts_.empty() ? 0 : parts_[cell]; }
  /// Numbers of the published cells, expanded to these.
  [[nodiscard]] std::vector<double> in_cells(std::vector<double> numbers) const;
  [[nodiscard]] std::size_t link(std::int64_t entry) const noexcept {
    return static_cast<std::size_t>(links_[static_cast<std::size_t>(entry)]);
  }
  [[nodiscard]] std::int64_t end(std::size_t cell) const noexcept { return ends_[cell]; }
  /// True if a cell counts in this block.
  [[nodiscard]] bool counts(std::size_t cell) const noexcept { return flags_.empty() || flags_[whole(cell)] == 0; }
  /// The faces of a polyhedron as loops of points.
  [[nodiscard]] std::vector<std::vector<std::int64_t>> faces(std::size_t cell) const;
  /// The signed distance of each point to a plane.
  [[nodiscard]] std::vector<double> distances(const Plane& plane) const;
  /// Throws Error(analysis): `what` is wrong with a cell.
  [[noreturn]] void refuse(std::size_t cell, const std::string& what) const;

 private:
  void check();
  void check_links() const;
  void check_faces() const;
  void find_faces();
  void subdivide();

  const Mesh* mesh_;
  Block block_;
  std::int64_t first_name_ = 0;
  std::vector<std::array<double, 3>> places_;
  WholeNumbers links_, ends_;
  std::optional<WholeNumbers> point_ids_, cell_ids_, faces_, face_ends_;
  std::vector<std::uint8_t> types_, flags_;
  std::array<bool, 256> has_{};            ///< by type: true if there are such cells
  std::vector<std::int64_t> face_begins_;  ///< by cell; empty: there are no polyhedra
  std::vector<std::size_t> wholes_;        ///< by cell, if some are parts
  std::vector<std::int64_t> parts_;
};

/// The lists of the block of a view, or nothing if it has no cells or some of its arrays are missing.
[[nodiscard]] std::optional<CellList> cell_list_of(const LocalInput& input, const BlockView& view);

/// A component of all points or cells of a list.
[[nodiscard]] std::vector<double> numbers_of(const BlockView& view, int component);

}  // namespace sidestream
