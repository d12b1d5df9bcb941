#include "server/engine/ledger.hpp"

#include <algorithm>

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

/// Empties the rows if there is no room; call it before a row is added to `rows` others.
void Ledger::make_room(std::size_t rows) {
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
  // A long run must not keep all of them.
  if (failures_.size() < most_failures) failures_.push_back({iteration, 1, message, iteration});
  return true;
}

}  // namespace sidestream
