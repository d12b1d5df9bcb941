// The values of steered parameters as a client has them.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "data/steering.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Holds what notices said until the iteration in which it takes effect.
class SteeredValues {
 public:
  explicit SteeredValues(const std::vector<SteeredParameter>& parameters);

  [[nodiscard]] bool any() const noexcept { return !values_.empty(); }
  /// Notices of other kinds are ignored.
  void take(const Notice& notice);
  /// Iteration `index` has ended: what is due by now is in effect.
  void advance(std::int64_t index) noexcept;
  /// The value in effect. Throws Error(usage) if there is no parameter of that name, or it has another type.
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;

 private:
  const std::vector<SteeredParameter>& parameters_;
  std::vector<SteeredParameter::Value> values_;
  /// By the iteration at whose end they take effect; of one iteration in the order in which servers told them.
  std::multimap<std::int64_t, SteeredChange> coming_;
};

}  // namespace sidestream
