// Account of a server's work, and the joining of several groups' accounts into one.
//
// A row is added for each iteration, task and movement. When there are too many, or after a time, the rows are handed
// to `rows_.take` and dropped. Failures that differ only in numbers count as one.
// join merges another group's decisions: rows by iteration, where one that only one group has is `lost`. Without rows
// only the counts are known, and the joined ones are bounds. Nothing communicates here.
#include "server/engine/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sidestream/kit/base/fields.hpp"

namespace sidestream {

namespace {
constexpr std::size_t most_failures = 1000;

/// Common form of messages that differ only in the numbers of iterations, cycles and files.
std::string without_digits(const std::string& message) {
  std::string shape;
  for (const char c : message) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) shape += c;
    if (digit && (shape.empty() || shape.back() != '#')) shape += '#';
  }
  return shape;
}
}  // namespace

std::string text_of(const IterationRow& row) {
  constexpr std::pair<Refusal, const char*> reasons[] = {
      {Refusal::no_room, "no room in the buffer"},
      {Refusal::in_flight, "max_in_flight iterations were not released"},
      {Refusal::call_failed, "a call failed"},
      {Refusal::no_servers, "no servers were attached"},
      {Refusal::owed, "an array that does not vary in time is missing"},
      {Refusal::left, "a client closed before it ended the iteration"},
      {Refusal::gave_up, "drain_limit was over before the servers began it"},
      {Refusal::cycles, "different cycles"},
      {Refusal::repeated, "two clients declare one block"},
      {Refusal::on_server, "the servers could not take it"},
      {Refusal::late, "the time to end was over before the servers began it"}};
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  for (const auto& [bit, reason] : reasons) {
    if (row.why & bit) add(reason);
  }
  if (!row.not_taken.empty()) add(row.not_taken);
  if (!row.failed.empty()) add(row.failed);
  if (!row.left_out.empty()) add(row.left_out);
  if (row.client >= 0) add("client " + std::to_string(row.client));
  return text;
}

/// Takes and drops the rows if there is no room; call it before a row is added to `rows` others.
void Ledger::take_if_full(std::size_t rows) {
  if (rows >= most_rows && rows_.take) take();
}

void Ledger::refresh() {
  if (!(rows_.seconds > 0) || !rows_.take || now() - taken_ < rows_.seconds) return;
  take();
}

void Ledger::take() {
  taken_ = now();
  rows_.take(*this);
  timings_.clear();
  moved_.clear();
  if (!gathers()) iterations_.clear();
}

bool Ledger::failure(std::int64_t iteration, const std::string& message) {
  const std::string shape = without_digits(message);
  const auto same = [&](const Failure& f) { return f.message == message || without_digits(f.message) == shape; };
  const auto found = std::find_if(failures_.begin(), failures_.end(), same);
  if (found != failures_.end()) {
    ++found->count;
    found->last_iteration = iteration;
    return false;
  }
  // Bounds the memory of a long run.
  if (failures_.size() < most_failures) failures_.push_back({iteration, 1, message, iteration});
  return true;
}

template <>
inline constexpr std::size_t field_count<IterationRow> = 7;
template <>
inline constexpr std::size_t field_count<Ledger::Failure> = 4;

namespace {

struct Counts {
  std::int64_t delivered = 0, refused = 0, failed = 0, skipped = 0;
};

void append(std::string& text, const char* between, const std::string& more) {
  if (more.empty()) return;
  if (!text.empty()) text.append(between);
  text.append(more);
}

}  // namespace

Bytes Ledger::decisions() const {
  ByteWriter out;
  out.put(Counts{delivered, refused, failed, skipped_tasks});
  write_fields(out, failures_);
  write_fields(out, iterations_);
  return out.take();
}

namespace {

/// Marks a row that only some groups have: the others ended before that iteration, or began after it.
void miss(IterationRow& row, const std::string& groups) {
  row.outcome = Outcome::lost;
  append(row.left_out, "; ", "not known of " + groups);
}

/// Joins the rows of two groups that both decided on the iteration; `name`: name of the other group.
void join_row(IterationRow& mine, const IterationRow& row, const std::string& name) {
  const bool taken = mine.outcome != Outcome::refused, others = row.outcome != Outcome::refused;
  if (taken != others) {
    append(mine.left_out, "; ", fmt::format("{}refused by the group '{}'", taken ? "" : "not ", name));
  }
  if (!taken) mine.at = row.at;  // a group that refuses may not know the cycle and time
  mine.outcome = joined(mine.outcome, row.outcome);
  mine.why |= row.why;
  if (mine.client < 0) mine.client = row.client;
  constexpr std::string_view intro = "failed:";
  const bool both = !mine.failed.empty() && row.failed.starts_with(intro);
  append(mine.failed, "", both ? row.failed.substr(intro.size()) : row.failed);
  append(mine.left_out, "; ", row.left_out);
  if (mine.not_taken != row.not_taken) append(mine.not_taken, "; ", row.not_taken);
}

}  // namespace

/// Merges rows; both lists are sorted by iteration, and may have millions of entries.
void Ledger::join_rows(std::vector<IterationRow> others, const std::string& name, const std::string& so_far) {
  std::vector<IterationRow> mine = std::move(iterations_);
  iterations_.clear();
  iterations_.reserve(std::max(mine.size(), others.size()));
  auto other = others.begin();
  const auto alone = [&](IterationRow& row, const std::string& groups) {
    miss(row, groups);
    iterations_.push_back(std::move(row));
  };
  for (IterationRow& row : mine) {
    for (; other != others.end() && other->at.index < row.at.index; ++other) alone(*other, so_far);
    if (other == others.end() || other->at.index != row.at.index) {
      alone(row, fmt::format("'{}'", name));
      continue;
    }
    join_row(row, *other++, name);
    iterations_.push_back(std::move(row));
  }
  for (; other != others.end(); ++other) alone(*other, so_far);
}

void Ledger::join(BytesView decisions, const std::string& name, const std::string& so_far) {
  ByteReader in(decisions);
  const auto counts = in.get<Counts>();
  skipped_tasks += counts.skipped;
  std::vector<Failure> failures;
  std::vector<IterationRow> rows;
  read_fields(in, failures);
  read_fields(in, rows);
  failures_.insert(failures_.end(), failures.begin(), failures.end());
  const std::int64_t all = std::max(delivered + refused + unknown, counts.delivered + counts.refused);
  join_rows(std::move(rows), name, so_far);
  const auto count = [&](Outcome outcome) {
    return std::count_if(iterations_.begin(), iterations_.end(),
                         [&](const IterationRow& row) { return row.outcome == outcome; });
  };
  if (!keeps_timings_) {  // without rows only bounds are known
    delivered = std::min(delivered, counts.delivered);
    refused = std::min(std::max(refused, counts.refused), all - delivered);
    failed = std::max(failed, counts.failed);
    unknown = all - delivered - refused;
    return;
  }
  refused = count(Outcome::refused);
  failed = count(Outcome::failed);
  unknown = count(Outcome::lost);
  delivered = static_cast<std::int64_t>(iterations_.size()) - refused - unknown;
}

}  // namespace sidestream
