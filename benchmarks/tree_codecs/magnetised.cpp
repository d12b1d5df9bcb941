#include <array>
#include <cmath>
#include <random>

#include "morton.hpp"
#include "tree_data.hpp"

namespace benchmark {

namespace {

using sidestream::FaceRelation;
using sidestream::MeanRelation;
using sidestream::RelationTerm;

/// Smooth random numbers in a periodic cube, in octaves whose strength falls as that of turbulence does.
class Noise {
 public:
  Noise(unsigned seed, int finest, double fall) : seed_(seed), octaves_(finest - 2), fall_(fall) {}
  [[nodiscard]] double operator()(double x, double y, double z) const {
    double sum = 0;
    for (int octave = 1; octave <= octaves_; ++octave) {
      sum += std::exp2(-octave * fall_) * smooth(1 << octave, {x, y, z}, static_cast<unsigned>(octave));
    }
    return sum;
  }

 private:
  [[nodiscard]] double corner(unsigned octave, std::array<unsigned, 3> at) const {
    std::uint64_t bits = seed_ * 0x9e3779b97f4a7c15u + octave;
    for (const unsigned n : at) {
      bits = (bits ^ n) * 0xbf58476d1ce4e5b9u;
      bits ^= bits >> 29;
    }
    return static_cast<double>(bits * 0x94d049bb133111ebu >> 11) * 0x1p-52 - 1;
  }
  [[nodiscard]] double smooth(int cells, std::array<double, 3> at, unsigned octave) const {
    std::array<unsigned, 3> low{};
    std::array<double, 3> share{};
    for (std::size_t a = 0; a < 3; ++a) {
      const double scaled = at[a] * cells, whole = std::floor(scaled), t = scaled - whole;
      low[a] = static_cast<unsigned>(static_cast<int>(whole) + cells) % static_cast<unsigned>(cells);
      share[a] = t * t * t * (t * (6 * t - 15) + 10);
    }
    double sum = 0;
    for (unsigned c = 0; c < 8; ++c) {
      double weight = 1;
      std::array<unsigned, 3> place{};
      for (unsigned a = 0; a < 3; ++a) {
        const bool up = (c >> a & 1) != 0;
        weight *= up ? share[a] : 1 - share[a];
        place[a] = (low[a] + (up ? 1u : 0u)) % static_cast<unsigned>(cells);
      }
      sum += weight * corner(octave, place);
    }
    return sum;
  }
  unsigned seed_;
  int octaves_;
  double fall_;  ///< of the strength from an octave to the next, in powers of 2
};

constexpr double gamma = 5.0 / 3;
constexpr int steps = 40;

/// Of one cell: what the files have.
struct Cell {
  double density = 0;
  std::array<double, 3> velocity{};
  double pressure = 0;
  std::array<double, 3> low{}, high{};
  [[nodiscard]] double energy() const {
    double sum = pressure / (gamma - 1);
    for (std::size_t a = 0; a < 3; ++a) {
      const double field = 0.5 * (low[a] + high[a]);
      sum += 0.5 * density * velocity[a] * velocity[a] + 0.5 * field * field;
    }
    return sum;
  }
};

/// The field on all faces of the finest level, low faces of each cell by axis; it is periodic.
class FaceField {
 public:
  FaceField(int finest, unsigned seed) : size_(1 << finest), values_(3 * cells(), 0) {
    const double width = 1.0 / size_;
    std::array<std::vector<double>, 3> edges;
    for (unsigned a = 0; a < 3; ++a) edges[a] = potential(Noise(seed + 100 + a, finest, 4.0 / 3), a);
    std::mt19937 random(seed);
    // As a code would: a little at a time, each step with its own rounding.
    for (int step = 0; step < steps; ++step) {
      const double time = (0.5 + static_cast<double>(random() % 1000) / 1000) / steps / width * 0.2;
      for (std::int64_t n = 0; n < static_cast<std::int64_t>(cells()); ++n) add_curl(edges, time, n);
    }
  }
  [[nodiscard]] double low(unsigned axis, std::array<std::int64_t, 3> at) const {
    return values_[3 * number(at) + axis];
  }
  [[nodiscard]] double high(unsigned axis, std::array<std::int64_t, 3> at) const {
    ++at[axis];
    return low(axis, at);
  }

