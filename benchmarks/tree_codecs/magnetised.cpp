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

/// Smooth random numbers in a periodic cube, in octaves whose strength falls like that of turbulence.
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
  double fall_;  ///< decay of the strength from an octave to the next, in powers of 2
};

constexpr double gamma = 5.0 / 3;
constexpr int steps = 40;

/// Values of one cell in the files.
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
  explicit FaceField(const MagnetisedKind& kind) : size_(1 << kind.finest), values_(3 * cells(), 0) {
    const double width = 1.0 / (size_ * kind.strength);
    std::array<std::vector<double>, 3> edges;
    for (unsigned a = 0; a < 3; ++a) edges[a] = potential(Noise(kind.seed + 100 + a, kind.finest, 4.0 / 3), a);
    std::mt19937 random(kind.seed);
    // Many small steps with their own rounding, as in a code.
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

Cell mean_of(const std::array<Cell, 8>& children) {
  Cell mean;
  std::array<double, 3> momentum{};
  double energy = 0;
  for (unsigned s = 0; s < 8; ++s) {
    mean.density += children[s].density;
    energy += children[s].energy();
    for (unsigned a = 0; a < 3; ++a) {
      momentum[a] += children[s].density * children[s].velocity[a];
      ((s >> a & 1) != 0 ? mean.high : mean.low)[a] += (s >> a & 1) != 0 ? children[s].high[a] : children[s].low[a];
    }
  }
  mean.density *= 0.125;
  for (unsigned a = 0; a < 3; ++a) {
    mean.velocity[a] = 0.125 * momentum[a] / mean.density;
    mean.low[a] *= 0.25;
    mean.high[a] *= 0.25;
  }
  mean.pressure = (gamma - 1) * (0.125 * energy - mean.energy());  // until it has its own
  return mean;
}

std::vector<Cell> finest_cells(const MagnetisedKind& kind) {
  const FaceField field(kind);
  std::vector<Noise> noise;
  for (unsigned n = 0; n < 5; ++n) noise.emplace_back(kind.seed + n, kind.finest, kind.fall);
  std::vector<Cell> cells(std::size_t{1} << 3 * kind.finest);
  const double size = 1 << kind.finest;
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

constexpr std::array<const char*, 6> face_names{"field_x_low",  "field_x_high", "field_y_low",
                                                "field_y_high", "field_z_low",  "field_z_high"};

void declare_faces(TreeData& tree) {
  for (std::size_t n = 0; n < 6; ++n) {
    TreeVariable variable{face_names[n], {}, {}, {}};
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
}

/// The energy of the field in a cell, from companions 4 on.
std::vector<RelationTerm> field_energy(bool centred) {
  std::vector<RelationTerm> terms;
  for (int a = 0; a < 3; ++a) {
    if (centred) {
      terms.push_back(term(0.5, {4 + a, 4 + a}));
      continue;
    }
    const int low = 4 + 2 * a, high = low + 1;
    terms.push_back(term(0.125, {low, low}));
    terms.push_back(term(0.25, {low, high}));
    terms.push_back(term(0.125, {high, high}));
  }
  return terms;
}

// Declares variables in the order of the tree: the gas except its pressure, the field, x to z, low faces and high ones;
// pressure last, or the energy.
void declare(TreeData& tree, const MagnetisedKind& kind) {
  declare_gas(tree, gamma);
  TreeVariable pressure = tree.variables.back();
  tree.variables.pop_back();
  if (kind.centred) {
    for (const char* name : {"field_x", "field_y", "field_z"}) {
      tree.variables.push_back({name, {}, {}, {}});
      tree.variables.back().relations.mean = MeanRelation{};
    }
  } else {
    declare_faces(tree);
  }
  const std::vector<RelationTerm> field = field_energy(kind.centred);
  auto& offset = pressure.relations.mean->offset;
  std::vector<RelationTerm> energy = offset;
  offset.insert(offset.end(), field.begin(), field.end());
  pressure.companions.clear();
  for (std::size_t n = 0; n < tree.variables.size(); ++n) pressure.companions.push_back(n);
  pressure.relations.companions = static_cast<int>(pressure.companions.size());
  tree.variables.push_back(pressure);
  if (!kind.energy) return;
  TreeVariable total{"energy", {}, {}, pressure.companions};
  total.companions.push_back(tree.variables.size() - 1);
  const int last = static_cast<int>(total.companions.size()) - 1;
  energy.insert(energy.begin(), term(1 / (gamma - 1), {last}));
  energy.insert(energy.end(), field.begin(), field.end());
  total.relations.closure = std::move(energy);
  total.relations.companions = last + 1;
  tree.variables.push_back(std::move(total));
}

/// Children by the slope between what is on either side, as codes make cells that are refined; faces inside by the mean
/// of those of the parent, so that there is no divergence.
void prolong(std::vector<Cell>& cells, const std::vector<Cell>& parents, int level) {
  const std::int64_t size = 1 << level;
  const auto at = [&](std::array<std::int64_t, 3> place) -> const Cell& {
    for (auto& n : place) n = (n + size) % size;
    return parents[key_of(place)];
  };
  for (Key key = 0; key < cells.size(); ++key) {
    const auto place = place_of(key >> 3);
    const Cell& parent = parents[key >> 3];
    Cell& cell = cells[key];
    cell = parent;
    for (unsigned a = 0; a < 3; ++a) {
      auto below = place, above = place;
      --below[a];
      ++above[a];
      const double share = (key >> a & 1) != 0 ? 0.125 : -0.125;
      cell.density += share * (at(above).density - at(below).density);
      cell.pressure += share * (at(above).pressure - at(below).pressure);
      for (unsigned v = 0; v < 3; ++v) cell.velocity[v] += share * (at(above).velocity[v] - at(below).velocity[v]);
      const double middle = 0.5 * (parent.low[a] + parent.high[a]);
      cell.low[a] = (key >> a & 1) != 0 ? middle : parent.low[a];
      cell.high[a] = (key >> a & 1) != 0 ? parent.high[a] : middle;
    }
  }
}

Cell parent_of(const std::array<Cell, 8>& children, const MagnetisedKind& kind, Key key) {
  if (kind.parents == Parents::children) return children[0];
  Cell mean = mean_of(children);
  if (kind.parents == Parents::means) return mean;
  // Off by about a thousandth, like the fluxes of a step.
  const double off = 1 + 1e-3 * std::sin(static_cast<double>(key));
  mean.density *= off;
  mean.pressure *= off;
  for (unsigned a = 0; a < 3; ++a) {
    mean.velocity[a] *= off;
    mean.low[a] *= off;
    mean.high[a] *= off;
  }
  return mean;
}

std::vector<std::vector<Cell>> all_levels(const MagnetisedKind& kind) {
  std::vector<std::vector<Cell>> full(static_cast<std::size_t>(kind.finest) + 1);
  full.back() = finest_cells(kind);
  const auto take_parents = [&](std::size_t level) {
    full[level].resize(full[level + 1].size() / 8);
    for (Key n = 0; n < full[level].size(); ++n) {
      std::array<Cell, 8> children;
      std::copy_n(full[level + 1].begin() + static_cast<std::ptrdiff_t>(8 * n), 8, children.begin());
      full[level][n] = parent_of(children, kind, n);
    }
  };
  for (std::size_t level = full.size() - 1; level-- > 0;) take_parents(level);
  if (kind.prolonged) prolong(full.back(), full[full.size() - 2], kind.finest - 1);
  return full;
}

/// Values in the order of the tree's variables.
std::vector<double> values_of(const Cell& cell, const MagnetisedKind& kind) {
  std::vector<double> values{cell.density, cell.velocity[0], cell.velocity[1], cell.velocity[2]};
  for (unsigned a = 0; a < 3; ++a) {
    if (kind.centred) {
      values.push_back(0.5 * (cell.low[a] + cell.high[a]));
    } else {
      values.insert(values.end(), {cell.low[a], cell.high[a]});
    }
  }
  values.push_back(cell.pressure);
  if (kind.energy) values.push_back(cell.energy());
  return values;
}

}  // namespace

std::vector<MagnetisedKind> magnetised_kinds(int finest) {
  std::vector<MagnetisedKind> kinds(1);
  const auto add = [&](const char* name, auto&& change) {
    MagnetisedKind kind;
    change(kind);
    kind.name = name;
    kinds.push_back(kind);
  };
  add("another seed", [](MagnetisedKind& kind) { kind.seed = 7; });
  add("field / 10", [](MagnetisedKind& kind) { kind.strength = 0.1; });
  add("field * 10", [](MagnetisedKind& kind) { kind.strength = 10; });
  add("steeper spectrum", [](MagnetisedKind& kind) { kind.fall = 5.0 / 6; });
  add("single precision", [](MagnetisedKind& kind) { kind.single = true; });
  add("just refined", [](MagnetisedKind& kind) { kind.prolonged = true; });
  add("with total energy", [](MagnetisedKind& kind) { kind.energy = true; });
  add("parents are the first child", [](MagnetisedKind& kind) { kind.parents = Parents::children; });
  add("parents off by 1e-3", [](MagnetisedKind& kind) { kind.parents = Parents::stale; });
  add("field in cells", [](MagnetisedKind& kind) { kind.centred = true; });
  for (MagnetisedKind& kind : kinds) kind.finest = finest;
  add("a level fewer", [&](MagnetisedKind& kind) { kind.finest = finest - 1; });
  return kinds;
}

TreeData make_magnetised(const MagnetisedKind& kind) {
  TreeData tree;
  tree.name = "magnetised";
  tree.single = kind.single;
  declare(tree, kind);
  const std::vector<std::vector<Cell>> full = all_levels(kind);
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
      for (Key child = 0; fine && child < 8; ++child) below.push_back(key << 3 | child);
      std::size_t v = 0;
      for (const double value : values_of(cell, kind)) tree.variables[v++].levels.back().push_back(value);
    }
    keys = std::move(below);
  }
  return tree;
}

}  // namespace benchmark
