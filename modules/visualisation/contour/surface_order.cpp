// A canonical order for the points and cells of a surface, without copying them. Each piece is sorted by key unless it
// is already in order. A merge with a priority queue of the pieces' next keys gives runs of consecutive points of one
// piece, and equal keys get the same number. Cells are merged in the same way. Cells of lists are copied and sorted,
// since those of one cell may be in several pieces.
#include "visualisation/contour/surface_order.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <type_traits>

namespace sidestream {
namespace {

constexpr std::size_t at_once = 1u << 13;  ///< tuples that are converted together

/// Sorts triangles or lines of the same cell, which may be in several pieces. With `turn` each first begins with its
/// least point.
template <class Cell>
void sort_within(std::span<const std::int64_t> cells, std::span<Cell> all, bool turn) {
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

/// Collects values of one type and hands on many at a time.
template <class T>
class Gathered {
 public:
  explicit Gathered(const SurfaceStream::Sink& sink) : sink_(sink) { values_.reserve(3 * at_once); }
  void add(T value) {
    if (values_.size() == values_.capacity()) flush();
    values_.push_back(value);
  }
  void flush() {
    if (!values_.empty()) sink_(std::as_bytes(std::span<const T>(values_)));
    values_.clear();
  }

 private:
  const SurfaceStream::Sink& sink_;
  std::vector<T> values_;
};

}  // namespace

OrderedSurface::OrderedSurface(std::vector<Piece> pieces, SurfaceShape shape)
    : pieces_(std::move(pieces)), shape_(std::move(shape)), ranks_(pieces_.size()) {
  outline_.coordinates = shape_.coordinates;
  for (const AttributeLayout& array : shape_.layout) outline_.point_data.push_back({array.name, array.components, {}});
  if (!shape_.values.empty()) outline_.point_data.push_back({"value", 1, {}});
  if (shape_.normals) outline_.point_data.push_back({"normals", 3, {}, shape_.coordinates});
  std::map<std::int32_t, std::vector<std::size_t>> layers;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    if (pieces_[p].triangles.empty() && pieces_[p].lines.empty()) continue;
    layers[pieces_[p].layer].push_back(p);
  }
  for (const auto& [layer, those] : layers) {
    for (const std::size_t p : those) rank(p);
    order_points(those);
    if (pieces_[those.front()].others.empty()) {
      order_cells(those);
    } else {
      order_listed_cells(those);
    }
  }
}

/// Ranks the points that a triangle or a line uses: a vertex whose triangles are all degenerate must not depend on the
/// division.
void OrderedSurface::rank(std::size_t p) {
  const Piece& piece = pieces_[p];
  Ranks& ranks = ranks_[p];
  if (piece.in_order) return;
  std::vector<char> used(piece.points.size(), 0);
  for (const auto& triangle : piece.triangles) {
    for (const std::int64_t v : triangle) used[static_cast<std::size_t>(v)] = 1;
  }
  for (const auto& line : piece.lines) {
    for (const std::int64_t v : line) used[static_cast<std::size_t>(v)] = 1;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) ranks.points.push_back(static_cast<std::uint32_t>(i));
  }
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return key_at(p, a) < key_at(p, b); };
  if (!std::is_sorted(ranks.points.begin(), ranks.points.end(), before)) {
    std::stable_sort(ranks.points.begin(), ranks.points.end(), before);
  }
  if (piece.others.empty() && !std::is_sorted(piece.cells.begin(), piece.cells.end())) {
    ranks.cells.resize(piece.cells.size());
    std::iota(ranks.cells.begin(), ranks.cells.end(), 0u);
    std::stable_sort(ranks.cells.begin(), ranks.cells.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return piece.cells[a] < piece.cells[b]; });
  }
}

std::size_t OrderedSurface::point_at(std::size_t piece, std::size_t rank) const noexcept {
  return pieces_[piece].in_order ? rank : ranks_[piece].points[rank];
}
std::size_t OrderedSurface::cell_at(std::size_t piece, std::size_t rank) const noexcept {
  return ranks_[piece].cells.empty() ? rank : ranks_[piece].cells[rank];
}
std::size_t OrderedSurface::ranked_points(std::size_t piece) const noexcept {
  return pieces_[piece].in_order ? pieces_[piece].points.size() : ranks_[piece].points.size();
}
OrderedSurface::Key OrderedSurface::key_at(std::size_t piece, std::size_t point) const noexcept {
  const Piece& of = pieces_[piece];
  if (of.others.empty()) return {of.keys[point], 0};
  return {of.keys[point], of.others[point], of.points[point]};
}
OrderedSurface::Key OrderedSurface::key_of(std::size_t piece, std::size_t rank) const noexcept {
  return key_at(piece, point_at(piece, rank));
}
std::int64_t OrderedSurface::number(std::size_t piece, std::int64_t point) const noexcept {
  const Ranks& ranks = ranks_[piece];
  return ranks.numbers.empty() ? ranks.first + point : ranks.numbers[static_cast<std::size_t>(point)];
}

