#include "session/opening/server_assignment.hpp"

#include "session/opening/roles.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

/// A client and the rank that has its values.
struct Holding {
  std::int32_t client;
  std::int32_t rank;
};

/// Collective over the servers: merges the servers' knowledge of their own clients, sorted by client.
std::vector<int> share_holders(MpiCommunicator& servers, const std::vector<Holding>& mine) {
  std::vector<Holding> all;
  for (const Bytes& bytes : servers.all_gather(std::as_bytes(std::span(mine)))) {
    const std::vector<Holding> some = records_of<Holding>(bytes);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::vector<int> holders(all.size(), -1);
  for (const Holding& one : all) holders.at(static_cast<std::size_t>(one.client)) = one.rank;
  return holders;
}

}  // namespace

std::vector<int> Reporting::left_over_for(int reporter) const {
  std::vector<int> numbers;
  for (std::int64_t server = reporter; server < servers; server += reporters) {
    // The first reporter whose server is this or a later one.
    const std::int64_t first = (server * reporters + servers - 1) / servers;
    const bool reported_to = first < reporters && contact_of(static_cast<int>(first)) == server;
    if (!reported_to) numbers.push_back(static_cast<int>(server));
  }
  return numbers;
}

ServerAssignment find_server_assignment(MpiCommunicator& all, MpiCommunicator* servers, const Reporting& reporting,
                                        const ContactRole& role, bool pushed) {
  std::vector<int> asked;
  if (role.reports) {
    asked.push_back(reporting.contact_of(role.number));
    if (role.tells_left_over) {
      for (const int number : reporting.left_over_for(role.number)) asked.push_back(number);
    }
  }
  ServerAssignment assignment;
  assignment.left_over = look_up_ranks(all, role.server ? role.number : -1, asked);
  std::vector<MemberMessage> to;
  for (const int rank : assignment.left_over) to.push_back({rank, bytes_of(role.clients)});
  if (role.reports) {
    assignment.server = assignment.left_over.front();
    assignment.left_over.erase(assignment.left_over.begin());
  }
  std::vector<Holding> holdings;
  for (const MemberMessage& message : all.exchange(std::move(to))) {
    assignment.reporters.push_back(message.member);
    for (const std::int32_t client : records_of<std::int32_t>(message.bytes))
      holdings.push_back({client, pushed ? all.rank() : message.member});
  }
  if (servers) assignment.holders = share_holders(*servers, holdings);
  return assignment;
}

}  // namespace sidestream
