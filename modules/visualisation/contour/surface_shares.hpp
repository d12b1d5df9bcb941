// Surfaces that are too large for one server.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "visualisation/contour/surface_order.hpp"

namespace sidestream {

/// Redistributes the triangles and lines of all servers' pieces, so that servers have about equally many. Collective.
/// They are in the order (layer, cell) of their common surface. OrderedSurface then gives each server's part of that
/// surface; points at the seams are in both parts.
[[nodiscard]] std::vector<Piece> share_pieces(std::vector<Piece> mine, Communicator& servers);

/// The pieces of a task between `local` and `combine`, kept in the task itself where partials stay local.
class LocalPieces {
 public:
  /// The return value of `local`.
  [[nodiscard]] Bytes give(std::vector<Piece> pieces, const LocalInput& input);
  /// The pieces of all partials, in `combine`.
  [[nodiscard]] std::vector<Piece> take(const CombineInput& input) { return take(input, input.partials); }
  /// The same where the result of `give` is only a part of the partials: `given` has those parts.
  [[nodiscard]] std::vector<Piece> take(const CombineInput& input, std::span<const Bytes> given);
  void drop() noexcept { held_ = {}; }

 private:
  std::vector<Piece> held_;
};

/// The destination of a surface, and its form.
struct SurfaceFile {
  std::string name;
  Pieces pieces = Pieces::automatic;
  SurfaceShape shape{};
};

/// Writes the surface of all servers' pieces to one file or in pieces. Collective. Returns on rank 0 the points that
/// were kept apart.
RepeatedPoints add_surface(const SurfaceFile& file, std::vector<Piece> pieces, const CombineInput& input);

}  // namespace sidestream