/// Merges the ordered pieces: the piece with the least next key gives points as long as it has the least.
void OrderedSurface::order_points(const std::vector<std::size_t>& layer) {
  if (layer.size() == 1 && pieces_[layer.front()].in_order) {
    const std::size_t p = layer.front(), count = pieces_[p].points.size();
    ranks_[p].first = static_cast<std::int64_t>(points_);
    point_runs_.push_back({static_cast<std::uint32_t>(p), 0, count});
    points_ += count;
    return;
  }
  using Head = std::pair<Key, std::size_t>;  // next key of a piece
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  std::vector<std::size_t> next(pieces_.size(), 0);
  for (const std::size_t p : layer) {
    ranks_[p].numbers.resize(pieces_[p].points.size());
    heads.push({key_of(p, 0), p});
  }
  double reach = 0;
  for (const std::size_t p : layer) reach = pieces_[p].others.empty() ? reach : reach_of(pieces_[p].points, reach);
  PointsOfOneNumber same(reach);
  std::optional<Key> last;
  while (!heads.empty()) {
    auto [key, p] = heads.top();
    heads.pop();
    const std::size_t end = ranked_points(p);
    std::size_t& rank = next[p];
    do {
      const bool is_first = !last || !last->is_named_as(key);
      if (is_first) same.clear();
      std::int64_t number = is_first ? -1 : same.at(key.place);
      if (number < 0) {
        const bool on = !point_runs_.empty() && point_runs_.back().piece == p &&
                        point_runs_.back().first + point_runs_.back().count == rank;
        if (on) {
          ++point_runs_.back().count;
        } else {
          point_runs_.push_back({static_cast<std::uint32_t>(p), rank, 1});
        }
        if (!is_first) repeated_.note(same.first(), key.place);
        number = static_cast<std::int64_t>(points_++);
        same.add(key.place, number);
        last = key;
      }
      ranks_[p].numbers[point_at(p, rank)] = number;
      if (++rank == end) break;
      key = key_of(p, rank);
    } while (heads.empty() || key <= heads.top().first);
    if (rank < end) heads.push({key, p});
  }
}

/// Merges cells like points; a cell is in one piece.
void OrderedSurface::order_cells(const std::vector<std::size_t>& layer) {
  using Head = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  std::vector<std::size_t> next(pieces_.size(), 0);
  const auto key_of_cell = [&](std::size_t p, std::size_t rank) { return pieces_[p].cells[cell_at(p, rank)]; };
  for (const std::size_t p : layer) {
    heads.push({key_of_cell(p, 0), p});
    triangles_ += pieces_[p].triangles.size();
    lines_ += pieces_[p].lines.size();
  }
  while (!heads.empty()) {
    const std::size_t p = heads.top().second;
    heads.pop();
    const std::size_t first = next[p], end = pieces_[p].cells.size();
    std::size_t& rank = next[p];
    if (heads.empty()) {
      rank = end;
    } else {
      while (rank < end && key_of_cell(p, rank) <= heads.top().first) ++rank;
    }
    cell_runs_.push_back({static_cast<std::uint32_t>(p), first, rank - first});
    if (rank < end) heads.push({key_of_cell(p, rank), p});
  }
}

void OrderedSurface::order_listed_cells(const std::vector<std::size_t>& layer) {
  struct Entry {
    std::int64_t cell;
    std::size_t piece, at;
  };
  std::vector<Entry> entries;
  for (const std::size_t p : layer) {
    for (std::size_t i = 0; i < pieces_[p].cells.size(); ++i) entries.push_back({pieces_[p].cells[i], p, i});
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.cell < b.cell; });
  const std::size_t triangles = made_triangles_.size(), lines = made_lines_.size();
  std::vector<std::int64_t> of_triangles, of_lines;  // the cell of each
  for (const auto& [cell, p, at] : entries) {
    const auto add = [&](auto corners, auto& to, std::vector<std::int64_t>& cells) {
      for (std::int64_t& v : corners) v = number(p, v);
      to.push_back(corners);
      cells.push_back(cell);
    };
    if (pieces_[p].triangles.empty()) {
      add(pieces_[p].lines[at], made_lines_, of_lines);
    } else {
      add(pieces_[p].triangles[at], made_triangles_, of_triangles);
    }
  }
  sort_within(of_triangles, std::span(made_triangles_).subspan(triangles), true);
  sort_within(of_lines, std::span(made_lines_).subspan(lines), false);
  triangles_ += of_triangles.size();
  lines_ += of_lines.size();
}

