#include "faults/check.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace sidestream::testing {

namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string iterations_file(const Case& one) {
  return one.placement == "job" ? "endpoint-iterations.csv" : "iterations.csv";
}

bool is_record(const std::string& name) {
  return name.find("iterations") != std::string::npos || name.find("timings") != std::string::npos ||
         name.find("movement") != std::string::npos;
}

/// The iteration of a file, from its name, or -1 if it has none.
int iteration_of(const std::string& name) {
  const auto digit = name.find_first_of("0123456789");
  return digit == std::string::npos ? -1 : std::stoi(name.substr(digit));
}

class Checker {
 public:
  Checker(const Case& one, const Fault& fault, const std::vector<Ending>& endings, const Results& results,
          const Results& reference)
      : one_(one), fault_(fault), endings_(endings), results_(results), reference_(reference) {}

  std::vector<std::string> all() {
    check_calls();
    check_values();
    check_outcomes();
    check_accounts();
    return std::move(wrong_);
  }

 private:
  void add(const std::string& what) { wrong_.push_back(what); }

  void check_calls() {
    for (std::size_t r = 0; r < endings_.size(); ++r) {
      const Ending& e = endings_[r];
      const std::string rank = "rank " + std::to_string(r);
      if (e.escaped[0]) add(rank + " got an exception that is no sidestream::Error in " + e.escaped);
      if (e.errors > 0 && std::string(e.first).size() < 12) add(rank + " got an error that says nothing: " + e.first);
      if (e.errors == 0 && !e.escaped[0] && !e.closed) add(rank + " did not close and had no error");
      errors_ |= e.errors > 0;
      servers_failed_ |= e.server && e.errors > 0;
    }
  }

  /// Checks that all existing values are right.
  void check_values() {
    for (const auto& [name, rows] : results_.rows) {
      for (auto row = rows.begin(); row != rows.end(); ++row) {
        const auto& right = reference_.rows.at(name);
        const auto [from, to] = right.equal_range(row->first);
        if (std::none_of(from, to, [&](const auto& r) { return r.second == row->second; })) {
          add(name + " has a wrong row: " + row->second);
        }
      }
    }
    for (const auto& [name, bytes] : results_.files) {
      const auto right = reference_.files.find(name);
      if (right == reference_.files.end() || right->second != bytes) add(name + " is wrong");
    }
  }

  [[nodiscard]] bool is_complete(int iteration) const {
    for (const auto& [name, rows] : reference_.rows) {
      const auto found = results_.rows.find(name);
      const auto here = found == results_.rows.end() ? 0 : found->second.count(iteration);
      if (here != rows.count(iteration)) return false;
    }
    return std::all_of(reference_.files.begin(), reference_.files.end(), [&](const auto& file) {
      return iteration_of(file.first) != iteration || results_.files.count(file.first) > 0;
    });
  }

  [[nodiscard]] bool has_some(int iteration) const {
    return std::any_of(results_.rows.begin(), results_.rows.end(),
                       [&](const auto& table) { return table.second.count(iteration) > 0; }) ||
           std::any_of(results_.files.begin(), results_.files.end(),
                       [&](const auto& file) { return iteration_of(file.first) == iteration; });
  }

  void check_outcomes() {
    if (results_.outcomes.empty()) {
      if (!errors_ && !all_refused()) add("there is no table of iterations, and no error says so");
      return;
    }
    int lost = 0;
    for (int i = 0; i < steps; ++i) {
      const auto found = results_.outcomes.find(i);
      const std::string outcome = found == results_.outcomes.end() ? "missing" : found->second;
      const std::string about = "iteration " + std::to_string(i) + " is " + outcome;
      if (outcome == "delivered" && !is_complete(i)) add(about + " and not all of its results are there");
      // One group may have delivered an iteration that another refused.
      if (outcome == "refused" && (one_.groups ? is_complete(i) : has_some(i))) add(about + " and has results");
      // The groups of an endpoint begin and end with their streams, which only servers can cut short.
      if (outcome == "unknown" && !(one_.separate && one_.groups && fault_.stage == "serve")) add(about);
      if (outcome == "missing" && !servers_failed_ && !one_.separate) add(about);
      lost += outcome != "delivered";
      const bool open = i == fault_step || i == fault_step + 1;
      const bool early =
          fault_.stage == "publish" || fault_.stage == "keep" || fault_.stage == "end" || fault_.stage == "iteration";
      if (early && !open && outcome != "delivered" && !servers_failed_) add(about + ", whose memory did not run out");
    }
    if (lost > 2 && !servers_failed_ && !one_.separate) add(std::to_string(lost) + " iterations were lost");
  }

  [[nodiscard]] bool all_refused() const {
    return std::all_of(endings_.begin(), endings_.end(), [](const Ending& e) {
      return e.server || (e.closed && e.account.refused + e.account.unknown == e.account.iterations);
    });
  }

  void check_accounts() {
    const Ending* first = nullptr;
    for (const Ending& e : endings_) {
      if (e.server || !e.closed) continue;
      const Account& a = e.account;
      if (a.iterations != a.delivered + a.refused + a.unknown) {
        add("an account does not add up: " + std::to_string(a.iterations) + " iterations, " +
            std::to_string(a.delivered) + " delivered, " + std::to_string(a.refused) + " refused, " +
            std::to_string(a.unknown) + " unknown");
      }
      if (!one_.separate && a.unknown > 0 && !servers_failed_)
        add(std::to_string(a.unknown) + " iterations are unknown");
      if (first && !servers_failed_ && !one_.separate && first->account.delivered != a.delivered) {
        add("the accounts of two clients differ");
      }
      first = &e;
    }
    if (!first || results_.outcomes.empty() || one_.separate) return;
    const auto taken = std::count_if(results_.outcomes.begin(), results_.outcomes.end(), [](const auto& row) {
      return row.second == "delivered" || row.second == "failed";
    });
    if (taken != first->account.delivered && !servers_failed_) {
      add("the account says " + std::to_string(first->account.delivered) + " delivered, the table of iterations " +
          std::to_string(taken));
    }
  }

  const Case& one_;
  const Fault& fault_;
  const std::vector<Ending>& endings_;
  const Results& results_;
  const Results& reference_;
  std::vector<std::string> wrong_;
  bool errors_ = false, servers_failed_ = false;
};

}  // namespace

Results read_results(const Case& one, const std::string& folder) {
  Results results;
  if (!fs::exists(folder)) return results;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const std::string ending = entry.path().extension().string();
    if (name[0] == '.' || is_record(name)) continue;
    if (ending == ".vtp") results.files[name] = bytes_of(entry.path());
    if (ending == ".h5") results.files[name];  // the index comes last, so that the file is whole
    if (ending != ".csv") continue;
    std::istringstream text(bytes_of(entry.path()));
    std::string line;
    std::getline(text, line);
    while (std::getline(text, line)) results.rows[name].emplace(std::atoi(line.c_str()), line);
  }
  std::ifstream table(folder + "/" + iterations_file(one));
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream cells(line);
    std::string index, cycle, time, outcome;
    std::getline(std::getline(std::getline(std::getline(cells, index, ','), cycle, ','), time, ','), outcome, ',');
    results.outcomes[std::stoi(index)] = outcome;
  }
  return results;
}

std::vector<std::string> mistakes(const Case& one, const Fault& fault, const std::vector<Ending>& endings,
                                  const Results& results, const Results& reference) {
  return Checker(one, fault, endings, results, reference).all();
}

}  // namespace sidestream::testing
