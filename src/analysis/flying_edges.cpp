#include "analysis/flying_edges.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "analysis/case_table.hpp"
#include "analysis/class_bits.hpp"
#include "analysis/crossed_edge.hpp"
#include "analysis/number_planes.hpp"
#include "analysis/row_normals.hpp"

namespace sidestream {
namespace {

/// How many of a point's crossed edges (a bit for each axis) come before the one along an axis.
constexpr std::uint8_t edges_before[3][8] = {{0}, {0, 1, 0, 1, 0, 1, 0, 1}, {0, 1, 1, 2, 0, 1, 1, 2}};

/// Where the edges of a cell start: the row (bit 0: one further along j, bit 1: along k) and how far along i.
struct EdgePlace {
  std::uint8_t row, along, axis;
};

constexpr std::array<EdgePlace, 12> edge_places(const std::array<CellEdge, 12>& edges) {
  std::array<EdgePlace, 12> places{};
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto [i, j, k] = corner_offset(edges[e].corner);
    places[e] = {static_cast<std::uint8_t>(j + 2 * k), static_cast<std::uint8_t>(i), edges[e].axis};
  }
  return places;
}

/// One value in one box of cells.
template <class T>
class Flight {
 public:
  Flight(const ContourRequest& request, const Box& cells, double value, ContourRows& rows)
      : request_(request),
        cells_(cells),
        points_{cells.lo, {cells.hi[0] + 1, cells.hi[1] + 1, cells.hi[2] + 1}},
        reach_(request.normals ? intersection(grown(points_, 1), request.grid.points()) : points_),
        value_(value),
        least_(threshold<T>(value)),
        reverse_(request.reverse != mirrored(request.grid)),
        rows_(rows),
        numbers_(*request.view, request.component, reach_),
        inside_(points_),
        edges_(edge_places(case_table.edges)) {}

  void run() {
    const bool finite = scan();
    if (!some_inside_ || !some_outside_) return;
    if (!finite) find_valid();
    std::size_t points = 0, triangles = 0;
    for (Index k = points_.lo[2]; k < points_.hi[2]; ++k) points += points_in(k);
    for (Index k = cells_.lo[2]; k < cells_.hi[2]; ++k) triangles += triangles_in(k);
    if (triangles == 0) return;
    rows_.expect(points, triangles);
    prepare();
    for (Index k = points_.lo[2]; k < points_.hi[2]; ++k) {
      load(k);
      for (Index j = points_.lo[1]; j < points_.hi[1]; ++j) point_row(j, k);
      for (Index j = cells_.lo[1]; j < cells_.hi[1] && k > points_.lo[2]; ++j) triangle_row(j, k - 1);
      rows_.end_plane(k);
    }
  }

 private:
  struct Words {
    Word x, y, z;
    [[nodiscard]] Word any() const noexcept { return x | y | z; }
  };

  /// Whether all numbers at the points are finite.
  bool scan() {
    bool finite = true;
    const Index n = points_.extent(0), words = inside_.words();
    for (Index k = points_.lo[2]; k < points_.hi[2]; ++k) {
      numbers_.load(k);
      for (Index j = points_.lo[1]; j < points_.hi[1]; ++j) {
        Word* bits = inside_.row(j, k);
        finite = classify(row(j, k), n, least_, bits) && finite;
        for (Index w = 0; w < words; ++w) {
          some_inside_ = some_inside_ || bits[w] != 0;
          some_outside_ = some_outside_ || bits[w] != mask_of(n, w);
        }
      }
    }
    return finite;
  }

  /// The cells whose corners are all finite.
  void find_valid() {
    BitRows finite(points_);
    for (Index k = points_.lo[2]; k < points_.hi[2]; ++k) {
      numbers_.load(k);
      for (Index j = points_.lo[1]; j < points_.hi[1]; ++j) {
        const T* from = row(j, k);
        Word* to = finite.row(j, k);
        for (Index i = 0; i < points_.extent(0); ++i) {
          to[i / word_bits] |= static_cast<Word>(std::isfinite(from[i])) << i % word_bits;
        }
      }
    }
    valid_.emplace(points_);
    for (Index k = cells_.lo[2]; k < cells_.hi[2]; ++k) {
      for (Index j = cells_.lo[1]; j < cells_.hi[1]; ++j) {
        for (Index w = 0; w < finite.words(); ++w) {
          Word all = mask_of(cells_.extent(0), w);
          for (int n = 0; n < 4; ++n) {
            const Word* corner = finite.row(j + (n & 1), k + (n >> 1));
            all &= corner[w] & next_bits(corner, w);
          }
          valid_->row(j, k)[w] = all;
        }
      }
    }
  }

