// Spectral elements: the quadrature, and the points that elements on several clients share.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "client/spectral_blocks.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/error.hpp"
#include "sidestream/sidestream.h"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

int rank_of() {
  int rank = 0;
  MPI_Comm_rank(testing::test_ranks(), &rank);
  return rank;
}

int ranks_of() {
  int size = 0;
  MPI_Comm_size(testing::test_ranks(), &size);
  return size;
}

/// A box of elements along each axis of a cube; each rank has those that `owner` gives it, in a random order.
struct World {
  int dimensions, order, along;
  bool continuous = true, numbered = true, periodic = false;
  double size = 1;  ///< of the cube

  [[nodiscard]] int elements() const {
    return dimensions == 1 ? along : dimensions == 2 ? along * along : along * along * along;
  }
  [[nodiscard]] int nodes() const { return along * order + 1; }
  [[nodiscard]] int points_of_one() const { return static_cast<int>(std::lround(std::pow(order + 1, dimensions))); }
  [[nodiscard]] Index3 at(int element) const {
    return {element % along, dimensions > 1 ? element / along % along : 0,
            dimensions > 2 ? element / along / along : 0};
  }
  /// The number of a point in the lattice of all points.
  [[nodiscard]] Index lattice(int element, int point) const {
    const Index3 corner = at(element);
    Index number = 0, step = 1;
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a, step *= nodes()) {
      number += step * (corner[a] * order + point % (order + 1));
      point /= order + 1;
    }
    return number;
  }
  [[nodiscard]] int owner(int element) const { return (element * 7 + element / 3) % ranks_of(); }
};

/// This rank's block. Positions have rounding errors that differ between elements.
SpectralBlock block_of(const World& world, std::vector<int>& mine) {
  const SpectralRule rule(world.order);
  for (int e = 0; e < world.elements(); ++e) {
    if (world.owner(e) == rank_of()) mine.push_back(e);
  }
  std::mt19937 random(static_cast<unsigned>(rank_of()));
  std::shuffle(mine.begin(), mine.end(), random);
  std::vector<std::vector<double>> axes(static_cast<std::size_t>(world.dimensions));
  std::vector<std::int64_t> numbers;
  for (const int e : mine) {
    numbers.push_back(3 * e + 1);
    for (int p = 0; p < world.points_of_one(); ++p) {
      int rest = p;
      for (std::size_t a = 0; a < axes.size(); ++a, rest /= world.order + 1) {
        const double inside = 0.5 * (rule.at()[static_cast<std::size_t>(rest % (world.order + 1))] + 1);
        const double noise = 1e-14 * static_cast<double>(random() % 100);
        axes[a].push_back(world.size * ((static_cast<double>(world.at(e)[a]) + inside) / world.along - 0.5 + noise));
      }
    }
  }
  std::vector<const double*> pointers;
  for (const auto& axis : axes) pointers.push_back(axis.data());
  return spectral_block({"m", world.dimensions, world.continuous}, rank_of(), world.order,
                        static_cast<Index>(mine.size()), pointers, world.numbered ? numbers.data() : nullptr);
}

Metadata metadata_of_mesh() {
  Metadata metadata;
  metadata.meshes.emplace_back();
  metadata.meshes.back().name = "m";
  return metadata;
}

struct PointSeen {
  Index lattice;
  std::int64_t id;
  double volume;
};

/// The points of all ranks, on every rank.
std::vector<PointSeen> share(const World& world, std::string* problem = nullptr) {
  MpiCommunicator all(testing::test_ranks());
  std::vector<int> mine;
  std::vector<SpectralBlock> blocks{block_of(world, mine)};
  const std::string found = share_points(blocks, metadata_of_mesh(), all);
  if (problem) *problem = found;
  std::vector<PointSeen> seen;
  for (std::size_t n = 0; n < blocks[0].volumes.size(); ++n) {
    const int one = world.points_of_one(), point = static_cast<int>(n) % one;
    seen.push_back({world.lattice(mine[n / static_cast<std::size_t>(one)], point),
                    blocks[0].ids.empty() ? -1 : blocks[0].ids[n], blocks[0].volumes[n]});
  }
  std::vector<PointSeen> together;
  for (const Bytes& part : all.all_gather(std::as_bytes(std::span(seen)))) {
    std::vector<PointSeen> some(part.size() / sizeof(PointSeen));
    if (!part.empty()) std::memcpy(some.data(), part.data(), part.size());
    together.insert(together.end(), some.begin(), some.end());
  }
  return together;
}

}  // namespace

