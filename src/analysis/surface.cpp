#include "analysis/surface.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/fail.hpp"

namespace sidestream {
namespace {

template <class T>
void append(Bytes& bytes, const std::vector<T>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  const auto* head = reinterpret_cast<const std::byte*>(&count);
  bytes.insert(bytes.end(), head, head + sizeof count);
  const auto* data = reinterpret_cast<const std::byte*>(values.data());
  bytes.insert(bytes.end(), data, data + values.size() * sizeof(T));
}

class Reader {
 public:
  explicit Reader(BytesView bytes) : bytes_(bytes) {}
  [[nodiscard]] bool done() const { return at_ == bytes_.size(); }
  template <class T>
  void take(std::vector<T>& values) {
    std::int64_t count = 0;
    copy(&count, sizeof count);
    if (count < 0 || static_cast<std::size_t>(count) > (bytes_.size() - at_) / sizeof(T)) damaged();
    values.resize(static_cast<std::size_t>(count));
    copy(values.data(), values.size() * sizeof(T));
  }

 private:
  [[noreturn]] static void damaged() {
    fail(Code::internal, "the pieces of a surface are damaged: fewer bytes arrived than they announce");
  }
  void copy(void* to, std::size_t bytes) {
    if (bytes_.size() - at_ < bytes) damaged();
    if (bytes > 0) std::memcpy(to, bytes_.data() + at_, bytes);
    at_ += bytes;
  }
  BytesView bytes_;
  std::size_t at_ = 0;
};

/// A point or a triangle of one of the pieces, with what it is sorted by.
struct Entry {
  std::int64_t key, other;
  std::int32_t piece;
  std::int64_t index;
};

void sort(std::vector<Entry>& entries) {
  // A cell's triangles lie next to each other in one piece; the index keeps the order that the case gave
  // them.
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    if (a.key != b.key) return a.key < b.key;
    if (a.other != b.other) return a.other < b.other;
    return a.piece != b.piece ? a.piece < b.piece : a.index < b.index;
  });
}

/// The triangles of pieces, and the lines of pieces: none has both.
std::vector<Entry> sorted_cells(std::span<const Piece> pieces, std::int32_t layer) {
  std::vector<Entry> entries;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    if (pieces[p].layer != layer) continue;
    for (std::size_t i = 0; i < pieces[p].cells.size(); ++i) {
      entries.push_back({pieces[p].cells[i], 0, static_cast<std::int32_t>(p), static_cast<std::int64_t>(i)});
    }
  }
  sort(entries);
  return entries;
}

/// Only the points that a triangle or a line uses: a vertex all of whose triangles collapsed must not depend on the
/// division.
std::vector<Entry> sorted_points(std::span<const Piece> pieces, std::int32_t layer) {
  std::vector<Entry> entries;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    if (pieces[p].layer != layer) continue;
    std::vector<char> used(pieces[p].points.size(), 0);
    for (const auto& triangle : pieces[p].triangles) {
      for (const std::int64_t v : triangle) used[static_cast<std::size_t>(v)] = 1;
    }
    for (const auto& line : pieces[p].lines) {
      for (const std::int64_t v : line) used[static_cast<std::size_t>(v)] = 1;
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) continue;
      const std::int64_t other = pieces[p].others.empty() ? 0 : pieces[p].others[i];
      entries.push_back({pieces[p].keys[i], other, static_cast<std::int32_t>(p), static_cast<std::int64_t>(i)});
    }
  }
  sort(entries);
  return entries;
}

/// Builds the surface one layer at a time.
class Merger {
 public:
  Merger(std::span<const Piece> pieces, std::span<const AttributeLayout> layout, bool normals)
      : pieces_(pieces), layout_(layout) {
    for (const AttributeLayout& array : layout) surface_.point_data.push_back({array.name, array.components, {}});
    if (normals) surface_.point_data.push_back({"normals", 3, {}});
    numbers_.resize(pieces.size());
    for (std::size_t p = 0; p < pieces.size(); ++p) numbers_[p].resize(pieces[p].points.size());
  }
  void add(std::int32_t layer) {
    const Entry* last = nullptr;
    const std::vector<Entry> points = sorted_points(pieces_, layer);
    for (const Entry& entry : points) {
      if (last == nullptr || entry.key != last->key || entry.other != last->other) {
        add_point(pieces_[entry.piece], static_cast<std::size_t>(entry.index));
      }
      last = &entry;
      numbers_[entry.piece][static_cast<std::size_t>(entry.index)] =
          static_cast<std::int64_t>(surface_.points.size()) - 1;
    }
    const std::size_t triangles = surface_.triangles.size(), lines = surface_.lines.size();
    std::vector<std::int64_t> of_triangles, of_lines;  // their cells, of lists
    for (const Entry& entry : sorted_cells(pieces_, layer)) {
      const Piece& piece = pieces_[entry.piece];
      if (!piece.others.empty()) (piece.triangles.empty() ? of_lines : of_triangles).push_back(entry.key);
      if (piece.triangles.empty()) {
        add_cell(entry, piece.lines, surface_.lines);
      } else {
        add_cell(entry, piece.triangles, surface_.triangles);
      }
    }
    sort_within(of_triangles, std::span(surface_.triangles).subspan(triangles), true);
    sort_within(of_lines, std::span(surface_.lines).subspan(lines), false);
  }
  [[nodiscard]] Surface take() { return std::move(surface_); }