  /// Of the valid cells of a row those bits, or none beyond the box.
  [[nodiscard]] const Word* valid_row(Index j, Index k) const noexcept {
    return j >= cells_.lo[1] && j < cells_.hi[1] && k >= cells_.lo[2] && k < cells_.hi[2] ? valid_->row(j, k) : nullptr;
  }

  /// The edges that start at the points of word w of a row, pass the value and belong to a valid cell.
  [[nodiscard]] Words crossed(Index j, Index k, Index w) const noexcept {
    const Word* here = inside_.row(j, k);
    Words words{(here[w] ^ next_bits(here, w)) & mask_of(cells_.extent(0), w), 0, 0};
    if (j + 1 < points_.hi[1]) words.y = here[w] ^ inside_.row(j + 1, k)[w];
    if (k + 1 < points_.hi[2]) words.z = here[w] ^ inside_.row(j, k + 1)[w];
    if (valid_ && words.any() != 0) restrict(j, k, w, words);
    return words;
  }

  void restrict(Index j, Index k, Index w, Words& words) const noexcept {
    Word x = 0, y = 0, z = 0;
    for (int n = 0; n < 4; ++n) {
      const Index dj = n & 1, dk = n >> 1;
      const Word* cells = valid_row(j - dj, k - dk);
      if (cells == nullptr) continue;
      const Word near = cells[w] | bits_before(cells, w);
      x |= cells[w];
      if (dj == 0) y |= near;
      if (dk == 0) z |= near;
    }
    words.x &= x;
    words.y &= y;
    words.z &= z;
  }

  /// The valid cells of word w of a row that the surface passes, and which of their corners are inside.
  struct CellWords {
    Word active = 0;
    Word low[4], high[4];
    [[nodiscard]] unsigned inside(int bit) const noexcept {
      unsigned corners = 0;
      for (int r = 0; r < 4; ++r) {
        corners |= static_cast<unsigned>(low[r] >> bit & 1) << r | static_cast<unsigned>(high[r] >> bit & 1) << (4 + r);
      }
      return corners;
    }
  };
  [[nodiscard]] CellWords cells_in(Index j, Index k, Index w) const noexcept {
    CellWords words;
    Word any = 0, all = ~Word{0};
    for (int r = 0; r < 4; ++r) {
      const Word* corner = inside_.row(j + (r & 1), k + (r >> 1));
      words.low[r] = corner[w];
      words.high[r] = next_bits(corner, w);
      any |= words.low[r] | words.high[r];
      all &= words.low[r] & words.high[r];
    }
    words.active = any & ~all & mask_of(cells_.extent(0), w);
    if (valid_) words.active &= valid_->row(j, k)[w];
    return words;
  }

  [[nodiscard]] std::size_t points_in(Index k) const noexcept {
    int count = 0;
    for (Index j = points_.lo[1]; j < points_.hi[1]; ++j) {
      for (Index w = 0; w < inside_.words(); ++w) {
        const Words words = crossed(j, k, w);
        count += std::popcount(words.x) + std::popcount(words.y) + std::popcount(words.z);
      }
    }
    return static_cast<std::size_t>(count);
  }

  [[nodiscard]] std::size_t triangles_in(Index k) const noexcept {
    std::size_t count = 0;
    for (Index j = cells_.lo[1]; j < cells_.hi[1]; ++j) {
      for (Index w = 0; w < inside_.words(); ++w) {
        const CellWords words = cells_in(j, k, w);
        for (Word left = words.active; left != 0; left &= left - 1) {
          count += case_table.cases[words.inside(std::countr_zero(left))].count;
        }
      }
    }
    return count;
  }

  [[nodiscard]] const T* row(Index j, Index k) const noexcept {
    return numbers_.row(j, k) + (points_.lo[0] - reach_.lo[0]);
  }

  void prepare() {
    const auto n = static_cast<std::size_t>(points_.extent(0));
    for (int side = 0; side < 2; ++side) {
      first_[side].resize(n * static_cast<std::size_t>(points_.extent(1)));
      flags_[side].resize(n * static_cast<std::size_t>(points_.extent(1)));
    }
    at_.resize(3 * n);
    axis_.resize(3 * n);
    t_.resize(3 * n);
    places_.resize(3 * n);
    if (request_.normals) {
      normals_.resize(3 * n);
      if (!request_.curved) slopes_.emplace(request_.grid, reach_);
    }
    cell_at_.resize(5 * n);
    corners_.resize(5 * n);
  }

