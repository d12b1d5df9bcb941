// Joins what several groups of servers did with the same iterations into one account.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "server/engine/ledger.hpp"

using namespace sidestream;

namespace {

Ledger account_of(const std::vector<Outcome>& outcomes, const std::set<std::size_t>& without) {
  Ledger ledger({}, true);
  for (std::size_t n = 0; n < outcomes.size(); ++n) {
    if (without.contains(n)) continue;
    IterationRow row;
    row.at.index = static_cast<std::int64_t>(n);
    row.outcome = outcomes[n];
    if (row.outcome != Outcome::refused) row.at.cycle = row.at.index + 100;  // otherwise nobody may have told the cycle
    if (row.outcome == Outcome::failed) row.failed = "failed: task";
    ledger.iteration(std::move(row));
    ledger.delivered += outcomes[n] != Outcome::refused;
    ledger.refused += outcomes[n] == Outcome::refused;
    ledger.failed += outcomes[n] == Outcome::failed;
  }
  return ledger;
}

}  // namespace

TEST_CASE("an iteration is refused if a group refuses it, failed if it fails in one, unknown if one did not get it") {
  constexpr Outcome kinds[] = {Outcome::delivered, Outcome::failed, Outcome::refused};
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<Outcome> mine, others;
    std::set<std::size_t> not_mine, not_theirs;
    for (std::size_t n = 0; n < 40; ++n) {
      mine.push_back(kinds[random() % 3]);
      others.push_back(kinds[random() % 3]);
      const auto which = random() % 12;
      if (which == 0) not_mine.insert(n);
      if (which == 1) not_theirs.insert(n);
    }
    Ledger joint = account_of(mine, not_mine);
    joint.join(account_of(others, not_theirs).decisions(), "others", "'first', 'second'");
    REQUIRE(joint.iterations().size() == 40);
    std::int64_t refused = 0, failed = 0, unknown = 0;
    for (std::size_t n = 0; n < 40; ++n) {
      const IterationRow& row = joint.iterations()[n];
      REQUIRE(row.at.index == static_cast<std::int64_t>(n));
      const bool known = !not_mine.contains(n) && !not_theirs.contains(n);
      const auto in_one = [&](Outcome outcome) { return others[n] == outcome || mine[n] == outcome; };
      const Outcome expected = !known                     ? Outcome::lost
                               : in_one(Outcome::refused) ? Outcome::refused
                               : in_one(Outcome::failed)  ? Outcome::failed
                                                          : Outcome::delivered;
      CHECK(row.outcome == expected);
      const auto says = [&](const auto& group, const auto& without) {
        return !without.contains(n) && group[n] != Outcome::refused;
      };
      CHECK(row.at.cycle == (says(mine, not_mine) || says(others, not_theirs) ? row.at.index + 100 : 0));
      refused += expected == Outcome::refused;
      failed += expected == Outcome::failed;
      unknown += expected == Outcome::lost;
      const bool alone = known && (mine[n] == Outcome::refused) != (others[n] == Outcome::refused);
      CHECK((row.left_out.find("refused by the group 'others'") != std::string::npos) == alone);
      const std::string without = not_mine.contains(n)     ? "not known of 'first', 'second'"
                                  : not_theirs.contains(n) ? "not known of 'others'"
                                                           : "";
      if (!known) CHECK(row.left_out == without);
    }
    CHECK(joint.refused == refused);
    CHECK(joint.failed == failed);
    CHECK(joint.unknown == unknown);
    CHECK(joint.delivered == 40 - refused - unknown);
  }
}

TEST_CASE("without rows an iteration that one group had not is unknown too") {
  Ledger joint({}, false);
  joint.delivered = 4, joint.refused = 1;
  Ledger others({}, false);
  others.delivered = 3;
  joint.join(others.decisions(), "others", "'mine'");
  CHECK(joint.delivered == 3);
  CHECK(joint.refused == 1);
  CHECK(joint.unknown == 1);
}

TEST_CASE("what tasks of several groups gave as the reason of a refusal is said once each") {
  const auto refused_for = [](const std::vector<std::string>& reasons) {
    Ledger ledger({}, true);
    for (const std::string& reason : reasons) {
      IterationRow row;
      row.at.index = static_cast<std::int64_t>(ledger.refused++);
      row.outcome = Outcome::refused;
      row.not_taken = reason;
      ledger.iteration(std::move(row));
    }
    return ledger;
  };
  Ledger joint = refused_for({"nobody", "nobody", ""});
  joint.join(refused_for({"nobody", "somebody", "nobody"}).decisions(), "others", "'first'");
  CHECK(joint.iterations()[0].not_taken == "nobody");
  CHECK(joint.iterations()[1].not_taken == "nobody; somebody");
  CHECK(joint.iterations()[2].not_taken == "nobody");
}