TEST_CASE("the rule integrates polynomials of degree 2N - 1 exactly, and knows the volume of curved elements") {
  for (int order = 1; order <= 16; ++order) {
    CAPTURE(order);
    const SpectralRule rule(order);
    std::vector<double> volumes(rule.points());
    REQUIRE(rule.volumes(rule.at(), 1, volumes));
    for (int power = 0; power < 2 * order; ++power) {
      double sum = 0;
      for (std::size_t n = 0; n < volumes.size(); ++n) sum += volumes[n] * std::pow(rule.at()[n], power);
      CHECK(sum == doctest::Approx(power % 2 ? 0 : 2.0 / (power + 1)).epsilon(1e-13).scale(1));
    }
  }
  // A quarter of a ring, in both orientations.
  const SpectralRule rule(10);
  for (const double turn : {1.0, -1.0}) {
    std::vector<double> place, volumes(rule.points() * rule.points());
    for (const double t : rule.at()) {
      for (const double s : rule.at()) {
        const double radius = 1.5 + 0.5 * s, angle = turn * 0.25 * M_PI * (t + 1);
        place.insert(place.end(), {radius * std::cos(angle), radius * std::sin(angle)});
      }
    }
    REQUIRE(rule.volumes(place, 2, volumes));
    CHECK(std::accumulate(volumes.begin(), volumes.end(), 0.0) == doctest::Approx(0.75 * M_PI).epsilon(1e-12));
  }
}

TEST_CASE("points at one place have one number and one volume, whoever has their elements") {
  for (const World& world : {World{1, 3, 7}, World{2, 4, 5}, World{3, 2, 4}, World{3, 5, 2},
                             World{2, 1, 6, true, false}, World{2, 3, 1}, World{1, 3, 7, true, true, false, 1e-250},
                             World{1, 2, 5, true, true, false, 1e250}, World{2, 2, 3, true, true, false, 1e-150}}) {
    CAPTURE(world.dimensions);
    CAPTURE(world.order);
    std::map<Index, PointSeen> points;
    std::map<std::int64_t, Index> of_id;
    double all = 0;
    std::int64_t differing = 0, twice = 0;
    for (const PointSeen& one : share(world)) {
      const auto [known, fresh] = points.emplace(one.lattice, one);
      if (fresh) all += one.volume;
      differing += known->second.id != one.id || known->second.volume != one.volume;
      twice += of_id.emplace(one.id, one.lattice).first->second != one.lattice;
    }
    CHECK(differing == 0);
    CHECK(twice == 0);
    CHECK(points.size() == static_cast<std::size_t>(std::lround(std::pow(world.nodes(), world.dimensions))));
    CHECK(all / std::pow(world.size, world.dimensions) == doctest::Approx(1).epsilon(1e-12));
    if (!world.numbered) continue;
    // The lowest number of an element and, in it, of a point.
    const std::int64_t first = points.at(0).id;
    CHECK(first == world.points_of_one());
  }
}

TEST_CASE("elements of a discontinuous mesh share nothing") {
  double all = 0;
  for (const PointSeen& one : share({2, 3, 4, false})) {
    CHECK(one.id == -1);
    all += one.volume;
  }
  CHECK(all == doctest::Approx(1).epsilon(1e-12));
}

TEST_CASE("ends of a periodic mesh, and points on both sides of the border of a bin") {
  MpiCommunicator all(testing::test_ranks());
  // Elements on a circle of length 1; each has an own picture of its ends, which differ by rounding.
  const int count = 4;
  const SpectralRule rule(2);
  std::vector<double> x;
  std::vector<std::int64_t> numbers;
  for (int e = 0; e < count; ++e) {
    if (e % ranks_of() != rank_of()) continue;
    numbers.push_back(e);
    const double noise = (e % 2 ? 1 : -1) * 2e-15;
    for (const double s : rule.at()) x.push_back((e + 0.5 * (s + 1)) / count + noise);
  }
  const double* axes[] = {x.data()};
  std::vector<SpectralBlock> blocks{
      spectral_block({"m", 1, true}, rank_of(), 2, static_cast<Index>(numbers.size()), axes, numbers.data())};
  CHECK(share_points(blocks, metadata_of_mesh(), all).empty());
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    const std::int64_t first = 3 * numbers[n];
    CHECK(blocks[0].ids[3 * n] == (numbers[n] == 0 ? first : first - 1));  // the last point of the one before
    CHECK(blocks[0].ids[3 * n + 2] == first + 2);
  }
}