 private:
  [[nodiscard]] std::size_t cells() const { return static_cast<std::size_t>(size_) * size_ * size_; }
  [[nodiscard]] std::size_t number(std::array<std::int64_t, 3> at) const {
    for (auto& n : at) n = (n + size_) % size_;
    return static_cast<std::size_t>((at[2] * size_ + at[1]) * size_ + at[0]);
  }
  [[nodiscard]] std::array<std::int64_t, 3> place(std::int64_t n) const {
    return {n % size_, n / size_ % size_, n / size_ / size_};
  }
  [[nodiscard]] std::vector<double> potential(const Noise& noise, unsigned axis) const {
    std::vector<double> values(cells());
    for (std::int64_t n = 0; n < static_cast<std::int64_t>(cells()); ++n) {
      std::array<double, 3> at;
      for (unsigned a = 0; a < 3; ++a) at[a] = (static_cast<double>(place(n)[a]) + (a == axis ? 0.5 : 0)) / size_;
      values[static_cast<std::size_t>(n)] = noise(at[0], at[1], at[2]);
    }
    return values;
  }
  void add_curl(const std::array<std::vector<double>, 3>& edges, double time, std::int64_t n) {
    const auto at = place(n);
    for (unsigned a = 0; a < 3; ++a) {
      const unsigned b = (a + 1) % 3, c = (a + 2) % 3;
      auto up_b = at, up_c = at;
      ++up_b[b];
      ++up_c[c];
      const double around =
          (edges[c][number(up_b)] - edges[c][number(at)]) - (edges[b][number(up_c)] - edges[b][number(at)]);
      values_[3 * number(at) + a] += time * around;
    }
  }
  int size_;
  std::vector<double> values_;
};

Cell mean_of(const std::array<Cell, 8>& sons) {
  Cell mean;
  std::array<double, 3> momentum{};
  double energy = 0;
  for (unsigned s = 0; s < 8; ++s) {
    mean.density += sons[s].density;
    energy += sons[s].energy();
    for (unsigned a = 0; a < 3; ++a) {
      momentum[a] += sons[s].density * sons[s].velocity[a];
      ((s >> a & 1) != 0 ? mean.high : mean.low)[a] += (s >> a & 1) != 0 ? sons[s].high[a] : sons[s].low[a];
    }
  }
  mean.density *= 0.125;
  for (unsigned a = 0; a < 3; ++a) {
    mean.velocity[a] = 0.125 * momentum[a] / mean.density;
    mean.low[a] *= 0.25;
    mean.high[a] *= 0.25;
  }
  mean.pressure = (gamma - 1) * (0.125 * energy - mean.energy());  // as long as it has none itself
  return mean;
}

std::vector<Cell> finest_cells(int finest, unsigned seed) {
  const FaceField field(finest, seed);
  std::vector<Noise> noise;
  for (unsigned n = 0; n < 5; ++n) noise.emplace_back(seed + n, finest, 1.0 / 3);
  std::vector<Cell> cells(std::size_t{1} << 3 * finest);
  const double size = 1 << finest;
  for (Key key = 0; key < cells.size(); ++key) {
    const auto at = place_of(key);
    const double x = (static_cast<double>(at[0]) + 0.5) / size, y = (static_cast<double>(at[1]) + 0.5) / size,
                 z = (static_cast<double>(at[2]) + 0.5) / size;
    Cell& cell = cells[key];
    cell.density = std::exp(2 * noise[0](x, y, z));
    for (unsigned a = 0; a < 3; ++a) {
      cell.velocity[a] = 3 * noise[1 + a](x, y, z);
      cell.low[a] = field.low(a, at);
      cell.high[a] = field.high(a, at);
    }
    cell.pressure = cell.density * (1 + 0.1 * noise[4](x, y, z));
  }
  return cells;
}

RelationTerm term(double coefficient, std::vector<int> times) { return {coefficient, std::move(times), {}}; }

// The order in the tree: the gas but for its pressure, the field, x to z, low faces and high ones; pressure last.
void declare(TreeData& tree) {
  declare_gas(tree, gamma);
  TreeVariable pressure = tree.variables.back();
  tree.variables.pop_back();
  const char* names[] = {"field_x_low", "field_x_high", "field_y_low", "field_y_high", "field_z_low", "field_z_high"};
  for (std::size_t n = 0; n < 6; ++n) {
    TreeVariable variable{names[n], {}, {}, {}};
    FaceRelation face{static_cast<int>(n / 2), n % 2 == 1, -1, {}, {}};
    if (face.high) {
      face.opposite = 0;
      variable.companions.push_back(4 + n - 1);
    }
    if (face.axis == 2) {
      const int first = face.high ? 1 : 0;
      face.others = {first, first + 1, first + 2, first + 3};
      for (std::size_t other = 0; other < 4; ++other) variable.companions.push_back(4 + other);
    }
    variable.relations.companions = static_cast<int>(variable.companions.size());
    variable.relations.face = face;
    tree.variables.push_back(std::move(variable));
  }
  for (int a = 0; a < 3; ++a) {
    const int low = 4 + 2 * a, high = low + 1;
    auto& offset = pressure.relations.mean->offset;
    offset.push_back(term(0.125, {low, low}));
    offset.push_back(term(0.25, {low, high}));
    offset.push_back(term(0.125, {high, high}));
  }
  pressure.relations.companions = 10;
  pressure.companions = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  tree.variables.push_back(std::move(pressure));
}

}  // namespace

TreeData make_magnetised(int finest, unsigned seed) {
  TreeData tree;
  tree.name = "magnetised";
  declare(tree);
  std::vector<std::vector<Cell>> full(static_cast<std::size_t>(finest) + 1);
  full.back() = finest_cells(finest, seed);
  for (std::size_t level = full.size() - 1; level-- > 0;) {
    full[level].resize(full[level + 1].size() / 8);
    for (std::size_t n = 0; n < full[level].size(); ++n) {
      std::array<Cell, 8> sons;
      std::copy_n(full[level + 1].begin() + static_cast<std::ptrdiff_t>(8 * n), 8, sons.begin());
      full[level][n] = mean_of(sons);
    }
  }
  // Refined where it is dense, from the third-finest level on.
  std::vector<Key> keys{0};
  for (std::size_t level = 0; level < full.size(); ++level) {
    std::vector<std::uint8_t>& refined = tree.refined.emplace_back();
    std::vector<Key> below;
    for (TreeVariable& variable : tree.variables) variable.levels.emplace_back();
    for (const Key key : keys) {
      const Cell& cell = full[level][key];
      const bool fine = level + 1 < full.size() && (level + 3 < full.size() || cell.density > 0.9);
      refined.push_back(fine);
      for (Key son = 0; fine && son < 8; ++son) below.push_back(key << 3 | son);
      std::size_t v = 0;
      for (const double value : {cell.density, cell.velocity[0], cell.velocity[1], cell.velocity[2], cell.low[0],
                                 cell.high[0], cell.low[1], cell.high[1], cell.low[2], cell.high[2], cell.pressure}) {
        tree.variables[v++].levels.back().push_back(value);
      }
    }
    keys = std::move(below);
  }
  return tree;
}

}  // namespace benchmark
