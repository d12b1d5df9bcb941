// Records that go to other servers.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/records.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::halos {

/// Collective. What all servers have of records, in the order of ranks; on the first one alone.
template <class Record>
std::vector<Record> gathered(const std::vector<Record>& mine, Communicator& servers) {
  std::vector<Record> all;
  for (const Bytes& bytes : servers.gather(std::as_bytes(std::span(mine)), 0)) {
    const auto some = records_of<Record>(bytes);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// Collective. What all servers have for this one, in the order of ranks; `to`: by server.
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

}  // namespace sidestream::halos