TEST_CASE("elements that cannot be") {
  const std::vector<double> x{0, 0.5, 1, 1, 1.5, 2}, wrong{0, 1, 0.5, 1, 1.5, 2};
  const double* axes[] = {x.data()};
  const double* folded[] = {wrong.data()};
  const double* two[] = {x.data(), x.data()};
  const std::int64_t same[] = {5, 5}, less[] = {0, -2};
  const SpectralMesh line{"m", 1, true};
  CHECK_THROWS_WITH_AS(static_cast<void>(spectral_block(line, 0, 0, 1, axes, nullptr)),
                       doctest::Contains("the order of block 0 of the mesh 'm' is 0, expected 1 to 64"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(spectral_block(line, 0, 2, -1, axes, nullptr)),
                       doctest::Contains("has -1 elements"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(spectral_block(line, 0, 2, 2, folded, nullptr)),
                       doctest::Contains("the Jacobian of element 0"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(spectral_block(line, 0, 2, 1, two, nullptr)),
                       doctest::Contains("positions along 2 axes"), Error);
  MpiCommunicator all(testing::test_ranks());
  const auto problem = [&](const std::int64_t* numbers) {
    std::vector<SpectralBlock> blocks;
    if (rank_of() == 0) blocks.push_back(spectral_block(line, 0, 2, 2, axes, numbers));
    const std::string found = share_points(blocks, metadata_of_mesh(), all);
    std::string together;
    for (const Bytes& part : all.all_gather(std::as_bytes(std::span(found)))) {
      together += std::string(reinterpret_cast<const char*>(part.data()), part.size());
    }
    return together;
  };
  CHECK(problem(same).find("two elements have the number 5") != std::string::npos);
  CHECK(problem(less).find("element 1 of block 0 of the mesh 'm' has the number -2") != std::string::npos);
  CHECK(problem(nullptr).empty());
}

TEST_CASE("calls at the wrong moment, and a rank that declares wrongly, end the start on all ranks") {
  sidestream_session* s = nullptr;
  REQUIRE(sidestream_open_text(testing::test_ranks(),
                               "placement: inline\noutput: {directory: spectral-results, existing: replace}\n",
                               &s) == SIDESTREAM_OK);
  const double x[] = {0, 0.5, 1};
  const std::int64_t number = 0;
  CHECK(sidestream_set_spectral_block(s, "m", 0, 2, 1, nullptr, x, nullptr, nullptr) == SIDESTREAM_ERROR_USAGE);
  CHECK(std::string(sidestream_message(s)).find("declare it by add_spectral_mesh first") != std::string::npos);
  CHECK(sidestream_add_spectral_mesh(s, "m", 4, 1) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_add_spectral_mesh(s, "m", 1, 1) == SIDESTREAM_OK);
  CHECK(sidestream_set_spectral_block(s, "m", rank_of(), 2, 1, nullptr, nullptr, nullptr, nullptr) ==
        SIDESTREAM_ERROR_USAGE);
  // Every rank gives its element the number 0.
  CHECK(sidestream_set_spectral_block(s, "m", rank_of(), 2, 1, &number, x, nullptr, nullptr) == SIDESTREAM_OK);
  const bool alone = ranks_of() == 1;
  CHECK(sidestream_start(s) == (alone ? SIDESTREAM_OK : SIDESTREAM_ERROR_USAGE));
  if (!alone) {
    CHECK(std::string(sidestream_message(s)).find("two elements have the number 0") != std::string::npos);
  } else {
    CHECK(sidestream_set_spectral_block(s, "m", 0, 2, 1, nullptr, x, nullptr, nullptr) == SIDESTREAM_ERROR_USAGE);
    CHECK(sidestream_end_iteration(s, 0, 0) == SIDESTREAM_OK);
  }
  sidestream_close(&s);
}
