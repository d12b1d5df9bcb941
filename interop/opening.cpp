#include "opening.hpp"

#include <algorithm>
#include <cstdio>
#include <sidestream/error.hpp>
#include <utility>

namespace sidestream::interop {

void Sentences::say(const Problems& problems) {
  for (const std::string& problem : problems) {
    if (said_.insert(problem).second) std::fprintf(stderr, "sidestream: %s\n", problem.c_str());
  }
}

Session open_on_all(const Ranks& ranks, const std::string& configuration) {
  Session session = Session::open(ranks.comm(), configuration);
  const std::vector<std::string> servers = ranks.gather(session.is_server() ? "server" : "");
  if (std::all_of(servers.begin(), servers.end(), [](const std::string& s) { return s.empty(); })) return session;
  close_unstarted(std::move(session));
  throw Error(
      Code::configuration,
      "the configuration's placement makes servers of some ranks, all of which run the simulation here; use inline, "
      "sidecar or off, and an output `stream` to feed another job");
}

void close_unstarted(Session session) noexcept {
  try {
    session.close();
  } catch (const Error&) {  // see above
  }
}

}  // namespace sidestream::interop
