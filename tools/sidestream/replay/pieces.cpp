#include "pieces.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "sidestream/kit/base/fail.hpp"
#include "storage/database/table.hpp"

namespace sidestream {

namespace {

/// A stored block and its position in the tables.
struct Place {
  Block block;
  std::size_t group = 0;
  std::uint32_t row = 0;
};

std::vector<Place> places_of(database::Context& context, std::int32_t mesh) {
  std::vector<Place> places;
  for (std::size_t group = 0; group < context.groups().size(); ++group) {
    const std::vector<Block>& blocks = context.blocks(group);
    for (std::size_t n = 0; n < blocks.size(); ++n) {
      if (blocks[n].mesh == mesh) places.push_back({blocks[n], group, static_cast<std::uint32_t>(n)});
    }
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tuple(a.block.level, a.block.id) < std::tuple(b.block.level, b.block.id);
  });
  return places;
}

}  // namespace

Box part_of(const Index3& size, Share share) {
  // Prime factors, the largest first, each along the axis with the longest parts.
  Index3 cuts{1, 1, 1};
  std::vector<Index> factors;
  for (Index left = share.of, factor = 2; left > 1;) {
    if (left % factor != 0) {
      ++factor;
      continue;
    }
    factors.insert(factors.begin(), factor);
    left /= factor;
  }
  for (const Index factor : factors) {
    std::size_t longest = 2;
    for (std::size_t a = 2; a-- > 0;) {
      if (size[a] * cuts[longest] > size[longest] * cuts[a]) longest = a;
    }
    cuts[longest] *= factor;
  }
  const Index n = share.number;
  const Index3 at{n % cuts[0], n / cuts[0] % cuts[1], n / cuts[0] / cuts[1]};
  Box box;
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] = size[a] * at[a] / cuts[a];
    box.hi[a] = size[a] * (at[a] + 1) / cuts[a];
  }
  return box;
}

Replayer::Replayer(const Metadata& metadata, const Resolution& resolution, bool as_stored, Share share)
    : metadata_(metadata), resolution_(resolution), as_stored_(as_stored), share_(share) {}

bool Replayer::is_divided(const Mesh& mesh) const {
  return !as_stored_ && !mesh.is_list() && !mesh.owned_points && mesh.refinement.empty();
}

void Replayer::read(database::Context& context, Session& session) {
  pieces_.clear();
  for (const Mesh& mesh : metadata_.meshes) {
    if (is_divided(mesh)) {
      divide(context, session, mesh);
    } else {
      take_blocks(context, session, mesh);
    }
  }
}

void Replayer::divide(database::Context& context, Session& session, const Mesh& mesh) {
  const Resampling how(mesh, resolution_);
  const Box cells = part_of(how.size(), share_);
  if (cells.empty()) return;
  Block block;
  block.id = share_.number;
  block.cells = cells;
  session.replace_blocks(mesh.name, {block});
  for (const Variable& variable : metadata_.variables) {
    if (variable.mesh == mesh.id) read_share(context, variable, cells, how);
  }
}

void Replayer::read_share(database::Context& context, const Variable& variable, const Box& cells,
                          const Resampling& how) {
  const Box points = variable.points(cells), stored = how.stored(points, variable);
  Bytes values(packed_bytes(stored, variable.components, variable.type));
  const database::Target target{values.data(), stored, packed_strides(stored, variable.components, variable.order)};
  const std::int64_t missing = database::read_box(context, static_cast<std::uint32_t>(variable.id), 0, stored, target);
  if (missing == stored.count()) return;  // it was not published then
  if (missing > 0) {
    fail(
        Code::file,
        "cycle {}: {} of the {} points of '{}' that this client is to publish were in no block; replay the blocks as they were "
        "stored: --blocks stored",
        context.entry().iteration.cycle, missing, stored.count(), variable.name);
  }
  Piece piece{variable.name, share_.number, variable.type, {}};
  if (resolution_.is_stored()) {
    piece.values = std::move(values);
  } else {
    piece.values.resize(packed_bytes(points, variable.components, variable.type));
    how.fill(points, variable, values, piece.values);
  }
  pieces_.push_back(std::move(piece));
}

void Replayer::take_blocks(database::Context& context, Session& session, const Mesh& mesh) {
  const std::vector<Place> places = places_of(context, mesh.id);
  const auto of = static_cast<std::size_t>(share_.of), number = static_cast<std::size_t>(share_.number);
  const std::size_t first = places.size() * number / of, last = places.size() * (number + 1) / of;
  std::vector<Block> now;
  for (std::size_t n = first; n < last; ++n) {
    Block& block = now.emplace_back(places[n].block);
    if (!block.is_list()) block.bounds = {};
    block.cells = mesh.declared(block.cells);
  }
  session.replace_blocks(mesh.name, now);
  for (std::size_t n = first; n < last; ++n) {
    for (const Variable& variable : metadata_.variables) {
      if (variable.mesh != mesh.id) continue;
      const database::PieceRow* row =
          context.find(places[n].group, static_cast<std::uint32_t>(variable.id), places[n].row);
      if (row == nullptr) continue;
      Piece piece{variable.name, places[n].block.id, variable.type, {}};
      piece.values.resize(packed_bytes(variable.points(places[n].block), variable.components, variable.type));
      database::read_piece(context, places[n].group, *row, piece.values);
      pieces_.push_back(std::move(piece));
    }
  }
}

void Replayer::publish(Session& session) const {
  for (const Piece& piece : pieces_)
    session.publish(piece.variable, piece.block,
                    Values(piece.type, piece.values.data(), piece.values.size() / size_of(piece.type)));
}

std::uint64_t Replayer::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Piece& piece : pieces_) sum += piece.values.size();
  return sum;
}

}  // namespace sidestream
