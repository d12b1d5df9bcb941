#include "contour/surface.hpp"

#include <cstring>

#include "sidestream/kit/base/fail.hpp"

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

}  // namespace sidestream
