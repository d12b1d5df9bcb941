// Merging pieces into one canonical set. All points are sorted by key and position, and equal ones get the same number;
// links are renumbered; then cells are sorted by name, type, points, faces and values. Ties are broken by bits of the
// data, so that the result does not depend on how blocks were divided among pieces.
#include "visualisation/mesh/cells/cell_piece.hpp"

#include <algorithm>
#include <cstring>

#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/reduce/sample_sort.hpp"

namespace sidestream {

namespace {

/// A point of one of the pieces.
struct PointEntry {
  PointKey key;
  std::int32_t piece;
  std::int64_t index;
};

/// A cell of one of the pieces.
struct CellEntry {
  std::array<std::int64_t, 2> name;
  std::int32_t piece;
  std::int64_t index;
};

std::span<const std::int64_t> part_of(const std::vector<std::int64_t>& numbers, std::int64_t begin, std::int64_t end) {
  return std::span(numbers).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

std::span<const std::int64_t> links_of(const CellPiece& piece, std::int64_t cell) {
  const auto c = static_cast<std::size_t>(cell);
  return part_of(piece.links, c == 0 ? 0 : piece.ends[c - 1], piece.ends[c]);
}

/// The beginning of the faces of each cell.
std::vector<std::int64_t> begins_of_faces(const CellPiece& piece) {
  std::vector<std::int64_t> begins;
  std::int64_t begin = 0;
  for (const std::int64_t end : piece.face_ends) {
    begins.push_back(begin);
    if (end >= 0) begin = end;
  }
  return begins;
}

/// Compares the bits of the numbers at two positions of arrays of one layout: less, equal or greater than 0.
int compare_bits(const std::vector<std::vector<double>>& a, std::size_t m, const std::vector<std::vector<double>>& b,
                 std::size_t n) {
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (const int way = std::memcmp(&a[d][m], &b[d][n], sizeof(double)); way != 0) return way;
  }
  return 0;
}

class Merger {
 public:
  Merger(std::vector<CellPiece> pieces, const CellLayout& layout, RepeatedPoints& repeated)
      : pieces_(std::move(pieces)), repeated_(repeated) {
    for (const CellLayout::Array& array : layout.point_data)
      set_.point_data.push_back({array.name, array.components, {}});
    for (const CellLayout::Array& array : layout.cell_data)
      set_.cell_data.push_back({array.name, array.components, {}});
  }

  CellSet take() {
    take_points();
    take_cells();
    return std::move(set_);
  }

 private:
  /// Points with one key at one position are one, except for particles, which are ordered by their data.
  void take_points() {
    std::vector<PointEntry> entries;
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      for (std::size_t n = 0; n < pieces_[p].points.size(); ++n) {
        entries.push_back({pieces_[p].keys[n], static_cast<std::int32_t>(p), static_cast<std::int64_t>(n)});
      }
    }
    const auto piece_of = [&](const PointEntry& e) -> const CellPiece& {
      return pieces_[static_cast<std::size_t>(e.piece)];
    };
    const auto place_of = [&](const PointEntry& e) -> const std::array<double, 3>& {
      return piece_of(e).points[static_cast<std::size_t>(e.index)];
    };
    std::sort(entries.begin(), entries.end(), [&](const PointEntry& a, const PointEntry& b) {
      if (a.key != b.key) return a.key < b.key;
      if (piece_of(a).apart) {
        const auto m = static_cast<std::size_t>(a.index), n = static_cast<std::size_t>(b.index);
        const int way = compare_bits(piece_of(a).point_data, m, piece_of(b).point_data, n);
        if (way != 0) return way < 0;
      } else if (const std::strong_ordering way = order_of(place_of(a), place_of(b)); way != 0) {
        return way < 0;
      }
      return a.piece != b.piece ? a.piece < b.piece : a.index < b.index;
    });
    numbers_.resize(pieces_.size());
    for (std::size_t p = 0; p < pieces_.size(); ++p) numbers_[p].resize(pieces_[p].points.size());
    double reach = 0;
    for (const CellPiece& piece : pieces_) reach = reach_of(piece.points, reach);
    PointsOfOneNumber same(reach);
    const PointEntry* last = nullptr;
    for (const PointEntry& entry : entries) {
      const CellPiece& piece = piece_of(entry);
      const auto n = static_cast<std::size_t>(entry.index);
      const bool is_first = last == nullptr || entry.key != last->key || piece.apart;
      if (is_first) same.clear();
      std::int64_t number = is_first ? -1 : same.at(piece.points[n]);
      if (number < 0) {
        if (!is_first) repeated_.note(same.first(), piece.points[n]);
        number = static_cast<std::int64_t>(set_.points.size());
        same.add(piece.points[n], number);
        set_.points.push_back(piece.points[n]);
        append(piece.point_data, n, set_.point_data);
      }
      last = &entry;
      numbers_[static_cast<std::size_t>(entry.piece)][n] = number;
    }
  }

