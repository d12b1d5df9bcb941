#include "sidestream/kit/reduce/sample_sort.hpp"
#include "visualisation/mesh/cells/cell_piece.hpp"

namespace sidestream {
namespace {

/// The key that decides to which server a cell goes. It begins like the order of the set, and cells that are equal in
/// it go to the same server.
PointKey key_of(const CellPiece& piece, std::size_t cell) {
  if (piece.apart) return piece.keys[static_cast<std::size_t>(piece.links[cell])];
  return {0, piece.names[cell][0], 0};
}

/// A selection of the cells of a piece, with their points.
class TakenCells {
 public:
  explicit TakenCells(const CellPiece& from) : from_(from), numbers_(from.points.size(), -1) {
    to_.apart = from.apart;
    to_.point_data.resize(from.point_data.size());
    to_.cell_data.resize(from.cell_data.size());
    std::int64_t begin = 0;
    for (const std::int64_t end : from.face_ends) {
      face_begins_.push_back(begin);
      if (end >= 0) begin = end;
    }
  }
  void add(std::size_t cell) {
    const std::int64_t begin = cell == 0 ? 0 : from_.ends[cell - 1];
    for (std::int64_t n = begin; n < from_.ends[cell]; ++n) {
      to_.links.push_back(number(from_.links[static_cast<std::size_t>(n)]));
    }
    to_.types.push_back(from_.types[cell]);
    to_.ends.push_back(static_cast<std::int64_t>(to_.links.size()));
    to_.names.push_back(from_.names[cell]);
    for (std::size_t a = 0; a < from_.cell_data.size(); ++a) to_.cell_data[a].push_back(from_.cell_data[a][cell]);
    add_faces(cell);
  }
  [[nodiscard]] Bytes bytes() const { return to_bytes({&to_, 1}); }

 private:
  void add_faces(std::size_t cell) {
    const std::int64_t end = from_.face_ends[cell];
    if (end >= 0) {
      auto at = static_cast<std::size_t>(face_begins_[cell]);
      to_.faces.push_back(from_.faces[at]);
      for (std::int64_t left = from_.faces[at++]; left > 0; --left) {
        to_.faces.push_back(from_.faces[at]);
        for (std::int64_t corners = from_.faces[at++]; corners > 0; --corners)
          to_.faces.push_back(number(from_.faces[at++]));
      }
    }
    to_.face_ends.push_back(end < 0 ? -1 : static_cast<std::int64_t>(to_.faces.size()));
  }
  std::int64_t number(std::int64_t point) {
    const auto p = static_cast<std::size_t>(point);
    std::int64_t& number = numbers_[p];
    if (number >= 0) return number;
    number = static_cast<std::int64_t>(to_.points.size());
    to_.points.push_back(from_.points[p]);
    to_.keys.push_back(from_.keys[p]);
    for (std::size_t a = 0; a < from_.point_data.size(); ++a) to_.point_data[a].push_back(from_.point_data[a][p]);
    return number;
  }

  const CellPiece& from_;
  CellPiece to_;
  std::vector<std::int64_t> numbers_;  ///< number of each point in the part, -1: not in it
  std::vector<std::int64_t> face_begins_;
};

}  // namespace

std::vector<CellPiece> share_cells(std::span<const Bytes> partials, Communicator& servers) {
  std::vector<CellPiece> mine;
  for (const Bytes& partial : partials) {
    for (CellPiece& piece : to_cell_pieces(partial)) mine.push_back(std::move(piece));
  }
  std::vector<PointKey> keys;
  for (const CellPiece& piece : mine) {
    for (std::size_t n = 0; n < piece.types.size(); ++n) keys.push_back(key_of(piece, n));
  }
  const std::vector<PointKey> boundaries = share_boundaries(std::move(keys), servers);
  std::vector<Bytes> to(static_cast<std::size_t>(servers.size()));
  for (CellPiece& piece : mine) {
    redistribute<TakenCells>(
        piece, piece.types.size(), [&](std::size_t n) { return key_of(piece, n); }, boundaries, to);
    piece = {};
  }
  std::vector<CellPiece> shared;
  for (const Bytes& bytes : servers.all_to_all(to)) {
    for (CellPiece& piece : to_cell_pieces(bytes)) shared.push_back(std::move(piece));
  }
  return shared;
}

}  // namespace sidestream
