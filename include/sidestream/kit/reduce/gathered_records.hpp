// Gather and exchange of records between servers.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <type_traits>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/reduce/sample_sort.hpp"

namespace sidestream {

/// The records of all servers, in the order of ranks, on the first server; empty elsewhere. Collective.
template <class Record>
std::vector<Record> gathered(const std::vector<Record>& mine, Communicator& servers) {
  std::vector<Record> all;
  for (const Bytes& bytes : servers.gather(std::as_bytes(std::span(mine)), 0)) {
    const auto some = records_of<Record>(bytes);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// The records that all servers have for this one, in the order of ranks. `to` has the records by server. Collective.
template <class Record>
std::vector<Record> exchanged(const std::map<int, std::vector<Record>>& to, Communicator& servers) {
  std::vector<MemberMessage> messages;
  for (const auto& [server, some] : to) messages.push_back({server, bytes_of(some)});
  std::vector<Record> came;
  for (const MemberMessage& message : servers.exchange(std::move(messages))) {
    const auto some = records_of<Record>(message.bytes);
    came.insert(came.end(), some.begin(), some.end());
  }
  return came;
}

// Parallel sample sort of records.

/// Redistributes records so that over all servers they ascend by `key_of` and all servers have about equally many.
/// Collective.
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

}  // namespace sidestream