template <std::size_t corners, class Cells>
void OrderedSurface::give_cells(const Cells& cells, const std::vector<std::array<std::int64_t, corners>>& made,
                                const Sink& sink) const {
  const auto give = [&](auto zero) {
    using T = decltype(zero);
    Gathered<T> out(sink);
    for (const Run& run : cell_runs_) {
      const auto& of = cells(pieces_[run.piece]);
      if (of.empty()) continue;
      for (std::size_t r = run.first; r < run.first + run.count; ++r) {
        for (const std::int64_t v : of[cell_at(run.piece, r)]) out.add(static_cast<T>(number(run.piece, v)));
      }
    }
    for (const auto& cell : made) {
      for (const std::int64_t v : cell) out.add(static_cast<T>(v));
    }
    out.flush();
  };
  if (corner_type() == Type::int32) {
    give(std::int32_t{});
  } else {
    give(std::int64_t{});
  }
}

void OrderedSurface::give_triangles(const Sink& sink) const {
  give_cells(
      [](const Piece& piece) -> const auto& { return piece.triangles; }, made_triangles_, sink);
}

void OrderedSurface::give_lines(const Sink& sink) const {
  give_cells(
      [](const Piece& piece) -> const auto& { return piece.lines; }, made_lines_, sink);
}

/// Gives the values `make(piece, point, component)` in order.
template <class Make>
void OrderedSurface::give_reals(std::size_t components, Type type, const Make& make, const Sink& sink) const {
  const auto give = [&](auto zero) {
    using T = decltype(zero);
    Gathered<T> out(sink);
    for (const Run& run : point_runs_) {
      for (std::size_t r = run.first; r < run.first + run.count; ++r) {
        const std::size_t at = point_at(run.piece, r);
        for (std::size_t c = 0; c < components; ++c) out.add(static_cast<T>(make(pieces_[run.piece], at, c)));
      }
    }
    out.flush();
  };
  if (type == Type::float32) {
    give(float{});
  } else {
    give(double{});
  }
}

/// Gives positions directly from memory, where they have the type and the order that is wanted.
void OrderedSurface::give_places(PackedPlaces Piece::*places, Type type, const Sink& sink) const {
  const bool direct = type == Type::float32 && std::all_of(point_runs_.begin(), point_runs_.end(), [&](const Run& run) {
                        return pieces_[run.piece].in_order && (pieces_[run.piece].*places).is_narrow();
                      });
  if (!direct || point_runs_.size() * 64 > points_) {
    give_reals(
        3, type, [&](const Piece& piece, std::size_t at, std::size_t c) { return (piece.*places)[at][c]; }, sink);
    return;
  }
  for (const Run& run : point_runs_) {
    sink(std::as_bytes((pieces_[run.piece].*places).narrow().subspan(run.first, run.count)));
  }
}

void OrderedSurface::give_points(const Sink& sink) const { give_places(&Piece::points, outline_.coordinates, sink); }

void OrderedSurface::give_data(std::size_t array, const Sink& sink) const {
  const Surface::Array& wanted = outline_.point_data[array];
  std::size_t attribute = 0;
  for (std::size_t a = 0; a < shape_.layout.size();
       attribute += static_cast<std::size_t>(shape_.layout[a++].components)) {
    if (a != array) continue;
    return give_reals(
        static_cast<std::size_t>(wanted.components), wanted.type,
        [&](const Piece& piece, std::size_t at, std::size_t c) { return piece.data[attribute + c][at]; }, sink);
  }
  if (!shape_.values.empty() && array == shape_.layout.size()) {
    return give_reals(
        1, wanted.type,
        [&](const Piece& piece, std::size_t, std::size_t) {
          return shape_.values[static_cast<std::size_t>(piece.layer)];
        },
        sink);
  }
  give_places(&Piece::normals, wanted.type, sink);
}

}  // namespace sidestream
