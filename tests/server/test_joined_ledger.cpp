// What several groups of servers did with the same iterations, as one account.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "server/ledger.hpp"

using namespace sidestream;

namespace {

Ledger account_of(const std::vector<Outcome>& outcomes, const std::set<std::size_t>& without) {
  Ledger ledger({}, true);
  for (std::size_t n = 0; n < outcomes.size(); ++n) {
    if (without.contains(n)) continue;
    IterationRow row;
    row.at.index = static_cast<std::int64_t>(n);
    row.outcome = outcomes[n];
    if (row.outcome == Outcome::failed) row.failed = "failed: task";
    ledger.iteration(std::move(row));
    ledger.delivered += outcomes[n] != Outcome::refused;
    ledger.refused += outcomes[n] == Outcome::refused;
    ledger.failed += outcomes[n] == Outcome::failed;
  }
  return ledger;
}

}  // namespace

TEST_CASE("an iteration is refused if a group refuses it, and failed if it fails in one") {
  constexpr Outcome kinds[] = {Outcome::delivered, Outcome::failed, Outcome::refused};
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<Outcome> mine, others;
    std::set<std::size_t> unknown;  // of which this group has no row
    for (std::size_t n = 0; n < 40; ++n) {
      mine.push_back(kinds[random() % 3]);
      others.push_back(kinds[random() % 3]);
      if (n > 0 && random() % 8 == 0) unknown.insert(n);
    }
    Ledger joint = account_of(mine, unknown);
    joint.join(account_of(others, {}).decisions(), "others");
    REQUIRE(joint.iterations().size() == 40);
    std::int64_t refused = 0, failed = 0;
    for (std::size_t n = 0; n < 40; ++n) {
      const IterationRow& row = joint.iterations()[n];
      REQUIRE(row.at.index == static_cast<std::int64_t>(n));
      const bool known = !unknown.contains(n);
      const auto in_one = [&](Outcome outcome) { return others[n] == outcome || (known && mine[n] == outcome); };
      const Outcome expected = in_one(Outcome::refused)  ? Outcome::refused
                               : in_one(Outcome::failed) ? Outcome::failed
                                                         : Outcome::delivered;
      CHECK(row.outcome == expected);
      refused += expected == Outcome::refused;
      failed += expected == Outcome::failed;
      const bool alone = known && (mine[n] == Outcome::refused) != (others[n] == Outcome::refused);
      CHECK((row.left_out.find("refused by the group 'others'") != std::string::npos) == alone);
    }
    CHECK(joint.refused == refused);
    CHECK(joint.failed == failed);
    CHECK(joint.delivered == 40 - refused);
  }
}
