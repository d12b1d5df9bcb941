// Halos found by brute force, and helpers of the tests that run the analysis.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "cosmology/kinds.hpp"
#include "support/fake_domain.hpp"
#include "support/hash_field.hpp"

namespace sidestream::testing {

struct FoundHalo {
  Index peak = -1;
  double value = 0;
  std::vector<Index3> cells{};
  long double mass = 0;
};

/// True if cells whose indices differ by `d` are neighbours, as the documentation defines it.
inline bool next_to(int connectivity, const Index3& d) {
  const Index steps = std::abs(d[0]) + std::abs(d[1]) + std::abs(d[2]);
  if (connectivity == 6) return steps == 1;
  if (connectivity == 18) return steps == 1 || steps == 2;
  if (connectivity == 26) return steps > 0;
  const auto all = [&](Index a, Index b) {
    for (const Index x : d) {
      if (x != a && x != b) return false;
    }
    return steps > 0;
  };
  return all(0, 1) || all(0, -1);
}

/// The cells of a mesh for the search by brute force: values by linear index, and neighbours.
struct Cells {
  Index3 size;
  std::array<bool, 3> periodic{};
  int connectivity = 6;
  std::vector<double> values{};

  explicit Cells(const FakeDomain& domain, int neighbours = 6) : size(), connectivity(neighbours) {
    const Box& box = domain.mesh().cells;
    for (int a = 0; a < 3; ++a) size[a] = box.extent(a);
    periodic = domain.mesh().periodic;
    for (Index i = box.lo[0]; i < box.hi[0]; ++i) {
      for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
        for (Index k = box.lo[2]; k < box.hi[2]; ++k) values.push_back(domain.value(0, {i, j, k}, 0));
      }
    }
    if (domain.fields[0].type != Type::float32) return;
    for (double& value : values) value = static_cast<float>(value);
  }
  [[nodiscard]] Index3 cell(Index id) const { return {id / size[2] / size[1], id / size[2] % size[1], id % size[2]}; }
  [[nodiscard]] std::set<Index> neighbours(Index id) const {
    std::set<Index> all;
    const Index3 at = cell(id);
    for (Index n = 0; n < 27; ++n) {
      const Index3 d{n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
      if (!next_to(connectivity, d)) continue;
      Index3 p = at;
      bool there = true;
      for (std::size_t a = 0; a < 3; ++a) {
        p[a] += d[a];
        if (periodic[a]) p[a] = (p[a] + size[a]) % size[a];
        there = there && p[a] >= 0 && p[a] < size[a];
      }
      if (there) all.insert((p[0] * size[1] + p[1]) * size[2] + p[2]);
    }
    return all;
  }
};

/// The halos found by brute force, by their peak.
inline std::map<Index, FoundHalo> brute_force(const Cells& cells, double boundary, double peak, std::size_t least = 1) {
  std::map<Index, FoundHalo> halos;
  std::vector<bool> seen(cells.values.size());
  for (std::size_t start = 0; start < seen.size(); ++start) {
    if (seen[start] || !(cells.values[start] >= boundary)) continue;
    FoundHalo halo;
    std::vector<Index> stack{static_cast<Index>(start)};
    seen[start] = true;
    while (!stack.empty()) {
      const Index id = stack.back();
      stack.pop_back();
      const double value = cells.values[static_cast<std::size_t>(id)];
      halo.cells.push_back(cells.cell(id));
      halo.mass += value;
      if (halo.peak < 0 || value > halo.value || (value == halo.value && id > halo.peak)) {
        halo.peak = id;
        halo.value = value;
      }
      for (const Index other : cells.neighbours(id)) {
        const auto n = static_cast<std::size_t>(other);
        if (seen[n] || !(cells.values[n] >= boundary)) continue;
        seen[n] = true;
        stack.push_back(other);
      }
    }
    if (halo.value >= peak && halo.cells.size() >= least) halos[halo.peak] = halo;
  }
  return halos;
}

inline FakeDomain periodic(FakeDomain domain, std::array<bool, 3> along = {true, true, true}) {
  domain.metadata.meshes[0].periodic = along;
  return domain;
}

inline FakeDomain hashed(Index n) {
  return periodic(
      fake_cube(n, 0, 20, {{"a", [field = HashField(n)](auto&, const Index3& p, int) { return field(p); }}}));
}

/// Noise with few distinct values, so that there are plateaus and ties.
inline double noise(const Index3& p, unsigned seed, int values = 12) {
  std::seed_seq seeds{static_cast<unsigned>(p[0] + 100), static_cast<unsigned>(p[1] + 100),
                      static_cast<unsigned>(p[2] + 100), seed};
  unsigned word[1];
  seeds.generate(word, word + 1);
  return static_cast<double>(word[0] % static_cast<unsigned>(values));
}

inline std::size_t column_of(const Table& table, const std::string& name) {
  const std::vector<std::string> names = table.names();
  const auto at = std::find(names.begin(), names.end(), name);
  REQUIRE_MESSAGE(at != names.end(), name);
  return static_cast<std::size_t>(at - names.begin());
}
inline double real(const Table& table, std::size_t row, const std::string& name) {
  return std::get<double>(table.at(row, column_of(table, name)));
}
inline Index whole(const Table& table, std::size_t row, const std::string& name) {
  return std::get<std::int64_t>(table.at(row, column_of(table, name)));
}

/// The rows of a file of reference results, as numbers.
inline std::vector<std::map<std::string, double>> reference_rows(const std::string& name) {
  std::ifstream file(std::string(COSMOLOGY_DATA) + "/" + name);
  REQUIRE_MESSAGE(file.good(), name);
  std::string line, word;
  std::getline(file, line);
  std::vector<std::string> names;
  for (std::istringstream words(line); std::getline(words, word, ',');) names.push_back(word);
  std::vector<std::map<std::string, double>> rows;
  while (std::getline(file, line)) {
    rows.emplace_back();
    std::size_t n = 0;
    for (std::istringstream words(line); std::getline(words, word, ',');) rows.back()[names.at(n++)] = std::stod(word);
  }
  return rows;
}

}  // namespace sidestream::testing
