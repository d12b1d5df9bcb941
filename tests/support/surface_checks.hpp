// Measures of a triangle mesh: area, volume, edges, Euler characteristic.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "sidestream/data/result.hpp"

namespace sidestream::testing {

using Vector = std::array<double, 3>;

inline Vector minus(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double norm(const Vector& a) { return std::sqrt(dot(a, a)); }

/// The triangle's normal, whose length is twice the area.
inline Vector spanned(const Surface& s, std::size_t t) {
  const auto& [a, b, c] = s.triangles[t];
  return cross(minus(s.points[b], s.points[a]), minus(s.points[c], s.points[a]));
}

inline double area(const Surface& s) {
  double sum = 0;
  for (std::size_t t = 0; t < s.triangles.size(); ++t) sum += 0.5 * norm(spanned(s, t));
  return sum;
}

/// Volume that the surface encloses; positive if triangles are counter-clockwise seen from outside.
inline double volume(const Surface& s) {
  double sum = 0;
  for (const auto& [a, b, c] : s.triangles) sum += dot(s.points[a], cross(s.points[b], s.points[c])) / 6;
  return sum;
}

struct Edges {
  std::int64_t all = 0, rim = 0;  ///< rim: edges of only one triangle
  bool sound = true;              ///< no edge has more than two triangles, or two in the same direction
  std::set<std::int64_t> rim_points;
};

inline Edges edges_of(const Surface& s) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<int, int>> count;  // forwards, backwards
  for (const auto& t : s.triangles) {
    for (int v = 0; v < 3; ++v) {
      const std::int64_t a = t[v], b = t[(v + 1) % 3];
      auto& [forwards, backwards] = count[std::minmax(a, b)];
      ++(a < b ? forwards : backwards);
    }
  }
  Edges edges;
  for (const auto& [edge, ways] : count) {
    ++edges.all;
    if (ways.first > 1 || ways.second > 1) edges.sound = false;
    if (ways.first + ways.second != 1) continue;
    ++edges.rim;
    edges.rim_points.insert({edge.first, edge.second});
  }
  return edges;
}

/// The number of vertices, minus edges, plus triangles.
inline std::int64_t euler_characteristic(const Surface& s) {
  return static_cast<std::int64_t>(s.points.size()) - edges_of(s).all + static_cast<std::int64_t>(s.triangles.size());
}

/// Number of connected components.
inline std::int64_t parts(const Surface& s) {
  std::vector<std::int64_t> parent(s.points.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::int64_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  auto count = static_cast<std::int64_t>(s.points.size());
  for (const auto& t : s.triangles) {
    for (int v = 1; v < 3; ++v) {
      const std::int64_t a = root(t[0]), b = root(t[v]);
      if (a == b) continue;
      parent[a] = b;
      --count;
    }
  }
  return count;
}

}  // namespace sidestream::testing
