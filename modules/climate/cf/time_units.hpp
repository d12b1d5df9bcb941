// The option `time_units`: a unit of time and the date of its zero, in the standard calendar.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sidestream/extend/options.hpp"

namespace sidestream {

/// The zero of times, as `2000-01-01 12:00:00 +1:00` gives it.
struct ZeroOfTime {
  int year = 0, month = 0, day = 0;
  int hour = 0, minute = 0, second = 0;
  int zone_hour = 0, zone_minute = 0;  ///< without their sign
};

/// Reads a date, perhaps with a time of day and a zone; nothing if it has another form.
[[nodiscard]] std::optional<ZeroOfTime> zero_of_time(std::string_view text);

/// The part that no calendar or clock has, as `the month 13, expected 1 to 12`; empty if all is right. The calendar is
/// `standard` of the CF conventions: that of Julius Caesar until 1582-10-04, then the Gregorian one from 1582-10-15 on.
[[nodiscard]] std::string wrong_in(const ZeroOfTime& zero);

/// Throws through settings.fail if the option `time_units` is given without a zero, or with one that is not possible.
void check_time_units(const Settings& settings, const std::string& units);

}  // namespace sidestream
