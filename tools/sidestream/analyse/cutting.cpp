#include "analyse/cutting.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace sidestream::analysing {

namespace {

constexpr Index least_cells = Index{1} << 15, most_cells = Index{1} << 24, parts_of_mesh = 256;

/// The position where a box is halved: at the axis with most cells; none if no axis can be halved.
struct Cut {
  int axis = -1;
  Index at = 0;
};

Cut halving(const Box& cells, const Index3& step) {
  Cut best;
  for (int a = 2; a >= 0; --a) {  // of equal axes the slowest in most files
    const std::size_t axis = static_cast<std::size_t>(a);
    const Index half = cells.extent(a) / 2 / step[axis] * step[axis];
    if (half > 0 && (best.axis < 0 || cells.extent(a) > cells.extent(best.axis))) best = {a, cells.lo[axis] + half};
  }
  return best;
}

void cut_box(const Block& block, std::size_t stored, Index most, const Index3& step, std::vector<Piece>& parts) {
  const Cut where = block.cells.count() > most ? halving(block.cells, step) : Cut{};
  if (where.axis < 0) return parts.push_back({block, stored});
  Block low = block, high = block;
  low.cells.hi[static_cast<std::size_t>(where.axis)] = where.at;
  high.cells.lo[static_cast<std::size_t>(where.axis)] = where.at;
  cut_box(low, stored, most, step, parts);
  cut_box(high, stored, most, step, parts);
}

}  // namespace

std::vector<Piece> cut(const std::vector<Block>& stored, const Metadata& metadata) {
  std::vector<std::size_t> order(stored.size());
  for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Block &x = stored[a], &y = stored[b];
    return std::tuple(x.mesh, x.level, x.id) < std::tuple(y.mesh, y.level, y.id);
  });
  std::map<std::int32_t, Index> cells;
  for (const Block& block : stored) cells[block.mesh] += block.cells.count();
  std::vector<Piece> parts;
  for (auto first = order.begin(); first != order.end();) {
    const std::int32_t number = stored[*first].mesh;
    const Mesh& mesh = metadata.meshes[static_cast<std::size_t>(number)];
    const Index most = std::clamp(cells[number] / parts_of_mesh, least_cells, most_cells);
    const std::size_t begin = parts.size();
    std::size_t blocks = 0;
    for (; first != order.end() && stored[*first].mesh == number; ++first, ++blocks) {
      const Block& block = stored[*first];
      const bool whole = block.is_list();
      const Index3 step =
          block.level > 0 ? mesh.refinement.at(static_cast<std::size_t>(block.level) - 1) : Index3{1, 1, 1};
      cut_box(block, *first, whole ? INT64_MAX : most, step, parts);
    }
    if (parts.size() - begin == blocks) continue;
    for (std::size_t n = begin; n < parts.size(); ++n) parts[n].block.id = static_cast<std::int64_t>(n - begin);
  }
  return parts;
}

std::vector<int> shares(const std::vector<Piece>& parts, const std::vector<std::uint64_t>& bytes, int ranks) {
  std::map<std::int32_t, double> all, before;
  // Blocks of which nothing is read have an owner, too.
  const auto weight = [&](std::size_t n) { return static_cast<double>(bytes[n]) + 1; };
  for (std::size_t n = 0; n < parts.size(); ++n) all[parts[n].block.mesh] += weight(n);
  std::vector<int> found;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    double& sum = before[parts[n].block.mesh];
    const double middle = (sum + weight(n) / 2) / all[parts[n].block.mesh];
    sum += weight(n);
    found.push_back(std::min(ranks - 1, static_cast<int>(middle * ranks)));
  }
  return found;
}

}  // namespace sidestream::analysing
