#include "server/ledger.hpp"

#include <algorithm>

namespace sidestream {

namespace {
constexpr std::size_t most_failures = 1000;
}

bool Ledger::failure(std::int64_t iteration, const std::string& message) {
  const auto same = [&](const Failure& f) { return f.message == message; };
  const auto found = std::find_if(failures_.begin(), failures_.end(), same);
  if (found != failures_.end()) {
    ++found->count;
    return false;
  }
  // Messages that name files of an iteration are all different: a long run must not keep them all.
  if (failures_.size() < most_failures) failures_.push_back({iteration, 1, message});
  return true;
}

}  // namespace sidestream
