// Pieces of surfaces: their bytes, and normals from facets.
//
// 1. to_bytes and to_pieces: a head of three numbers, then each array with its length. Lengths are checked before
//    memory is allocated.
// 2. gather_pieces (collective): all pieces on rank 0.
// 3. add_facet_normals (collective): normals as sums of the area vectors of the triangles around a point (see below).
#include "visualisation/contour/surface.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/hash.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

template <class T>
void append(Bytes& bytes, std::span<const T> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  const auto* head = reinterpret_cast<const std::byte*>(&count);
  bytes.insert(bytes.end(), head, head + sizeof count);
  const auto data = std::as_bytes(values);
  bytes.insert(bytes.end(), data.begin(), data.end());
}

template <class T, class Allocator>
void append(Bytes& bytes, const std::vector<T, Allocator>& values) {
  append(bytes, std::span<const T>(values));
}

/// Serialises the values, preceded by their type.
template <class Wide, class Narrow, std::size_t n>
void append(Bytes& bytes, const Packed<Wide, Narrow, n>& values) {
  bytes.push_back(static_cast<std::byte>(values.is_narrow()));
  if (values.is_narrow()) {
    append(bytes, values.narrow());
  } else {
    append(bytes, values.wide());
  }
}

class Reader {
 public:
  explicit Reader(BytesView bytes) : bytes_(bytes) {}
  [[nodiscard]] bool done() const { return at_ == bytes_.size(); }
  template <class T, class Allocator>
  void take(std::vector<T, Allocator>& values) {
    values.resize(count(sizeof(T)));
    copy(values.data(), values.size() * sizeof(T));
  }
  template <class Wide, class Narrow, std::size_t n>
  void take(Packed<Wide, Narrow, n>& values) {
    std::byte narrow{};
    copy(&narrow, 1);
    values.keep_narrow(narrow != std::byte{0});
    values.resize(count(n * (values.is_narrow() ? sizeof(Narrow) : sizeof(Wide))));
    copy(values.narrow().data(), values.narrow().size_bytes());
    copy(values.wide().data(), values.wide().size_bytes());
  }

 private:
  /// Reads how many values of so many bytes follow.
  std::size_t count(std::size_t size) {
    std::int64_t count = 0;
    copy(&count, sizeof count);
    if (count < 0 || static_cast<std::size_t>(count) > (bytes_.size() - at_) / size) damaged();
    return static_cast<std::size_t>(count);
  }
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

}  // namespace

Bytes to_bytes(std::span<const Piece> pieces) {
  Bytes bytes;
  for (const Piece& piece : pieces) {
    if (piece.triangles.empty() && piece.lines.empty()) continue;
    append(bytes, std::vector<std::int64_t>{piece.layer, static_cast<std::int64_t>(piece.data.size()), piece.in_order});
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
    if (head.size() != 3)
      fail(Code::internal, "the pieces of a surface are damaged: a head has {} entries", head.size());
    piece.layer = static_cast<std::int32_t>(head[0]);
    piece.in_order = head[2] != 0;
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

std::vector<Piece> gather_pieces(std::vector<Piece> mine, Communicator& communicator) {
  if (communicator.size() == 1) return mine;
  std::vector<Piece> all;
  for (const Bytes& bytes : communicator.gather(to_bytes(mine), 0)) {
    for (Piece& piece : to_pieces(bytes)) all.push_back(std::move(piece));
  }
  return all;
}

std::vector<std::int64_t> count_cells(std::span<const Piece> pieces, std::size_t layers) {
  std::vector<std::int64_t> counts(layers, 0);
  for (const Piece& piece : pieces) {
    counts.at(static_cast<std::size_t>(piece.layer)) +=
        static_cast<std::int64_t>(piece.triangles.size() + piece.lines.size());
  }
  return counts;
}

std::uint64_t bytes_of(const Piece& piece) {
  const std::uint64_t reals = 3 + (piece.normals.empty() ? 0 : 3) + piece.data.size();
  const std::uint64_t names = piece.others.empty() ? 1 : 2;
  return 8 * ((reals + names) * piece.points.size() + 4 * piece.triangles.size() + 3 * piece.lines.size());
}

// Normals of surfaces without a gradient, as sums of the area vectors of the triangles around a point. The vectors are
// sorted before they are added, so that the sum does not depend on their order. Points that several pieces may share
// send their vectors to the server that owns the point by a hash; it adds them and returns the normal.

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
struct PointName {
  std::int64_t layer, a, b;
  auto operator<=>(const PointName&) const noexcept = default;
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
  void add(const PointName& key, std::span<const Vector> parts, std::size_t piece, std::size_t point) {
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
    std::map<PointName, std::vector<Vector>> sums;
    std::vector<std::vector<PointName>> order(came.size());
    for (std::size_t server = 0; server < came.size(); ++server) {
      for (ByteReader in(came[server]); !in.at_end();) {
        const PointName key = order[server].emplace_back(in.get<PointName>());
        std::vector<Vector> parts;
        in.get(parts);
        std::vector<Vector>& all = sums[key];
        all.insert(all.end(), parts.begin(), parts.end());
      }
    }
    std::map<PointName, Vector> normals;
    for (auto& [key, parts] : sums) normals[key] = unit_sum(parts);
    std::vector<Bytes> answers;
    for (const std::vector<PointName>& keys : order) {
      std::vector<Vector> found;
      for (const PointName& key : keys) found.push_back(normals[key]);
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
      const PointName key{pieces[p].layer, pieces[p].keys[point], pieces[p].others[point]};
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