 private:
  /// Puts those of the same cell, which may be in several pieces, into an order of their own. `turn`: begins each with
  /// its least point.
  template <class Cell>
  static void sort_within(std::span<const std::int64_t> cells, std::span<Cell> all, bool turn) {
    for (std::size_t n = 0; turn && n < cells.size(); ++n) {
      std::rotate(all[n].begin(), std::min_element(all[n].begin(), all[n].end()), all[n].end());
    }
    for (std::size_t first = 0; first < cells.size();) {
      std::size_t end = first + 1;
      while (end < cells.size() && cells[end] == cells[first]) ++end;
      std::sort(all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(end));
      first = end;
    }
  }
  template <class Cell>
  void add_cell(const Entry& entry, const std::vector<Cell>& from, std::vector<Cell>& to) {
    Cell cell = from[static_cast<std::size_t>(entry.index)];
    for (std::int64_t& v : cell) v = numbers_[entry.piece][static_cast<std::size_t>(v)];
    to.push_back(cell);
  }
  void add_point(const Piece& piece, std::size_t i) {
    surface_.points.push_back(piece.points[i]);
    std::size_t attribute = 0;
    for (std::size_t a = 0; a < layout_.size(); ++a) {
      for (std::int32_t c = 0; c < layout_[a].components; ++c) {
        surface_.point_data[a].values.push_back(piece.data[attribute++][i]);
      }
    }
    if (surface_.point_data.size() == layout_.size()) return;
    std::vector<double>& normals = surface_.point_data.back().values;
    normals.insert(normals.end(), piece.normals[i].begin(), piece.normals[i].end());
  }

  std::span<const Piece> pieces_;
  std::span<const AttributeLayout> layout_;
  Surface surface_;
  std::vector<std::vector<std::int64_t>> numbers_;  ///< of each piece's points: the number in the surface
};

}  // namespace

Bytes to_bytes(std::span<const Piece> pieces) {
  Bytes bytes;
  for (const Piece& piece : pieces) {
    if (piece.triangles.empty() && piece.lines.empty()) continue;
    append(bytes, std::vector<std::int64_t>{piece.layer, static_cast<std::int64_t>(piece.data.size())});
    append(bytes, piece.points);
    append(bytes, piece.keys);
    append(bytes, piece.normals);
    for (const auto& values : piece.data) append(bytes, values);
    append(bytes, piece.triangles);
    append(bytes, piece.lines);
    append(bytes, piece.cells);
    append(bytes, piece.others);
  }
  return bytes;
}

std::vector<Piece> to_pieces(BytesView bytes) {
  std::vector<Piece> pieces;
  for (Reader reader(bytes); !reader.done();) {
    Piece& piece = pieces.emplace_back();
    std::vector<std::int64_t> head;
    reader.take(head);
    if (head.size() != 2)
      fail(Code::internal, "the pieces of a surface are damaged: a head has {} entries", head.size());
    piece.layer = static_cast<std::int32_t>(head[0]);
    piece.data.resize(static_cast<std::size_t>(head[1]));
    reader.take(piece.points);
    reader.take(piece.keys);
    reader.take(piece.normals);
    for (auto& values : piece.data) reader.take(values);
    reader.take(piece.triangles);
    reader.take(piece.lines);
    reader.take(piece.cells);
    reader.take(piece.others);
  }
  return pieces;
}

Surface merge(std::span<const Piece> pieces, std::span<const AttributeLayout> layout, bool normals) {
  std::vector<std::int32_t> layers;
  for (const Piece& piece : pieces) layers.push_back(piece.layer);
  std::sort(layers.begin(), layers.end());
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  Merger merger(pieces, layout, normals);
  for (const std::int32_t layer : layers) merger.add(layer);
  return merger.take();
}

std::vector<Piece> gather_pieces(std::span<const Bytes> partials, Communicator& communicator) {
  Bytes mine;
  for (const Bytes& partial : partials) mine.insert(mine.end(), partial.begin(), partial.end());
  std::vector<Piece> all;
  for (const Bytes& bytes : communicator.gather(mine, 0)) {
    for (Piece& piece : to_pieces(bytes)) all.push_back(std::move(piece));
  }
  return all;
}

}  // namespace sidestream
