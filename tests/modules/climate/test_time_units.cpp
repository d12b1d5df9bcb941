// Dates and times of day in the option `time_units`.
#include <doctest/doctest.h>

#include <string>

#include "climate/cf/time_units.hpp"

using namespace sidestream;

namespace {

/// Tells the mistake in a date that has the right form.
std::string wrong(const std::string& text) {
  const std::optional<ZeroOfTime> zero = zero_of_time(text);
  return zero ? wrong_in(*zero) : "another form";
}

}  // namespace

TEST_CASE("dates, times of day and zones that readers know") {
  for (const char* text :
       {"2000-01-01", "1850-1-1T00:00:00", "2000-01-01 12:00:00 +1:00", "2000-01-01 12", "2000-01-01 23:59:59.999999",
        "2000-01-01T12:00Z", "2000-01-01 12:00 UTC", "2000-01-01 -6:00", "2000-01-01 12:00 +0530", "2000-02-29",
        "1500-02-29", "1582-10-04", "1582-10-15", "0001-01-01", "12000-01-01", "2000-01-01  12:00 GMT"}) {
    CAPTURE(text);
    CHECK(wrong(text) == "");
  }
}

TEST_CASE("days and hours that do not exist are named") {
  CHECK(wrong("2000-13-45") == "the month 13, expected 1 to 12");
  CHECK(wrong("2000-00-01") == "the month 0, expected 1 to 12");
  CHECK(wrong("1900-02-29") == "the day 29, expected 1 to 28");
  CHECK(wrong("2000-02-30") == "the day 30, expected 1 to 29");
  CHECK(wrong("2001-04-31") == "the day 31, expected 1 to 30");
  CHECK(wrong("2001-12-32") == "the day 32, expected 1 to 31");
  CHECK(wrong("0000-01-01") == "the year 0, expected 1 to 999999");
  CHECK(wrong("2000-01-01 25:61:00") == "the hour 25, expected 0 to 23");
  CHECK(wrong("2000-01-01 24:00") == "the hour 24, expected 0 to 23");
  CHECK(wrong("2000-01-01 12:61:00") == "the minute 61, expected 0 to 59");
  CHECK(wrong("2000-01-01 12:00:60") == "the second 60, expected 0 to 59");
  CHECK(wrong("2000-01-01 12:00 +25:00") == "the zone's hour 25, expected 0 to 14");
  CHECK(wrong("2000-01-01 12:00 +0175") == "the zone's minute 75, expected 0 to 59");
  CHECK(wrong("1582-10-10") == "a day that the calendar leaves out, expected none from 1582-10-05 to 1582-10-14");
}

TEST_CASE("other texts are no dates") {
  for (const char* text : {"", "then", "2000", "2000-01", "20000101", "2000-01-001", "2000-01-01T",
                           "2000-01-01 12:", "2000-01-01 12:00:", "2000-01-01 12:00:00.", "2000-01-01 noon",
                           "2000-01-01 12:00 +", "2000-01-01 12:00 UTC x", "-1-01-01"}) {
    CAPTURE(text);
    CHECK(wrong(text) == "another form");
  }
}
