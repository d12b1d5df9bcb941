#include "session/opening/rank_lookup.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "base/records.hpp"

namespace sidestream {

std::vector<int> look_up_ranks(Communicator& all, int mine, const std::vector<int>& asked) {
  constexpr std::byte tells{1}, asks{2};
  std::vector<MemberMessage> to;
  if (mine >= 0) to.push_back({mine, Bytes(1, tells)});
  for (const int number : asked) to.push_back({number, Bytes(1, asks)});
  const std::vector<MemberMessage> heard = all.exchange(std::move(to));
  const auto known = std::find_if(heard.begin(), heard.end(), [&](const auto& m) { return m.bytes.at(0) == tells; });
  std::vector<MemberMessage> answers;
  for (const MemberMessage& message : heard) {
    if (message.bytes.at(0) != asks) continue;
    if (known == heard.end()) fail(Code::internal, "nobody has the number {} that was asked for", all.rank());
    const BytesView bytes = bytes_of(known->member);
    answers.push_back({message.member, Bytes(bytes.begin(), bytes.end())});
  }
  std::vector<int> ranks(asked.size(), -1);
  for (const MemberMessage& message : all.exchange(std::move(answers))) {
    const auto at = std::find(asked.begin(), asked.end(), message.member);
    ranks.at(static_cast<std::size_t>(at - asked.begin())) = record_of<int>(message.bytes);
  }
  return ranks;
}

}  // namespace sidestream