  void take_cells() {
    std::vector<CellEntry> entries;
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      CellPiece& piece = pieces_[p];
      renumber(piece, numbers_[p]);
      face_begins_.push_back(begins_of_faces(piece));
      for (std::size_t n = 0; n < piece.types.size(); ++n) {
        // Particles are in the order of their points.
        const std::int64_t first = piece.apart ? piece.links[n] : piece.names[n][0];
        entries.push_back({{first, piece.names[n][1]}, static_cast<std::int32_t>(p), static_cast<std::int64_t>(n)});
      }
    }
    std::sort(entries.begin(), entries.end(), [&](const CellEntry& a, const CellEntry& b) { return less(a, b); });
    const bool polyhedra =
        std::any_of(pieces_.begin(), pieces_.end(), [](const CellPiece& p) { return !p.faces.empty(); });
    for (const CellEntry& entry : entries) {
      const CellPiece& piece = pieces_[static_cast<std::size_t>(entry.piece)];
      const auto n = static_cast<std::size_t>(entry.index);
      const auto links = links_of(piece, entry.index);
      set_.types.push_back(piece.types[n]);
      set_.links.insert(set_.links.end(), links.begin(), links.end());
      set_.ends.push_back(static_cast<std::int64_t>(set_.links.size()));
      append(piece.cell_data, n, set_.cell_data);
      if (!polyhedra) continue;
      const auto faces = faces_of(entry);
      set_.faces.insert(set_.faces.end(), faces.begin(), faces.end());
      set_.face_ends.push_back(faces.empty() ? -1 : static_cast<std::int64_t>(set_.faces.size()));
    }
  }

  static void renumber(CellPiece& piece, const std::vector<std::int64_t>& numbers) {
    for (std::int64_t& point : piece.links) point = numbers[static_cast<std::size_t>(point)];
    std::size_t at = 0;
    while (at < piece.faces.size()) {
      for (std::int64_t left = piece.faces[at++]; left > 0; --left) {
        for (std::int64_t corners = piece.faces[at++]; corners > 0; --corners, ++at) {
          piece.faces[at] = numbers[static_cast<std::size_t>(piece.faces[at])];
        }
      }
    }
  }

  [[nodiscard]] std::span<const std::int64_t> faces_of(const CellEntry& entry) const {
    const auto p = static_cast<std::size_t>(entry.piece), n = static_cast<std::size_t>(entry.index);
    const std::int64_t end = pieces_[p].face_ends[n];
    return end < 0 ? std::span<const std::int64_t>{} : part_of(pieces_[p].faces, face_begins_[p][n], end);
  }

  [[nodiscard]] bool less(const CellEntry& a, const CellEntry& b) const {
    if (a.name != b.name) return a.name < b.name;
    const CellPiece &p = pieces_[static_cast<std::size_t>(a.piece)], &q = pieces_[static_cast<std::size_t>(b.piece)];
    const auto m = static_cast<std::size_t>(a.index), n = static_cast<std::size_t>(b.index);
    if (p.types[m] != q.types[n]) return p.types[m] < q.types[n];
    const auto compare = [](std::span<const std::int64_t> x, std::span<const std::int64_t> y) {
      return std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end());
    };
    if (const auto way = compare(links_of(p, a.index), links_of(q, b.index)); way != 0) return way < 0;
    if (const auto way = compare(faces_of(a), faces_of(b)); way != 0) return way < 0;
    if (const int way = compare_bits(p.cell_data, m, q.cell_data, n); way != 0) return way < 0;
    return a.piece != b.piece ? a.piece < b.piece : a.index < b.index;
  }

  static void append(const std::vector<std::vector<double>>& data, std::size_t n, std::vector<Surface::Array>& arrays) {
    std::size_t attribute = 0;
    for (Surface::Array& array : arrays) {
      for (std::int32_t c = 0; c < array.components; ++c) array.values.push_back(data[attribute++][n]);
    }
  }

  std::vector<CellPiece> pieces_;
  RepeatedPoints& repeated_;
  CellSet set_;
  std::vector<std::vector<std::int64_t>> numbers_;      ///< by piece and point: the number in the set
  std::vector<std::vector<std::int64_t>> face_begins_;  ///< by piece and cell
};

}  // namespace

Bytes to_bytes(std::span<const CellPiece> pieces) {
  ByteWriter out;
  for (const CellPiece& piece : pieces) {
    if (piece.types.empty()) continue;
    out.put(piece.points);
    out.put(piece.keys);
    out.put(piece.point_data);
    out.put(piece.types);
    for (const auto* numbers : {&piece.ends, &piece.links, &piece.faces, &piece.face_ends}) out.put(*numbers);
    out.put(piece.names);
    out.put(piece.cell_data);
    out.put(piece.apart);
  }
  return out.take();
}

std::vector<CellPiece> to_cell_pieces(BytesView bytes) {
  std::vector<CellPiece> pieces;
  for (ByteReader in(bytes); !in.at_end();) {
    CellPiece& piece = pieces.emplace_back();
    in.get(piece.points);
    in.get(piece.keys);
    in.get(piece.point_data);
    in.get(piece.types);
    for (auto* numbers : {&piece.ends, &piece.links, &piece.faces, &piece.face_ends}) in.get(*numbers);
    in.get(piece.names);
    in.get(piece.cell_data);
    in.get(piece.apart);
  }
  return pieces;
}

CellSet merge(std::vector<CellPiece> pieces, const CellLayout& layout, RepeatedPoints& repeated) {
  return Merger(std::move(pieces), layout, repeated).take();
}

namespace {

/// The key that decides about a cell's server. It begins like the order of the set, and cells with equal keys go to the
/// same server.
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
