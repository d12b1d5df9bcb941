#include "analysis/surface_shares.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "analysis/surface.hpp"
#include "base/records.hpp"

namespace sidestream {

namespace {

/// By what the triangles of a surface are in order: layer, then cell.
using Key = std::array<std::int64_t, 2>;

constexpr std::int64_t samples_each = 64;  ///< for each server: shares differ by a few percent

Key key_of(const Piece& piece, std::size_t n) { return {piece.layer, piece.cells[n]}; }

/// Evenly spread over all servers' cells.
std::vector<Key> samples_of(const std::vector<Piece>& pieces, Communicator& servers) {
  std::vector<Key> keys;
  for (const Piece& piece : pieces) {
    for (std::size_t n = 0; n < piece.cells.size(); ++n) keys.push_back(key_of(piece, n));
  }
  std::int64_t all = static_cast<std::int64_t>(keys.size());
  servers.sum({&all, 1});
  const auto step = static_cast<std::size_t>(std::max<std::int64_t>(1, all / (samples_each * servers.size())));
  std::sort(keys.begin(), keys.end());
  std::vector<Key> samples;
  for (std::size_t n = step / 2; n < keys.size(); n += step) samples.push_back(keys[n]);
  return samples;
}

/// The first key of each server but the first; the same on all servers.
std::vector<Key> boundaries_of(const std::vector<Piece>& pieces, Communicator& servers) {
  const std::vector<Key> mine = samples_of(pieces, servers);
  std::vector<Key> samples;
  for (const Bytes& bytes : servers.all_gather(std::as_bytes(std::span(mine)))) {
    const std::vector<Key> theirs = records_of<Key>(bytes);
    samples.insert(samples.end(), theirs.begin(), theirs.end());
  }
  std::sort(samples.begin(), samples.end());
  std::vector<Key> boundaries;
  for (int r = 1; r < servers.size() && !samples.empty(); ++r) {
    boundaries.push_back(
        samples[samples.size() * static_cast<std::size_t>(r) / static_cast<std::size_t>(servers.size())]);
  }
  return boundaries;
}

/// The part of a piece that goes to one server: some of its triangles or lines, with their points.
class Part {
 public:
  explicit Part(const Piece& from) : from_(&from), numbers_(from.points.size(), -1) {
    to_.layer = from.layer;
    to_.data.resize(from.data.size());
    to_.points.keep_narrow(from.points.is_narrow());
    to_.normals.keep_narrow(from.normals.is_narrow());
    to_.triangles.keep_narrow(from.triangles.is_narrow());
  }
  void add(std::size_t n) {
    if (from_->triangles.empty()) {
      add(from_->lines[n], to_.lines);
    } else {
      add(from_->triangles[n], to_.triangles);
    }
    to_.cells.push_back(from_->cells[n]);
  }
  [[nodiscard]] const Piece& piece() const { return to_; }

 private:
  template <class Cell, class Cells>
  void add(Cell cell, Cells& cells) {
    for (std::int64_t& point : cell) point = number(static_cast<std::size_t>(point));
    cells.push_back(cell);
  }
  std::int64_t number(std::size_t point) {
    std::int64_t& number = numbers_[point];
    if (number >= 0) return number;
    number = static_cast<std::int64_t>(to_.points.size());
    to_.points.push_back(from_->points[point]);
    to_.keys.push_back(from_->keys[point]);
    if (!from_->others.empty()) to_.others.push_back(from_->others[point]);
    if (!from_->normals.empty()) to_.normals.push_back(from_->normals[point]);
    for (std::size_t a = 0; a < from_->data.size(); ++a) to_.data[a].push_back(from_->data[a][point]);
    return number;
  }
  const Piece* from_;
  Piece to_;
  std::vector<std::int64_t> numbers_;  ///< of the points in the part, -1: not in it
};

/// Adds what goes to each server to its bytes.
void deal(const Piece& piece, const std::vector<Key>& boundaries, std::vector<Bytes>& to) {
  std::vector<std::vector<std::size_t>> cells(to.size());
  for (std::size_t n = 0; n < piece.cells.size(); ++n) {
    const auto above = std::upper_bound(boundaries.begin(), boundaries.end(), key_of(piece, n));
    cells[static_cast<std::size_t>(above - boundaries.begin())].push_back(n);
  }
  for (std::size_t server = 0; server < to.size(); ++server) {
    if (cells[server].empty()) continue;
    Part part(piece);
    for (const std::size_t n : cells[server]) part.add(n);
    const Bytes bytes = to_bytes({&part.piece(), 1});
    to[server].insert(to[server].end(), bytes.begin(), bytes.end());
  }
}

}  // namespace

std::vector<Piece> share_pieces(std::vector<Piece> mine, Communicator& servers) {
  if (servers.size() == 1) return mine;
  const std::vector<Key> boundaries = boundaries_of(mine, servers);
  std::vector<Bytes> to(static_cast<std::size_t>(servers.size()));
  for (Piece& piece : mine) {
    deal(piece, boundaries, to);
    piece = {};
  }
  std::vector<Piece> shared;
  for (const Bytes& bytes : servers.all_to_all(to)) {
    for (Piece& piece : to_pieces(bytes)) shared.push_back(std::move(piece));
  }
  return shared;
}

Bytes LocalPieces::give(std::vector<Piece> pieces, const LocalInput& input) {
  if (!input.stays) return to_bytes(pieces);
  held_ = std::move(pieces);
  return {};
}

std::vector<Piece> LocalPieces::take(const CombineInput& input) {
  std::vector<Piece> pieces = std::exchange(held_, {});
  if (input.local == nullptr || !input.local->stays) pieces.clear();
  for (const Bytes& partial : input.partials) {
    for (Piece& piece : to_pieces(partial)) pieces.push_back(std::move(piece));
  }
  return pieces;
}

void add_surface(const SurfaceFile& file, std::vector<Piece> pieces, const CombineInput& input) {
  Communicator& servers = input.communicator;
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += bytes_of(piece);
  const bool shared = in_pieces(file.pieces, bytes, servers);
  const OrderedSurface surface(
      shared ? share_pieces(std::move(pieces), servers) : gather_pieces(std::move(pieces), servers), file.shape);
  if (shared) {
    input.results.add_stream_parts(file.name, surface, servers, Pieces::always);
  } else {
    input.results.add_stream(file.name, surface);
  }
}

}  // namespace sidestream
