// Points that spectral elements share, found by their places.
//
// Two points are identical if they are nearer than a hundredth of h, the smallest distance of two neighbouring points
// in an element of the mesh. So rounding errors do not matter, and the ends of a periodic mesh, which are apart, stay
// separate.
//
// 1. Every client puts the points on the surfaces of its elements into bins, cubes with edges of length h. A point near
//    a border of its bin is also a guest in the bins beyond, so that each bin sees all points identical with its own.
// 2. Each bin has a home, a client that all others can compute. Neighbouring bins share a home: as many as hold about
//    an average client's points where the mesh is finest.
// 3. The home joins the points of each bin. They get the lowest of their numbers; their volumes are added in ascending
//    order, so that the sum does not depend on the senders. Only the client of a point gets an answer; guests get none.
//
// Numbers of points derive from their element's number, which the program gives, or else from the order of the clients.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "client/spectral_blocks.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nearness = 0.01;  // relative to the least distance of points

using Place = std::array<double, 3>;
using Bin = std::array<std::int64_t, 3>;

/// A point as sent to its home.
struct Asked {
  Bin bin;
  Place at;
  std::int64_t id;
  double volume;
  std::int64_t point;  ///< its index on its client; -1: a guest in this bin
  std::int32_t mesh;
  std::int32_t client;
};
struct Answered {
  std::int64_t point, id;
  double volume;
};

/// Facts about one mesh, the same on all clients.
struct Shape {
  std::int64_t stride = 0;                    ///< largest number of points of an element
  double least = infinity;                    ///< smallest distance of two points
  std::int64_t numbered = 0, unnumbered = 0;  ///< 1 if some block gives numbers of elements; 1 if some block gives none
  std::int64_t surface = 0;                   ///< points on surfaces of elements, on all clients
  std::int64_t first = 0;                     ///< number of this client's first element, unless they are given
};

Place place_of(const SpectralBlock& block, std::size_t point) {
  const auto axes = static_cast<std::size_t>(block.mesh.dimensions);
  Place at{};
  for (std::size_t a = 0; a < axes; ++a) at[a] = block.place[point * axes + a];
  return at;
}

/// Avoids squares, which would underflow or overflow in units that are far from 1.
double distance_of(const Place& a, const Place& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

/// Calls `what` with the index of each point, and true if it is on the surface of its element.
template <class What>
void for_each_point(const SpectralBlock& block, What&& what) {
  const auto n = static_cast<std::size_t>(block.order) + 1, one = static_cast<std::size_t>(block.points_of_one());
  const auto count = static_cast<std::size_t>(block.points());
  for (std::size_t point = 0; point < count; ++point) {
    bool outside = false;
    std::size_t rest = point % one;
    for (int a = 0; a < block.mesh.dimensions; ++a, rest /= n) outside |= rest % n == 0 || rest % n == n - 1;
    what(point, outside);
  }
}

/// The smallest positive distance of two neighbouring points in an element.
double least_distance(const SpectralBlock& block) {
  double least = infinity;
  const auto n = static_cast<std::size_t>(block.order) + 1;
  for_each_point(block, [&](std::size_t point, bool) {
    std::size_t step = 1;
    for (int a = 0; a < block.mesh.dimensions; ++a, step *= n) {
      if (point / step % n == n - 1) continue;
      const double distance = distance_of(place_of(block, point), place_of(block, point + step));
      if (distance > 0) least = std::min(least, distance);
    }
  });
  return least;
}

/// The blocks of one mesh.
using Blocks = std::vector<SpectralBlock*>;

Shape shape_of(const Blocks& blocks, Communicator& clients) {
  Shape shape;
  std::int64_t elements = 0;
  for (const SpectralBlock* block : blocks) {
    if (block->elements == 0) continue;
    shape.stride = std::max<std::int64_t>(shape.stride, block->points_of_one());
    (block->numbers.empty() ? shape.unnumbered : shape.numbered) = 1;
    shape.least = std::min(shape.least, least_distance(*block));
    elements += block->elements;
    for_each_point(*block, [&](std::size_t, bool outside) { shape.surface += outside; });
  }
  std::array<std::int64_t, 3> most{shape.stride, shape.numbered, shape.unnumbered};
  clients.maximum(std::span<std::int64_t>(most));
  clients.minimum(std::span(&shape.least, 1));
  clients.sum(std::span(&shape.surface, 1));
  shape.stride = most[0], shape.numbered = most[1], shape.unnumbered = most[2];
  shape.first = clients.exclusive_sum(elements);
  return shape;
}

/// Numbers the points by their elements. Returns an error, or an empty text.
std::string number_points(const Blocks& blocks, const Shape& shape) {
  std::int64_t next = shape.first;
  for (SpectralBlock* block : blocks) {
    const Index one = block->points_of_one();
    block->ids.clear();
    block->ids.reserve(static_cast<std::size_t>(block->points()));
    for (Index e = 0; e < block->elements; ++e) {
      const std::int64_t number = block->numbers.empty() ? next++ : block->numbers[static_cast<std::size_t>(e)];
      if (number < 0 || number > INT64_MAX / shape.stride - 1) {
        return fmt::format(
            "set_spectral_block: element {} of block {} of the mesh '{}' has the number {}, expected 0 to {}; number "
            "elements from 0",
            e, block->id, block->mesh.name, number, INT64_MAX / shape.stride - 1);
      }
      for (Index p = 0; p < one; ++p) block->ids.push_back(number * shape.stride + p);
    }
  }
  if (shape.numbered == 0 || shape.unnumbered == 0 || blocks.empty()) return {};
  return fmt::format(
      "set_spectral_block: some blocks of the mesh '{}' give numbers of elements, and others do not; give them for all "
      "blocks or for none",
      blocks.front()->mesh.name);
}

/// The bin of a place. Returns false if the place is too far away to distinguish the bin from its neighbours.
bool find_bin(const Place& at, double edge, Bin& bin) {
  constexpr double farthest = 1e13;  // in edges: places are then exact to a thousandth of an edge
  for (std::size_t a = 0; a < 3; ++a) {
    const double place = std::floor(at[a] / edge);
    if (!(std::abs(place) <= farthest)) return false;
    bin[a] = static_cast<std::int64_t>(place);
  }
  return true;
}

/// Offsets along an axis to the bins of a point: its own, and those whose border is near.
std::vector<std::int64_t> steps_of(double at, std::int64_t bin, double edge) {
  const double from = at / edge - static_cast<double>(bin);
  std::vector<std::int64_t> steps{0};
  if (from < 2 * nearness) steps.push_back(-1);
  if (from > 1 - 2 * nearness) steps.push_back(1);
  return steps;
}

int home_of(std::int32_t mesh, const Bin& bin, int shift, int clients) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  auto hash = static_cast<std::uint64_t>(mesh);
  for (const std::int64_t n : bin) {
    hash = (hash ^ static_cast<std::uint64_t>(n >> shift)) * golden;
    hash ^= hash >> 32;
  }
  return static_cast<int>(hash % static_cast<std::uint64_t>(clients));
}

