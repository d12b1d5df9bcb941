// Blocks of spectral elements: cells, shared points and quadrature. Points are those of Gauss-Lobatto-Legendre
// quadrature; cells lie between them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// A mesh of spectral elements, as the program declares it.
struct SpectralMesh {
  std::string name;
  int dimensions = 0;
  bool continuous = true;  ///< points at the same place are the same point
};

/// The elements of one block. Each has (order + 1)^dimensions points, the first axis fastest.
struct SpectralBlock {
  SpectralMesh mesh;
  std::int64_t id = 0;
  int order = 0;
  Index elements = 0;
  std::vector<std::int64_t> numbers{};  ///< one for each element; empty: not given
  std::vector<double> place{};          ///< coordinates of the points, an entry for each axis of the mesh
  std::vector<double> volumes{};        ///< of the points
  std::vector<std::int64_t> ids{};      ///< of the points; empty until share_points

  [[nodiscard]] Index points_of_one() const noexcept;
  [[nodiscard]] Index cells_of_one() const noexcept;
  [[nodiscard]] Index corners_of_one() const noexcept { return cells_of_one() << mesh.dimensions; }
  [[nodiscard]] Index points() const noexcept { return elements * points_of_one(); }
};

/// Names of the variables of a mesh of spectral elements.
struct SpectralNames {
  explicit SpectralNames(const std::string& mesh);
  std::string place, corners, ends, kinds, number, mass;
};

/// Checks and copies what a program declares, and computes the points' volumes. `axes` has a pointer for each axis of
/// the mesh; `numbers` may be null. Throws Error(usage).
[[nodiscard]] SpectralBlock spectral_block(const SpectralMesh& mesh, std::int64_t id, int order, Index elements,
                                           std::span<const double* const> axes, const std::int64_t* numbers);
/// The block as a list, with its bounds.
[[nodiscard]] Block list_of(const SpectralBlock& block);

/// The cells between the points of each element. `type`: VTK's cell type.
struct SpectralCells {
  std::vector<std::int32_t> corners, ends;
  std::vector<std::uint8_t> types;
};
[[nodiscard]] SpectralCells cells_of(const SpectralBlock& block);

/// Numbers the points of continuous meshes: points of elements at the same place get the same number and the sum of
/// their volumes, on all clients. Collective over the clients, each with its own blocks. `metadata` is the same on all.
/// Returns an error as a sentence, on some clients at least, or an empty text.
[[nodiscard]] std::string share_points(std::span<SpectralBlock> mine, const Metadata& metadata, Communicator& clients);

/// The points of an element of order N in [-1, 1], their quadrature weights, and the matrix that differentiates.
class SpectralRule {
 public:
  /// `order` is at least 1.
  explicit SpectralRule(int order);
  /// Number of points along an axis.
  [[nodiscard]] std::size_t points() const noexcept { return at_.size(); }
  [[nodiscard]] const std::vector<double>& at() const noexcept { return at_; }
  /// The volume of each point of an element: weight times the absolute value of the Jacobian. `place` has the
  /// positions of the points, the first axis fastest, an entry for each of `dimensions` axes. False if the Jacobian
  /// is not finite or changes its sign.
  [[nodiscard]] bool volumes(std::span<const double> place, int dimensions, std::span<double> out) const;

 private:
  [[nodiscard]] double slope(std::span<const double> place, std::size_t stride, std::size_t at, std::size_t along,
                             std::size_t step) const;
  std::vector<double> at_, weights_, slopes_;
};

}  // namespace sidestream
