#include "session/ending.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "base/mpi/agree.hpp"
#include "base/process.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

EndingWatch::EndingWatch(const EndingConfig& config, std::optional<double> job_left, bool chained)
    : signals_(config.signals, chained), margin_(config.margin) {
  if (job_left) {
    limit_ = now() + *job_left;
  } else if (config.limit > 0) {
    limit_ = now() + config.limit;
  }
}

/// Sets the end at the first order; later orders change nothing. A time limit holds in any case.
void EndingWatch::order(double end, By by) noexcept {
  if (end_) return;
  by_ = by;
  end_ = limit_ ? std::min(end, *limit_) : end;
}

bool EndingWatch::asked() noexcept {
  if (end_) return true;
  if (const auto arrival = signals_.arrived()) {
    order(arrival->at + margin_, By::a_signal);
  } else if (limit_ && now() >= *limit_ - margin_) {
    order(*limit_, By::the_clock);
  }
  return end_.has_value();
}

void EndingWatch::tell() noexcept {
  if (!asked()) order(now() + margin_, By::others);
}

std::string EndingWatch::reason() const {
  switch (by_) {
    case By::nobody:
      break;
    case By::a_signal:
      if (const auto arrival = signals_.arrived()) return name_of_signal(arrival->signal);
      break;
    case By::the_clock:
      return "the time limit";
    case By::others:
      return "an order to another process";
  }
  return {};
}

bool EndingWatch::is_over() noexcept { return asked() && now() >= *end_; }

bool EndingWatch::is_late() noexcept { return asked() && now() >= last_begin(*end_); }

double EndingWatch::drain_limit(double usual, bool firm) noexcept {
  const bool ends = asked();
  if (!ends && !limit_) return usual;
  const double left = std::max(0.0, last_begin(ends ? *end_ : *limit_) - now());
  return ends && !firm ? left : std::min(usual, left);
}

namespace {

double seconds_left_of_job() {
  const char* const text = std::getenv("SLURM_JOB_END_TIME");
  std::int64_t end = 0;
  const std::string_view digits(text ? text : "");
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), end);
  const bool is_number = !digits.empty() && error == std::errc() && stop == digits.data() + digits.size();
  const double left = static_cast<double>(end) - static_cast<double>(std::time(nullptr));
  if (is_number && left > 0) return left;
  fail(
      Code::configuration,
      "found 'time_limit: job' under 'ending', and the environment variable SLURM_JOB_END_TIME {}{}, expected a number "
      "of seconds since 1970, which Slurm sets in its jobs; write the time instead, such as 'time_limit: 24 h'",
      text ? fmt::format("is '{}'", text) : "is not set", is_number ? ", a time that has passed" : "");
}

}  // namespace

std::unique_ptr<EndingWatch> watch_for_end(Communicator& world, const EndingConfig& config, bool chained) {
  if (!config.any()) return nullptr;
  double left = 0;
  run_collectively(world, [&] {
    if (config.end_of_job && world.rank() == 0) left = seconds_left_of_job();
  });
  Bytes common(bytes_of(left).begin(), bytes_of(left).end());
  world.broadcast(common, 0);
  std::unique_ptr<EndingWatch> watch;
  run_collectively(world, [&] {
    if (config.end_of_job) left = record_of<double>(common);
    watch = std::make_unique<EndingWatch>(config, config.end_of_job ? std::optional(left) : std::nullopt, chained);
  });
  return watch;
}

}  // namespace sidestream
