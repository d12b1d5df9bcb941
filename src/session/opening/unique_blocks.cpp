// Check that ids of blocks are unique over all clients, which compare them in the start.
#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <vector>

#include "base/mpi/agree.hpp"
#include "session/implementation.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

/// Identifies a block by its mesh and its id.
struct BlockName {
  std::int64_t mesh = 0, id = 0;
  auto operator<=>(const BlockName&) const = default;
};

/// The client that compares this name with others. Runs of 2^shift consecutive ids, about the average number of blocks
/// per client, have the same home. So a client with consecutive ids sends to one or two clients and receives from about
/// as many.
int home_of(const BlockName& name, int clients, int shift) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // spreads close numbers
  const auto hash = (static_cast<std::uint64_t>(name.id >> shift) + static_cast<std::uint64_t>(name.mesh)) * golden;
  return static_cast<int>((hash >> 32) % static_cast<std::uint64_t>(clients));
}

/// The logarithm of the average number of blocks per client, for home_of. Collective over the clients.
int shift_for(std::size_t blocks, Communicator& clients) {
  auto total = static_cast<std::int64_t>(blocks);
  clients.sum(std::span(&total, 1));
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(total / clients.size(), 1))) - 1;
}

/// Throws if two of the received names are equal. Names are in the order of the clients that sent them.
void check_unique(const std::vector<MemberMessage>& from, const Metadata& metadata) {
  std::map<BlockName, int> seen;
  for (const MemberMessage& part : from) {
    for (const BlockName& name : records_of<BlockName>(part.bytes)) {
      const auto [known, fresh] = seen.emplace(name, part.member);
      if (fresh) continue;
      fail(Code::usage,
           "clients {} and {} both declare block {} of the mesh '{}'; give every block of a mesh an id of its own",
           known->second, part.member, name.id, metadata.meshes[static_cast<std::size_t>(name.mesh)].name);
    }
  }
}

}  // namespace

/// Checks that ids are unique over all clients, since two blocks of one id would be mistaken for one. Each client
/// compares a part of them.
void Session::Implementation::check_blocks() {
  if (is_server()) {
    run_collectively(*world_, [] {});
    return;
  }
  std::set<BlockName> mine;
  for (const BlockBytes& one : publisher_->sizes()) mine.emplace(one.block.mesh, one.block.id);
  const int shift = shift_for(mine.size(), *roles_.members);
  std::map<int, std::vector<BlockName>> homes;
  for (const BlockName& name : mine) homes[home_of(name, roles_.members->size(), shift)].push_back(name);
  std::vector<MemberMessage> to;
  for (const auto& [home, names] : homes) {
    to.push_back({home, bytes_of(names)});
  }
  const std::vector<MemberMessage> from = roles_.members->exchange(std::move(to));
  run_collectively(*world_, [&] { check_unique(from, config_.metadata); });
}

}  // namespace sidestream
