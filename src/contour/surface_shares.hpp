// Surfaces that are too large for one server.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "contour/surface_order.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream {

/// Collective: deals out the triangles and lines of all servers' pieces anew, so that server after server has about
/// as many, in the order in which one surface of them all has them (layer, cell). What OrderedSurface makes of them has
/// each server's stretch of that surface; points at the seams are in both.
[[nodiscard]] std::vector<Piece> share_pieces(std::vector<Piece> mine, Communicator& servers);

/// What a task has between `local` and `combine`: pieces, in the task itself where they stay there.
class LocalPieces {
 public:
  /// What `local` returns.
  [[nodiscard]] Bytes give(std::vector<Piece> pieces, const LocalInput& input);
  /// What `combine` got, of all partials.
  [[nodiscard]] std::vector<Piece> take(const CombineInput& input) { return take(input, input.partials); }
  /// Where what `give` returned is a part of the partials: those parts.
  [[nodiscard]] std::vector<Piece> take(const CombineInput& input, std::span<const Bytes> given);
  void drop() noexcept { held_ = {}; }

 private:
  std::vector<Piece> held_;
};

/// Where a surface goes, and how.
struct SurfaceFile {
  std::string name;
  Pieces pieces = Pieces::automatic;
  SurfaceShape shape{};
};

/// Collective: makes the surface of all servers' pieces in one file or in pieces. Returns on rank 0 which points were
/// kept apart.
RepeatedPoints add_surface(const SurfaceFile& file, std::vector<Piece> pieces, const CombineInput& input);

}  // namespace sidestream
