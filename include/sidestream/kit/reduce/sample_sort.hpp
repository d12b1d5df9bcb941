// Sample sort: divides a result among the servers that order and write it together.
//
// Each server sorts its keys and takes evenly spaced samples. The samples of all servers, sorted, give the boundaries
// between the servers' shares. Each record then goes to the server whose share contains its key (Frazer and McKellar,
// "Samplesort: a sampling approach to minimal storage tree sorting", 1970).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

constexpr std::int64_t samples_of_each_server = 64;  ///< shares differ by a few percent

/// Some of this server's keys, evenly spaced over the keys of all servers. Collective.
template <class Key>
std::vector<Key> samples_of(std::vector<Key> keys, Communicator& servers) {
  std::int64_t all = static_cast<std::int64_t>(keys.size());
  servers.sum({&all, 1});
  const auto step =
      static_cast<std::size_t>(std::max<std::int64_t>(1, all / (samples_of_each_server * servers.size())));
  std::sort(keys.begin(), keys.end());
  std::vector<Key> samples;
  for (std::size_t n = step / 2; n < keys.size(); n += step) samples.push_back(keys[n]);
  return samples;
}

/// The first key of each server except the first; the same on all servers. `mine` has the key of each of this server's
/// cells. Collective.
template <class Key>
std::vector<Key> share_boundaries(std::vector<Key> mine, Communicator& servers) {
  const std::vector<Key> some = samples_of(std::move(mine), servers);
  std::vector<Key> samples;
  for (const Bytes& bytes : servers.all_gather(std::as_bytes(std::span(some)))) {
    const std::vector<Key> theirs = records_of<Key>(bytes);
    samples.insert(samples.end(), theirs.begin(), theirs.end());
  }
  std::sort(samples.begin(), samples.end());
  std::vector<Key> boundaries;
  const auto count = static_cast<std::size_t>(servers.size());
  for (std::size_t r = 1; r < count && !samples.empty(); ++r) boundaries.push_back(samples[samples.size() * r / count]);
  return boundaries;
}

/// Adds the `count` cells of a piece to the bytes of the servers that get them. `key_of(n)` is the key of cell n; a
/// `Taken` is made from a piece, collects some of its cells with add(n), and gives them as bytes().
template <class Taken, class Piece, class Key, class KeyOf>
void redistribute(const Piece& piece, std::size_t count, KeyOf key_of, const std::vector<Key>& boundaries,
                  std::vector<Bytes>& to) {
  std::vector<std::vector<std::size_t>> cells(to.size());
  for (std::size_t n = 0; n < count; ++n) {
    const auto above = std::upper_bound(boundaries.begin(), boundaries.end(), key_of(n));
    cells[static_cast<std::size_t>(above - boundaries.begin())].push_back(n);
  }
  for (std::size_t server = 0; server < to.size(); ++server) {
    if (cells[server].empty()) continue;
    Taken taken(piece);
    for (const std::size_t n : cells[server]) taken.add(n);
    const Bytes bytes = taken.bytes();
    to[server].insert(to[server].end(), bytes.begin(), bytes.end());
  }
}

}  // namespace sidestream