  /// Makes available what the points of plane k and the cells below it need.
  void load(Index k) {
    numbers_.load(std::min(k + (request_.normals ? 2 : 1), reach_.hi[2] - 1));
    if (!request_.curved) return;
    Box wanted = reach_;
    wanted.lo[2] = std::max(reach_.lo[2], k - 1);
    wanted.hi[2] = std::min(reach_.hi[2], k + 3);
    if (wanted.lo[2] >= placed_.lo[2] && wanted.hi[2] <= placed_.hi[2]) return;
    wanted.hi[2] = std::min(reach_.hi[2], k + 11);
    request_.curved->move_to(placed_ = wanted);
  }

  void point_row(Index j, Index k) {
    const std::size_t row_start = static_cast<std::size_t>((j - points_.lo[1]) * points_.extent(0));
    std::int32_t* first = first_[k & 1].data() + row_start;
    std::uint8_t* flags = flags_[k & 1].data() + row_start;
    const T* here = row(j, k);
    const T* upper[3] = {here + 1, j + 1 < points_.hi[1] ? row(j + 1, k) : here,
                         k + 1 < points_.hi[2] ? row(j, k + 1) : here};
    std::size_t count = 0;
    for (Index w = 0; w < inside_.words(); ++w) {
      const Words words = crossed(j, k, w);
      for (Word left = words.any(); left != 0; left &= left - 1) {
        const int bit = std::countr_zero(left);
        const Index i = w * word_bits + bit;
        const auto which =
            static_cast<std::uint8_t>((words.x >> bit & 1) | (words.y >> bit & 1) << 1 | (words.z >> bit & 1) << 2);
        first[i] = made_ + static_cast<std::int32_t>(count);
        flags[i] = which;
        const auto number = static_cast<double>(here[i]);
        for (std::uint8_t axis = 0; axis < 3; ++axis) {
          if ((which >> axis & 1) == 0) continue;
          at_[count] = static_cast<std::int32_t>(i);
          axis_[count] = axis;
          t_[count++] = crossing(number, static_cast<double>(upper[axis][i]), value_);
        }
      }
    }
    if (count == 0) return;
    made_ += static_cast<std::int32_t>(count);
    give_points(j, k, count);
  }

  void give_points(Index j, Index k, std::size_t count) {
    PointRow row{{points_.lo[0], j, k}, {at_.data(), count}, {axis_.data(), count}, {t_.data(), count}, {}, {}};
    if (request_.curved) {
      place_curved(row);
    } else {
      place(row);
    }
    row.places = {places_.data(), count};
    if (request_.normals) {
      if (request_.curved) {
        curved_normals(*request_.curved, numbers_, row, normals_.data());
      } else {
        slopes_->normals(numbers_, row, normals_.data());
      }
      row.normals = {normals_.data(), count};
    }
    rows_.take(row);
  }

  void place(const PointRow& row) {
    const PointGrid& grid = request_.grid;
    const std::array<double, 3> start = grid.position(row.first);
    double ends[3] = {};
    for (int a = 1; a < 3; ++a) {
      ends[a] = grid.position(a, std::min(row.first[a] + 1, points_.hi[a] - 1));
    }
    for (std::size_t n = 0; n < row.at.size(); ++n) {
      const Index i = row.first[0] + row.at[n];
      const int axis = row.axis[n];
      std::array<double, 3> place{grid.position(0, i), start[1], start[2]};
      const auto a = static_cast<std::size_t>(axis);
      place[a] = mix(place[a], axis == 0 ? grid.position(0, i + 1) : ends[axis], row.t[n]);
      places_[n] = place;
    }
  }