/// Collects this client's points by home.
class Questions {
 public:
  Questions(std::int32_t mesh, const Shape& shape, Communicator& clients)
      : mesh_(mesh), edge_(shape.least), rank_(clients.rank()), clients_(clients.size()), surface_(shape.surface) {}

  /// False if the point is too far away.
  bool add(const Place& at, std::int64_t id, double volume, std::int64_t point, int dimensions) {
    Asked one{{}, at, id, volume, point, mesh_, rank_};
    if (!find_bin(at, edge_, one.bin)) return false;
    const Bin own = one.bin;
    const int shift = std::bit_width(static_cast<std::uint64_t>(surface_ / clients_)) / dimensions;
    std::array<std::vector<std::int64_t>, 3> steps;
    for (std::size_t a = 0; a < 3; ++a) steps[a] = steps_of(at[a], own[a], edge_);
    for (const std::int64_t i : steps[0]) {
      for (const std::int64_t j : steps[1]) {
        for (const std::int64_t k : steps[2]) {
          one.bin = {own[0] + i, own[1] + j, own[2] + k};
          one.point = one.bin == own ? point : -1;
          all_[home_of(mesh_, one.bin, shift, clients_)].push_back(one);
        }
      }
    }
    return true;
  }

  [[nodiscard]] std::vector<MemberMessage> take() {
    std::vector<MemberMessage> messages;
    for (const auto& [home, asked] : all_) messages.push_back({home, bytes_of(asked)});
    all_.clear();
    return messages;
  }

 private:
  std::int32_t mesh_;
  double edge_;
  std::int32_t rank_;
  int clients_;
  std::int64_t surface_;
  std::map<int, std::vector<Asked>> all_;
};

/// Joins the points of one bin, and adds the answers for points that are not guests.
void join_bin(std::span<const Asked> bin, double least, std::map<int, std::vector<Answered>>& answers) {
  const double most = nearness * least;
  std::vector<std::size_t> root(bin.size());
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto top = [&](std::size_t n) {
    while (root[n] != n) n = root[n] = root[root[n]];
    return n;
  };
  for (std::size_t a = 0; a < bin.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (distance_of(bin[a].at, bin[b].at) <= most) root[top(a)] = top(b);
    }
  }
  std::map<std::size_t, std::vector<std::size_t>> groups;
  for (std::size_t n = 0; n < bin.size(); ++n) groups[top(n)].push_back(n);
  for (const auto& [of, members] : groups) {
    std::int64_t id = INT64_MAX;
    std::vector<double> volumes;
    for (const std::size_t n : members) {
      id = std::min(id, bin[n].id);
      volumes.push_back(bin[n].volume);
    }
    std::sort(volumes.begin(), volumes.end());
    const double volume = std::accumulate(volumes.begin(), volumes.end(), 0.0);
    for (const std::size_t n : members) {
      if (bin[n].point >= 0) answers[bin[n].client].push_back({bin[n].point, id, volume});
    }
  }
}

