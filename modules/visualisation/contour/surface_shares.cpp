#include "visualisation/contour/surface_shares.hpp"

#include <array>
#include <utility>

#include "sidestream/kit/reduce/sample_sort.hpp"
#include "visualisation/contour/surface.hpp"

namespace sidestream {

namespace {

/// The order of a surface's triangles: layer, then cell.
using Key = std::array<std::int64_t, 2>;

Key key_of(const Piece& piece, std::size_t n) { return {piece.layer, piece.cells[n]}; }

/// The part of a piece that goes to one server: some of its triangles or lines, with their points.
class TakenCells {
 public:
  explicit TakenCells(const Piece& from) : from_(&from), numbers_(from.points.size(), -1) {
    to_.layer = from.layer;
    to_.data.resize(from.data.size());
    to_.points.keep_narrow(from.points.is_narrow());
    to_.normals.keep_narrow(from.normals.is_narrow());
    to_.triangles.keep_narrow(from.triangles.is_narrow());
  }
  void add(std::size_t n) {
    if (from_->triangles.empty()) {
      add(from_->lines[n], to_.lines);
    } else {
      add(from_->triangles[n], to_.triangles);
    }
    to_.cells.push_back(from_->cells[n]);
  }
  [[nodiscard]] Bytes bytes() const { return to_bytes({&to_, 1}); }

 private:
  template <class Cell, class Cells>
  void add(Cell cell, Cells& cells) {
    for (std::int64_t& point : cell) point = number(static_cast<std::size_t>(point));
    cells.push_back(cell);
  }
  std::int64_t number(std::size_t point) {
    std::int64_t& number = numbers_[point];
    if (number >= 0) return number;
    number = static_cast<std::int64_t>(to_.points.size());
    to_.points.push_back(from_->points[point]);
    to_.keys.push_back(from_->keys[point]);
    if (!from_->others.empty()) to_.others.push_back(from_->others[point]);
    if (!from_->normals.empty()) to_.normals.push_back(from_->normals[point]);
    for (std::size_t a = 0; a < from_->data.size(); ++a) to_.data[a].push_back(from_->data[a][point]);
    return number;
  }
  const Piece* from_;
  Piece to_;
  std::vector<std::int64_t> numbers_;  ///< number of each point in the part, -1: not in it
};

}  // namespace

std::vector<Piece> share_pieces(std::vector<Piece> mine, Communicator& servers) {
  if (servers.size() == 1) return mine;
  std::vector<Key> keys;
  for (const Piece& piece : mine) {
    for (std::size_t n = 0; n < piece.cells.size(); ++n) keys.push_back(key_of(piece, n));
  }
  const std::vector<Key> boundaries = share_boundaries(std::move(keys), servers);
  std::vector<Bytes> to(static_cast<std::size_t>(servers.size()));
  for (Piece& piece : mine) {
    redistribute<TakenCells>(
        piece, piece.cells.size(), [&](std::size_t n) { return key_of(piece, n); }, boundaries, to);
    piece = {};
  }
  std::vector<Piece> shared;
  for (const Bytes& bytes : servers.all_to_all(to)) {
    for (Piece& piece : to_pieces(bytes)) shared.push_back(std::move(piece));
  }
  return shared;
}

Bytes LocalPieces::give(std::vector<Piece> pieces, const LocalInput& input) {
  if (!input.stays) return to_bytes(pieces);
  held_ = std::move(pieces);
  return {};
}

std::vector<Piece> LocalPieces::take(const CombineInput& input, std::span<const Bytes> given) {
  std::vector<Piece> pieces = std::exchange(held_, {});
  if (input.local == nullptr || !input.local->stays) pieces.clear();
  for (const Bytes& partial : given) {
    for (Piece& piece : to_pieces(partial)) pieces.push_back(std::move(piece));
  }
  return pieces;
}

RepeatedPoints add_surface(const SurfaceFile& file, std::vector<Piece> pieces, const CombineInput& input) {
  Communicator& servers = input.communicator;
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += bytes_of(piece);
  const bool shared = in_pieces(file.pieces, bytes, servers);
  const OrderedSurface surface(
      shared ? share_pieces(std::move(pieces), servers) : gather_pieces(std::move(pieces), servers), file.shape);
  if (shared) {
    input.results.add_stream_parts(file.name, surface, servers, Pieces::always);
    return gathered(surface.repeated(), servers);
  }
  input.results.add_stream(file.name, surface);
  return surface.repeated();
}

}  // namespace sidestream
