#include "config/options/byte_size.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "config/options/fail_at.hpp"

namespace sidestream {

namespace {

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr double kibi = 1024, kilo = 1000;
constexpr std::array<Unit, 10> units{{{"", 1},
                                      {"B", 1},
                                      {"KiB", kibi},
                                      {"MiB", kibi* kibi},
                                      {"GiB", kibi* kibi* kibi},
                                      {"TiB", kibi* kibi* kibi* kibi},
                                      {"kB", kilo},
                                      {"MB", kilo* kilo},
                                      {"GB", kilo* kilo* kilo},
                                      {"TB", kilo* kilo* kilo* kilo}}};

}  // namespace

std::int64_t parse_byte_size(const std::string& text, const std::string& what, const Location& where) {
  const char* end = text.data() + text.size();
  double amount = 0;
  const auto read = std::from_chars(text.data(), end, amount);
  std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const Unit* known = nullptr;
  for (const Unit& candidate : units) {
    if (candidate.name == unit) known = &candidate;
  }
  if (read.ec != std::errc() || known == nullptr || !std::isfinite(amount) || amount < 0) {
    fail_at(where,
            "found '{}' for {}, expected an amount of memory; write a number, if need be followed by B, KiB, "
            "MiB, GiB, "
            "TiB, kB, MB, GB or TB, such as '64 MiB'",
            text, what);
  }
  constexpr double limit = 9.2e18;  // below 2^63
  const double bytes = std::floor(amount * known->bytes);
  if (bytes > limit) fail_at(where, "found '{}' for {}, which does not fit in 64 bits; write less", text, what);
  return static_cast<std::int64_t>(bytes);
}

std::string format_byte_size(std::int64_t bytes) {
  for (const std::string_view name : {"TiB", "GiB", "MiB", "KiB"}) {
    for (const Unit& unit : units) {
      const auto size = static_cast<std::int64_t>(unit.bytes);
      if (unit.name == name && bytes >= size && bytes % size == 0) return fmt::format("{} {}", bytes / size, name);
    }
  }
  return fmt::format("{} B", bytes);
}

std::string rounded_byte_size(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> names{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < names.size(); ++unit) amount /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", amount, names[unit]);
}

}  // namespace sidestream