  void place_curved(const PointRow& row) {
    for (std::size_t n = 0; n < row.at.size(); ++n) {
      const CrossedEdge edge{{row.first[0] + row.at[n], row.first[1], row.first[2]}, row.axis[n], row.t[n]};
      places_[n] = mix(request_.curved->at(edge.point), request_.curved->at(edge.upper()), edge.t);
      const auto& [x, y, z] = places_[n];
      if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z))
        unplaced_.push_back(made_ - static_cast<std::int32_t>(row.at.size() - n));
    }
  }

  void triangle_row(Index j, Index k) {
    const std::int32_t* first[4];
    const std::uint8_t* flags[4];
    for (int r = 0; r < 4; ++r) {
      const auto start = static_cast<std::size_t>((j + (r & 1) - points_.lo[1]) * points_.extent(0));
      first[r] = first_[(k + (r >> 1)) & 1].data() + start;
      flags[r] = flags_[(k + (r >> 1)) & 1].data() + start;
    }
    std::size_t count = 0;
    for (Index w = 0; w < inside_.words(); ++w) {
      const CellWords words = cells_in(j, k, w);
      for (Word left = words.active; left != 0; left &= left - 1) {
        const int bit = std::countr_zero(left);
        const Index i = w * word_bits + bit;
        const CellCase& what = case_table.cases[words.inside(bit)];
        for (int n = 0; n < what.count; ++n) {
          RowTriangle& triangle = corners_[count];
          for (std::size_t v = 0; v < 3; ++v) {
            const EdgePlace edge = edges_[what.triangles[static_cast<std::size_t>(n)][v]];
            triangle[v] = first[edge.row][i + edge.along] + edges_before[edge.axis][flags[edge.row][i + edge.along]];
          }
          cell_at_[count++] = static_cast<std::int32_t>(i);
        }
      }
    }
    if (count == 0) return;
    if (request_.curved) count = turn_mirrored(j, k, count);
    for (std::size_t n = 0; n < count && reverse_; ++n) std::swap(corners_[n][1], corners_[n][2]);
    rows_.take(TriangleRow{{cells_.lo[0], j, k}, {cell_at_.data(), count}, {corners_.data(), count}});
  }

  [[nodiscard]] bool is_placed(const RowTriangle& triangle) const {
    return std::none_of(triangle.begin(), triangle.end(), [&](std::int32_t point) {
      return std::binary_search(unplaced_.begin(), unplaced_.end(), point);
    });
  }

  /// Turns triangles in cells whose axes are left-handed; those with a vertex that has no place go.
  std::size_t turn_mirrored(Index j, Index k, std::size_t count) {
    std::int32_t cell = -1;
    double volume = 0;
    std::size_t kept = 0;
    for (std::size_t n = 0; n < count; ++n) {
      if (cell_at_[n] != cell) {
        cell = cell_at_[n];
        volume = request_.curved->volume({cells_.lo[0] + cell, j, k});
      }
      if (!unplaced_.empty() && !is_placed(corners_[n])) continue;
      cell_at_[kept] = cell;
      corners_[kept] = corners_[n];
      if (volume < 0) std::swap(corners_[kept][1], corners_[kept][2]);
      ++kept;
    }
    return kept;
  }

  const ContourRequest& request_;
  const Box cells_, points_;
  const Box reach_;  ///< the points whose numbers are looked at
  const double value_;
  const T least_;
  const bool reverse_;
  ContourRows& rows_;
  NumberPlanes<T> numbers_;
  BitRows inside_;
  std::optional<BitRows> valid_;  ///< cells, if not all are
  bool some_inside_ = false, some_outside_ = false;
  const std::array<EdgePlace, 12> edges_;
  std::int32_t made_ = 0;  ///< points so far
  /// Of the points of the last two planes that have crossed edges: the number of the first one's vertex, and which are
  /// crossed.
  std::vector<std::int32_t> first_[2];
  std::vector<std::uint8_t> flags_[2];
  std::optional<RowNormals> slopes_;
  Box placed_{};
  std::vector<std::int32_t> unplaced_;  ///< vertices without a place, ascending
  // Of one row.
  std::vector<std::int32_t> at_, cell_at_;
  std::vector<std::uint8_t> axis_;
  std::vector<double> t_;
  std::vector<std::array<double, 3>> places_, normals_;
  std::vector<RowTriangle> corners_;
};

}  // namespace

void fly_edges(const ContourRequest& request, const Box& cells, double value, ContourRows& rows) {
  if (request.view->array.type == Type::float32) {
    Flight<float>(request, cells, value, rows).run();
  } else {
    Flight<double>(request, cells, value, rows).run();
  }
}

std::vector<Box> cut_for_flying(const Box& cells) {
  constexpr Index most = (Index{1} << 31) / 5;  // five triangles a cell at most, three vertices a point
  if (cells.count() < most) return {cells};
  Box lower = cells, upper = cells;
  const int axis = cells.extent(2) > 1 ? 2 : cells.extent(1) > 1 ? 1 : 0;
  lower.hi[axis] = upper.lo[axis] = cells.lo[axis] + cells.extent(axis) / 2;
  std::vector<Box> boxes = cut_for_flying(lower);
  for (const Box& box : cut_for_flying(upper)) boxes.push_back(box);
  return boxes;
}

}  // namespace sidestream
