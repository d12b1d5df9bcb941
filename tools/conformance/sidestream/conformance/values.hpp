// Publishes the data of a world and compares them with the data on the servers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sidestream/conformance/check.hpp"

namespace sidestream::conformance {

/// Reads the values on servers: asks for them, compares them with the world, and asks for more.
class Values {
 public:
  Values(ServerTransport& transport, Report& report, const World& world, std::int64_t n)
      : transport_(transport), report_(report), world_(world), n_(n) {}

  /// Fetches these pieces and keeps their values until they are compared. Collective over the servers.
  void fetch(std::vector<Wanted> wanted, bool again = false) {
    std::vector<const std::byte*> got = transport_.fetch(n_, wanted, again);
    report_.expect(got.size() == wanted.size(), "fetch answers another number of pieces than it was asked for");
    got.resize(wanted.size(), nullptr);
    rounds_.emplace_back(std::move(wanted), std::move(got));
  }
  /// Compares everything that was fetched so far, which must be readable until the release.
  void compare() const {
    for (std::size_t r = 0; r < rounds_.size(); ++r) {
      for (std::size_t p = 0; p < rounds_[r].first.size(); ++p) {
        const std::string wrong = problem(rounds_[r].first[p], rounds_[r].second[p]);
        if (wrong.empty()) continue;
        report_.expect(false, "iteration " + std::to_string(n_) + ", fetch " + std::to_string(r) + ": " + wrong);
      }
    }
  }
  /// Chooses some blocks of all clients, whole or in part. Some are chosen twice, and some were not published.
  [[nodiscard]] std::vector<Wanted> some(std::mt19937& random) const {
    std::vector<Wanted> wanted;
    for (const auto& [id, block] : world_.blocks(n_)) {
      for (const Variable& variable : variables()) {
        for (auto times = random() % 3; times > 0; --times) {
          Wanted piece{block, variable.id, 0, variable.points(block)};
          for (int a = 0; a < 3 && random() % 2 == 0 && !piece.points.empty(); ++a) {
            piece.points.lo[a] += static_cast<Index>(random() % static_cast<unsigned>(piece.points.extent(a)));
            piece.points.hi[a] -= static_cast<Index>(random() % static_cast<unsigned>(piece.points.extent(a)));
          }
          wanted.push_back(piece);
        }
      }
    }
    std::shuffle(wanted.begin(), wanted.end(), random);
    return wanted;
  }
  /// Compares the values of an array as it arrived, for transports with values in place.
  void compare(const Arrival& arrival) const {
    const BlockRecord& record = arrival.record;
    const std::int64_t version = world_.version(n_, record.variable, record.block.id);
    const std::byte* at = arrival.data;
    std::int64_t wrong = at || record.bytes == 0 ? 0 : 1;
    const Box points = record.points();
    if (at) {
      for_each_value(record.box, record.components, record.order, [&](Index i, Index j, Index k, int c) {
        const int value = value_at(record.variable, record.block.id, version, i, j, k, c);
        if (points.contains(Index3{i, j, k})) wrong += load_value(record.type, at) != value;
        at += size_of(record.type);
      });
    }
    report_.expect(wrong == 0, "iteration " + std::to_string(n_) + ": values at hand are not what was published");
  }

 private:
  [[nodiscard]] std::string problem(const Wanted& piece, const std::byte* at) const {
    const Variable variable = variables()[static_cast<std::size_t>(piece.variable)];
    const std::int64_t version = world_.version(n_, piece.variable, piece.block.id);
    if (piece.points.empty()) return "";  // the address may or may not be null
    const std::string name = variable.name + " of block " + std::to_string(piece.block.id);
    if (version < 0) return at ? name + " was not published, and came" : "";
    if (!at) return name + " was published, and did not come";
    std::int64_t wrong = 0;
    for_each_value(piece.points, variable.components, variable.order, [&](Index i, Index j, Index k, int c) {
      wrong += load_value(variable.type, at) != value_at(piece.variable, piece.block.id, version, i, j, k, c);
      at += size_of(variable.type);
    });
    return wrong == 0 ? "" : std::to_string(wrong) + " values of " + name + " are not what was published";
  }

  ServerTransport& transport_;
  Report& report_;
  const World& world_;
  std::int64_t n_;
  std::vector<std::pair<std::vector<Wanted>, std::vector<const std::byte*>>> rounds_;
};

/// Publishes the world's data for an iteration that has begun.
inline void publish_step(ClientTransport& transport, const World& world, std::int64_t n, int client, Report& report) {
  for (const BlockChange& change : world.step(n, client).changes) transport.declare(change.block, change.removed != 0);
  for (const Publication& what : world.step(n, client).publications) {
    const BlockRecord record = world.record(n, what);
    const std::optional<Region> region = transport.reserve(record.bytes, record.persistent != 0);
    report.expect(region.has_value(), "no room for what the transport was made for");
    if (!region) continue;
    report.expect(region->bytes >= record.bytes, "a region is smaller than was asked for");
    std::vector<std::byte> values(record.bytes);
    World::fill(record, n, values.data());
    transport.fill(*region, values.data(), record.bytes);
    transport.commit(record, *region, false);
  }
}

}  // namespace sidestream::conformance
