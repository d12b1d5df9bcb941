// The time of day as text, for records and messages.
#pragma once

#include <fmt/format.h>
#include <sys/time.h>

#include <ctime>
#include <string>

namespace sidestream {

/// The time of day by this node's clock, in UTC, to milliseconds: 2026-11-28T00:47:03.123Z.
[[nodiscard]] inline std::string time_of_day() {
  timeval now{};
  gettimeofday(&now, nullptr);
  tm day{};
  gmtime_r(&now.tv_sec, &day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday,
                     day.tm_hour, day.tm_min, day.tm_sec, now.tv_usec / 1000);
}

}  // namespace sidestream
