// Values of steered parameters on a client.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/steering.hpp"
#include "sidestream/data/type.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Holds changes from notices until the iteration in which they take effect.
class SteeredValues {
 public:
  explicit SteeredValues(const std::vector<SteeredParameter>& parameters);

  [[nodiscard]] bool any() const noexcept { return !values_.empty(); }
  /// Takes a notice; ignores other kinds.
  void take(const Notice& notice);
  /// Applies changes that are due when iteration `index` has ended.
  void advance(std::int64_t index) noexcept;
  /// The value in effect. Throws Error(usage) if there is no parameter of that name, or if it has another type.
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;
  /// Names and types, in the order of the configuration.
  [[nodiscard]] std::vector<std::pair<std::string, Type>> parameters() const;

 private:
  const std::vector<SteeredParameter>& parameters_;
  std::vector<SteeredParameter::Value> values_;
  /// By the iteration at whose end they take effect; within an iteration in the order in which servers sent them.
  std::multimap<std::int64_t, SteeredChange> coming_;
};

}  // namespace sidestream
