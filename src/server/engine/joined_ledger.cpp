// Joins the ledgers of several groups of servers into one account.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "server/engine/ledger.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

/// Fixed part of a row; its texts follow.
struct RowHead {
  Iteration at;
  Outcome outcome = Outcome::pending;
  std::uint32_t why = 0;
  std::int32_t client = -1;
};

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
  out.put(failures_.size());
  for (const Failure& failure : failures_) {
    out.put(failure.first_iteration);
    out.put(failure.count);
    out.put(failure.last_iteration);
    out.put(failure.message);
  }
  out.put(iterations_.size());
  for (const IterationRow& row : iterations_) {
    out.put(RowHead{row.at, row.outcome, row.why, row.client});
    out.put(row.failed);
    out.put(row.left_out);
  }
  return out.take();
}

namespace {

/// Marks a row that only some groups have: the others ended before it, or began after it.
void miss(IterationRow& row, const std::string& groups) {
  row.outcome = Outcome::lost;
  append(row.left_out, "; ", "not known of " + groups);
}

/// Joins the rows of two groups that both decided on the iteration; `name` is that of the other group.
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
}

std::vector<IterationRow> rows_of(ByteReader& in) {
  std::vector<IterationRow> rows(in.get<std::size_t>());
  for (IterationRow& row : rows) {
    const auto head = in.get<RowHead>();
    row.at = head.at;
    row.outcome = head.outcome;
    row.why = head.why;
    row.client = head.client;
    in.get(row.failed);
    in.get(row.left_out);
  }
  return rows;
}

}  // namespace

/// Merges rows; both lists are sorted by iteration, of which a run may have millions.
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
  for (auto left = in.get<std::size_t>(); left > 0; --left) {
    Failure failure;
    in.get(failure.first_iteration);
    in.get(failure.count);
    in.get(failure.last_iteration);
    in.get(failure.message);
    failures_.push_back(std::move(failure));
  }
  const std::int64_t all = std::max(delivered + refused + unknown, counts.delivered + counts.refused);
  join_rows(rows_of(in), name, so_far);
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
