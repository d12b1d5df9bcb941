// What several groups of servers did, as one account.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/records.hpp"
#include "server/ledger.hpp"

namespace sidestream {

namespace {

/// Of a row, with the texts behind it.
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

void Ledger::join_row(const IterationRow& row, const std::string& name) {
  // Rows are in the order of iterations, of which a run may have millions.
  const auto found =
      std::lower_bound(iterations_.begin(), iterations_.end(), row.at.index,
                       [](const IterationRow& mine, std::int64_t index) { return mine.at.index < index; });
  if (found == iterations_.end() || found->at.index != row.at.index) {
    iterations_.insert(found, row);
    return;
  }
  const bool taken = found->outcome != Outcome::refused, others = row.outcome != Outcome::refused;
  if (taken != others) {
    append(found->left_out, "; ", fmt::format("{}refused by the group '{}'", taken ? "" : "not ", name));
  }
  if (taken && (!others || row.outcome == Outcome::failed)) found->outcome = row.outcome;
  found->why |= row.why;
  if (found->client < 0) found->client = row.client;
  constexpr std::string_view intro = "failed:";
  const bool both = !found->failed.empty() && row.failed.starts_with(intro);
  append(found->failed, "", both ? row.failed.substr(intro.size()) : row.failed);
  append(found->left_out, "; ", row.left_out);
}

void Ledger::join(BytesView decisions, const std::string& name) {
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
  const auto rows = in.get<std::size_t>();
  for (std::size_t n = 0; n < rows; ++n) {
    IterationRow row;
    const auto head = in.get<RowHead>();
    row.at = head.at;
    row.outcome = head.outcome;
    row.why = head.why;
    row.client = head.client;
    in.get(row.failed);
    in.get(row.left_out);
    join_row(row, name);
  }
  const std::int64_t all = std::max(delivered + refused, counts.delivered + counts.refused);
  const auto count = [&](Outcome outcome) {
    return std::count_if(iterations_.begin(), iterations_.end(),
                         [&](const IterationRow& row) { return row.outcome == outcome; });
  };
  const bool by_row = keeps_timings_;  // else what is at least so
  refused = by_row ? count(Outcome::refused) : std::max(refused, counts.refused);
  failed = by_row ? count(Outcome::failed) : std::max(failed, counts.failed);
  delivered = all - refused;
}

}  // namespace sidestream
