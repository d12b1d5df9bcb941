#include "storage/database/database.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::database {

std::vector<Entry> candidates(const Journal& journal, const Wanted& wanted, const std::string& directory) {
  std::vector<Entry> found;
  for (const Entry& entry : journal.contexts) {
    if (wanted.cycle && entry.iteration.cycle != *wanted.cycle) continue;
    if (wanted.kind && entry.kind != *wanted.kind) continue;
    found.push_back(entry);
  }
  std::reverse(found.begin(), found.end());
  if (!found.empty()) return found;
  const std::string which = wanted.cycle ? fmt::format(" of cycle {}", *wanted.cycle) : "";
  const std::string kind = wanted.kind ? fmt::format(" of the kind {}", name_of(*wanted.kind)) : "";
  std::string remarks;
  for (const std::string& remark : journal.remarks) remarks += "; " + remark;
  fail(Code::file, "the database '{}' has no context{}{}, but {} in all; see `sidestream ls {}`{}", directory, which,
       kind, journal.contexts.size(), directory, remarks);
}

std::string name_of(const Entry& entry) {
  return fmt::format("cycle {} (run {}, iteration {}, time {})", entry.iteration.cycle, entry.run,
                     entry.iteration.index, entry.iteration.time);
}

std::string_view name_of(Kind kind) noexcept { return kind == Kind::checkpoint ? "checkpoint" : "post"; }

}  // namespace sidestream::database
