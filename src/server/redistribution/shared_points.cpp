#include "server/redistribution/shared_points.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

/// A point's number and the block that has the point. Trivially copyable; sent between servers.
struct Claim {
  std::int64_t number;
  std::int64_t block;
};

/// Calls f(number) for each point of the array, in its order.
template <class F>
void for_each_number(const BlockView& view, F&& f) {
  const Index count = view.points.extent(0);
  with_type(view.array.type, [&](auto zero) {
    using T = decltype(zero);
    for (Index i = 0; i < count; ++i) f(static_cast<std::int64_t>(*view.array.at<T>(i, 0, 0)));
  });
}

int share_of(std::int64_t number, int servers) {
  // Assigns neighbouring numbers to different servers, whatever their stride.
  const std::uint64_t mixed = static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15ull;
  return static_cast<int>((mixed >> 32) % static_cast<std::uint64_t>(servers));
}

/// Answers to the servers' claims: one byte for each claim.
std::vector<MemberMessage> decide(const std::vector<MemberMessage>& received) {
  struct Best {
    std::int64_t block;
    bool taken;
  };
  std::unordered_map<std::int64_t, Best> lowest;
  for (const MemberMessage& message : received) {
    for (const Claim& claim : records_of<Claim>(message.bytes)) {
      const auto [at, is_new] = lowest.try_emplace(claim.number, Best{claim.block, false});
      if (!is_new && claim.block < at->second.block) at->second.block = claim.block;
    }
  }
  std::vector<MemberMessage> answers;
  for (const MemberMessage& message : received) {
    MemberMessage& answer = answers.emplace_back(MemberMessage{message.member, {}});
    for (const Claim& claim : records_of<Claim>(message.bytes)) {
      Best& best = lowest.at(claim.number);
      const bool counts = best.block == claim.block && !best.taken;
      best.taken |= counts;
      answer.bytes.push_back(counts ? std::byte{0} : std::byte{1});
    }
  }
  return answers;
}

/// Claims of this server, grouped by the server that decides on their numbers.
std::vector<MemberMessage> claims_of(std::span<const BlockView> ids, int servers) {
  std::map<int, Bytes> claims;
  for (const BlockView& view : ids) {
    if (view.copy) continue;
    for_each_number(view, [&](std::int64_t number) {
      const Claim claim{number, view.block.id};
      const auto* at = reinterpret_cast<const std::byte*>(&claim);
      Bytes& to = claims[share_of(number, servers)];
      to.insert(to.end(), at, at + sizeof claim);
    });
  }
  std::vector<MemberMessage> messages;
  for (auto& [server, bytes] : claims) messages.push_back({server, std::move(bytes)});
  return messages;
}

}  // namespace

std::vector<std::vector<std::uint8_t>> flag_shared(std::span<const BlockView> ids, Communicator& servers) {
  const auto received = servers.exchange(claims_of(ids, servers.size()));
  std::map<int, MemberMessage> answers;
  for (MemberMessage& answer : servers.exchange(decide(received))) answers.emplace(answer.member, std::move(answer));
  std::map<int, std::size_t> next;
  std::vector<std::vector<std::uint8_t>> flags;
  for (const BlockView& view : ids) {
    std::vector<std::uint8_t>& mine = flags.emplace_back();
    if (view.copy) {
      mine.assign(static_cast<std::size_t>(view.points.count()), 1);
      continue;
    }
    for_each_number(view, [&](std::int64_t number) {
      const int server = share_of(number, servers.size());
      mine.push_back(static_cast<std::uint8_t>(answers.at(server).bytes.at(next[server]++)));
    });
  }
  return flags;
}

void count_leaves(std::span<const Index> starts, std::span<const std::uint8_t> flags, std::span<std::int64_t> leaves) {
  for (std::size_t l = 0; l + 1 < starts.size(); ++l) {
    const auto level =
        flags.subspan(static_cast<std::size_t>(starts[l]), static_cast<std::size_t>(starts[l + 1] - starts[l]));
    leaves[std::min(l, leaves.size() - 1)] += std::count(level.begin(), level.end(), 0);
  }
}

double excess_of_leaves(const Mesh& mesh, std::span<const std::int64_t> leaves) {
  const Index3& roots = dynamic_cast<const OctreeGeometry&>(*mesh.geometry).roots();
  const auto volume = static_cast<double>(roots[0] * roots[1] * roots[2]);
  ExactSum beyond;
  beyond.add(-volume);
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    beyond.add_product(static_cast<double>(leaves[l]), std::ldexp(1, -mesh.dimensions * static_cast<int>(l)));
  }
  return std::max(0.0, beyond.value() / volume);
}

}  // namespace sidestream
