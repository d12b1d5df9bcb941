// The variables that a group of servers may need, as it tells its clients, so that these need not hand over others.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "sidestream/kit/base/fields.hpp"

namespace sidestream {

/// Notice::kind of GroupNeeds, from servers whose first iteration is Notice::iteration.
inline constexpr std::uint32_t needs_notice = 3;

/// Variables of tasks with one schedule, and the iterations in which these tasks may run.
struct NeedRule {
  /// `any`: every iteration, since something else than the count decides, as an event or a clock does.
  enum class Unit : std::int32_t { any, iterations, cycles };
  Unit unit = Unit::any;
  double every = 1, start = -std::numeric_limits<double>::infinity(), end = std::numeric_limits<double>::infinity();
  std::vector<std::uint64_t> variables{};  ///< a bit for each id

  [[nodiscard]] bool has(std::int32_t variable) const noexcept {
    const auto v = static_cast<std::size_t>(variable);
    return v / 64 < variables.size() && ((variables[v / 64] >> (v % 64)) & 1) != 0;
  }
  void add(std::int32_t variable) {
    const auto v = static_cast<std::size_t>(variable);
    if (variables.size() <= v / 64) variables.resize(v / 64 + 1, 0);
    variables[v / 64] |= std::uint64_t{1} << (v % 64);
  }
  /// False if the tasks certainly do not run. An unknown cycle may be any.
  [[nodiscard]] bool may_run(std::int64_t index, std::optional<std::int64_t> cycle) const noexcept {
    if (unit == Unit::any || (unit == Unit::cycles && !cycle)) return true;
    const auto at = static_cast<double>(unit == Unit::cycles ? *cycle : index);
    return at >= start && at <= end && std::fmod(at - (std::isfinite(start) ? start : 0), every) == 0;
  }
};

/// The needs of one of `groups` groups of servers. `epoch` tells servers of `sidecar` from those before them.
struct GroupNeeds {
  std::uint64_t epoch = 0;
  std::uint32_t group = 0, groups = 1;
  std::vector<NeedRule> rules{};
};

template <>
inline constexpr std::size_t field_count<NeedRule> = 5;
template <>
inline constexpr std::size_t field_count<GroupNeeds> = 4;

}  // namespace sidestream