std::vector<MemberMessage> answer(const std::vector<MemberMessage>& from, double least) {
  std::vector<Asked> asked;
  for (const MemberMessage& part : from) {
    const auto some = records_of<Asked>(part.bytes);
    asked.insert(asked.end(), some.begin(), some.end());
  }
  std::sort(asked.begin(), asked.end(), [](const Asked& a, const Asked& b) { return a.bin < b.bin; });
  std::map<int, std::vector<Answered>> answers;
  for (auto first = asked.begin(); first != asked.end();) {
    const auto last = std::find_if(first, asked.end(), [&](const Asked& one) { return one.bin != first->bin; });
    join_bin({first, last}, least, answers);
    first = last;
  }
  std::vector<MemberMessage> messages;
  for (const auto& [client, some] : answers) messages.push_back({client, bytes_of(some)});
  return messages;
}

/// Puts the points on surfaces of elements into `questions`. Returns an error, or an empty text.
std::string ask(const Blocks& blocks, const Shape& shape, Questions& questions) {
  std::string problem;
  std::int64_t base = 0;
  for (const SpectralBlock* block : blocks) {
    for_each_point(*block, [&](std::size_t point, bool outside) {
      if (!outside || !problem.empty()) return;
      const Place at = place_of(*block, point);
      if (questions.add(at, block->ids[point], block->volumes[point], base + static_cast<std::int64_t>(point),
                        block->mesh.dimensions)) {
        return;
      }
      problem = fmt::format(
          "set_spectral_block: a point of block {} of the mesh '{}' is at ({}, {}, {}), which is too far from the origin "
          "to be told from points {} apart; move the origin",
          block->id, block->mesh.name, at[0], at[1], at[2], shape.least);
    });
    base += block->points();
  }
  return problem;
}

void take(const Blocks& blocks, const std::vector<MemberMessage>& answered) {
  std::vector<std::pair<SpectralBlock*, std::int64_t>> starts;
  std::int64_t base = 0;
  for (SpectralBlock* block : blocks) {
    starts.emplace_back(block, base);
    base += block->points();
  }
  for (const MemberMessage& part : answered) {
    for (const Answered& one : records_of<Answered>(part.bytes)) {
      const auto after = std::upper_bound(starts.begin(), starts.end(), one.point,
                                          [](std::int64_t point, const auto& start) { return point < start.second; });
      const auto& [block, start] = *std::prev(after);
      block->ids[static_cast<std::size_t>(one.point - start)] = one.id;
      block->volumes[static_cast<std::size_t>(one.point - start)] = one.volume;
    }
  }
}

/// Checks that the program gives each element number once: each client compares a share of them. Collective.
std::string check_numbers(const Blocks& blocks, Communicator& clients) {
  std::map<int, std::vector<std::int64_t>> homes;
  for (const SpectralBlock* block : blocks) {
    for (const std::int64_t number : block->numbers) {
      homes[static_cast<int>(static_cast<std::uint64_t>(number) % static_cast<std::uint64_t>(clients.size()))]
          .push_back(number);
    }
  }
  std::vector<MemberMessage> to;
  for (const auto& [home, numbers] : homes) to.push_back({home, bytes_of(numbers)});
  std::vector<std::int64_t> all;
  for (const MemberMessage& part : clients.exchange(std::move(to))) {
    const auto some = records_of<std::int64_t>(part.bytes);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::sort(all.begin(), all.end());
  const auto twice = std::adjacent_find(all.begin(), all.end());
  if (twice == all.end()) return {};
  return fmt::format("set_spectral_block: two elements have the number {}; give every element one of its own", *twice);
}

}  // namespace

std::string share_points(std::span<SpectralBlock> mine, const Metadata& metadata, Communicator& clients) {
  auto any = static_cast<std::int64_t>(mine.size());
  clients.maximum(std::span(&any, 1));
  for (const Mesh& mesh : metadata.meshes) {
    if (any == 0) return {};
    Blocks blocks;
    for (SpectralBlock& block : mine) {
      if (block.mesh.name == mesh.name && block.mesh.continuous) blocks.push_back(&block);
    }
    const Shape shape = shape_of(blocks, clients);
    if (shape.stride == 0) continue;
    std::string problem = number_points(blocks, shape);
    const std::string twice = check_numbers(blocks, clients);
    if (problem.empty()) problem = twice;
    auto wrong = static_cast<std::int64_t>(!problem.empty());
    clients.maximum(std::span(&wrong, 1));
    if (wrong != 0) return problem;
    Questions questions(mesh.id, shape, clients);
    problem = ask(blocks, shape, questions);
    wrong = static_cast<std::int64_t>(!problem.empty());
    clients.maximum(std::span(&wrong, 1));
    if (wrong != 0) return problem;
    take(blocks, clients.exchange(answer(clients.exchange(questions.take()), shape.least)));
  }
  return {};
}

}  // namespace sidestream
