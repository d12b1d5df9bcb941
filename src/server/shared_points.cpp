#include "server/shared_points.hpp"

#include <cstring>
#include <unordered_map>

#include "base/records.hpp"

namespace sidestream {

namespace {

/// A number and the block that has it, as servers tell each other.
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

std::size_t share_of(std::int64_t number, int servers) {
  // Neighbouring numbers to different servers, whatever their step.
  const std::uint64_t mixed = static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15ull;
  return static_cast<std::size_t>((mixed >> 32) % static_cast<std::uint64_t>(servers));
}

/// The answers to what each server claims, a byte for each claim.
std::vector<Bytes> decide(const std::vector<Bytes>& received) {
  struct Best {
    std::int64_t block;
    bool taken;
  };
  std::unordered_map<std::int64_t, Best> lowest;
  for (const Bytes& bytes : received) {
    for (const Claim& claim : records_of<Claim>(bytes)) {
      const auto [at, is_new] = lowest.try_emplace(claim.number, Best{claim.block, false});
      if (!is_new && claim.block < at->second.block) at->second.block = claim.block;
    }
  }
  std::vector<Bytes> answers;
  for (const Bytes& bytes : received) {
    Bytes& answer = answers.emplace_back();
    for (const Claim& claim : records_of<Claim>(bytes)) {
      Best& best = lowest.at(claim.number);
      const bool counts = best.block == claim.block && !best.taken;
      best.taken |= counts;
      answer.push_back(counts ? std::byte{0} : std::byte{1});
    }
  }
  return answers;
}

}  // namespace

std::vector<std::vector<std::uint8_t>> flag_shared(std::span<const BlockView> ids, Communicator& servers) {
  std::vector<Bytes> claims(static_cast<std::size_t>(servers.size()));
  for (const BlockView& view : ids) {
    if (view.copy) continue;
    for_each_number(view, [&](std::int64_t number) {
      const Claim claim{number, view.block.id};
      const auto* at = reinterpret_cast<const std::byte*>(&claim);
      Bytes& to = claims[share_of(number, servers.size())];
      to.insert(to.end(), at, at + sizeof claim);
    });
  }
  const std::vector<Bytes> answers = servers.all_to_all(decide(servers.all_to_all(claims)));
  std::vector<std::size_t> next(answers.size(), 0);
  std::vector<std::vector<std::uint8_t>> flags;
  for (const BlockView& view : ids) {
    std::vector<std::uint8_t>& mine = flags.emplace_back();
    if (view.copy) {
      mine.assign(static_cast<std::size_t>(view.points.count()), 1);
      continue;
    }
    for_each_number(view, [&](std::int64_t number) {
      const std::size_t server = share_of(number, servers.size());
      mine.push_back(static_cast<std::uint8_t>(answers[server][next[server]++]));
    });
  }
  return flags;
}

}  // namespace sidestream
