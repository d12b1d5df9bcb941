// Normals of surfaces without a gradient, as sums of the area vectors of the triangles around a point. The vectors are
// sorted before they are added, so that the sum does not depend on their order. Points that several pieces may share
// send their vectors to the server that owns the point by a hash; it adds them and returns the normal.
#include "contour/dual/facet_normals.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sidestream/kit/base/hash.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {
namespace {

using Vector = std::array<double, 3>;

/// Twice the area vector of a triangle, towards lower numbers.
Vector spanned(const Piece& piece, std::size_t triangle) {
  const auto corners = piece.triangles[triangle];
  const Vector a = piece.points[static_cast<std::size_t>(corners[0])];
  Vector u = piece.points[static_cast<std::size_t>(corners[1])], v = piece.points[static_cast<std::size_t>(corners[2])];
  for (std::size_t d = 0; d < 3; ++d) {
    u[d] -= a[d];
    v[d] -= a[d];
  }
  return {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
}

Vector unit_sum(std::span<Vector> parts) {
  std::sort(parts.begin(), parts.end());
  Vector sum{0, 0, 0};
  for (const Vector& part : parts) {
    for (std::size_t d = 0; d < 3; ++d) sum[d] += part[d];
  }
  const double length = std::sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
  if (!(length > 0) || !std::isfinite(length)) return {0, 0, 1};
  for (double& one : sum) one /= length;
  return sum;
}

/// The area vectors that triangles give to the points of a piece, point after point.
struct Parts {
  std::vector<std::size_t> begins;  ///< one more at the end
  std::vector<Vector> parts;

  explicit Parts(const Piece& piece) : begins(piece.points.size() + 1, 0) {
    const std::size_t triangles = piece.triangles.size();
    for (std::size_t t = 0; t < triangles; ++t) {
      for (const std::int64_t corner : piece.triangles[t]) ++begins[static_cast<std::size_t>(corner) + 1];
    }
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    parts.resize(begins.back());
    std::vector<std::size_t> next(begins.begin(), begins.end() - 1);
    for (std::size_t t = 0; t < triangles; ++t) {
      const Vector normal = spanned(piece, t);
      for (const std::int64_t corner : piece.triangles[t]) parts[next[static_cast<std::size_t>(corner)]++] = normal;
    }
  }
  [[nodiscard]] std::span<Vector> of(std::size_t point) {
    return std::span(parts).subspan(begins[point], begins[point + 1] - begins[point]);
  }
};

/// The name of a point in all pieces.
struct Key {
  std::int64_t layer, a, b;
  auto operator<=>(const Key&) const noexcept = default;
  [[nodiscard]] int server(int servers) const noexcept {
    const auto bits = mixed_bits(mixed_bits(static_cast<std::uint64_t>(a)) ^ static_cast<std::uint64_t>(b));
    return static_cast<int>(bits % static_cast<std::uint64_t>(servers));
  }
};

/// Points of several pieces: their vectors go to the server that owns the point, which returns the sum.
class SharedPoints {
 public:
  explicit SharedPoints(Communicator& servers)
      : servers_(servers), to_(static_cast<std::size_t>(servers.size())), asked_(to_.size()) {}
  void add(const Key& key, std::span<const Vector> parts, std::size_t piece, std::size_t point) {
    const auto server = static_cast<std::size_t>(key.server(servers_.size()));
    to_[server].put(key);
    to_[server].put(parts.size());
    to_[server].put_all(parts);
    asked_[server].push_back({piece, point});
  }
  /// Calls `take(piece, point, normal)` for all points. Collective.
  template <class Take>
  void resolve(Take&& take) {
    const std::vector<Bytes> came = servers_.all_to_all(taken());
    const std::vector<Bytes> answers = servers_.all_to_all(answered(came));
    for (std::size_t server = 0; server < answers.size(); ++server) {
      const std::vector<Vector> normals = records_of<Vector>(answers[server]);
      for (std::size_t n = 0; n < normals.size(); ++n)
        take(asked_[server][n].piece, asked_[server][n].point, normals[n]);
    }
  }

 private:
  struct Place {
    std::size_t piece, point;
  };
  std::vector<Bytes> taken() {
    std::vector<Bytes> bytes;
    for (ByteWriter& writer : to_) bytes.push_back(writer.take());
    return bytes;
  }
  /// The answers, in the order in which each server asked.
  static std::vector<Bytes> answered(const std::vector<Bytes>& came) {
    std::map<Key, std::vector<Vector>> sums;
    std::vector<std::vector<Key>> order(came.size());
    for (std::size_t server = 0; server < came.size(); ++server) {
      for (ByteReader in(came[server]); !in.at_end();) {
        const Key key = order[server].emplace_back(in.get<Key>());
        std::vector<Vector> parts;
        in.get(parts);
        std::vector<Vector>& all = sums[key];
        all.insert(all.end(), parts.begin(), parts.end());
      }
    }
    std::map<Key, Vector> normals;
    for (auto& [key, parts] : sums) normals[key] = unit_sum(parts);
    std::vector<Bytes> answers;
    for (const std::vector<Key>& keys : order) {
      std::vector<Vector> found;
      for (const Key& key : keys) found.push_back(normals[key]);
      answers.push_back(bytes_of(found));
    }
    return answers;
  }

  Communicator& servers_;
  std::vector<ByteWriter> to_;
  std::vector<std::vector<Place>> asked_;
};

}  // namespace

void add_facet_normals(std::vector<Piece>& pieces, std::span<const std::int64_t> shared, Communicator& servers) {
  std::vector<std::vector<Vector>> normals(pieces.size());
  SharedPoints seams(servers);
  const auto is_shared = [&](std::int64_t name) { return std::binary_search(shared.begin(), shared.end(), name); };
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    Parts parts(pieces[p]);
    for (std::size_t point = 0; point < pieces[p].points.size(); ++point) {
      const Key key{pieces[p].layer, pieces[p].keys[point], pieces[p].others[point]};
      if (is_shared(key.a) && is_shared(key.b)) {
        normals[p].emplace_back();
        seams.add(key, parts.of(point), p, point);
      } else {
        normals[p].push_back(unit_sum(parts.of(point)));
      }
    }
  }
  seams.resolve([&](std::size_t piece, std::size_t point, const Vector& normal) { normals[piece][point] = normal; });
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    for (const Vector& normal : normals[p]) pieces[p].normals.push_back(normal);
  }
}

}  // namespace sidestream
