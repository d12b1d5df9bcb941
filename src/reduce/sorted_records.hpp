// Records of all servers in one order.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "reduce/sample_sort.hpp"
#include "sidestream/data/box.hpp"

namespace sidestream::halos {

/// Collective. Deals records out anew, so that over all servers they ascend by `key_of` and all have about as many.
template <class Record, class KeyOf>
std::vector<Record> sorted_records(const std::vector<Record>& mine, KeyOf key_of, Communicator& servers) {
  using Key = std::decay_t<decltype(key_of(mine.front()))>;
  std::vector<Key> keys;
  for (const Record& record : mine) keys.push_back(key_of(record));
  const std::vector<Key> boundaries = share_boundaries(std::move(keys), servers);
  std::vector<std::vector<Record>> to(static_cast<std::size_t>(servers.size()));
  for (const Record& record : mine) {
    const auto above = std::upper_bound(boundaries.begin(), boundaries.end(), key_of(record));
    to[static_cast<std::size_t>(above - boundaries.begin())].push_back(record);
  }
  std::vector<Bytes> messages;
  for (const std::vector<Record>& records : to) messages.push_back(bytes_of(records));
  std::vector<Record> sorted;
  for (const Bytes& bytes : servers.all_to_all(messages)) {
    const auto records = records_of<Record>(bytes);
    sorted.insert(sorted.end(), records.begin(), records.end());
  }
  std::sort(sorted.begin(), sorted.end(), [&](const Record& a, const Record& b) { return key_of(a) < key_of(b); });
  return sorted;
}

}  // namespace sidestream::halos
