// What an analysis sets, until it is known that it has not failed.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "data/steering.hpp"
#include "sidestream/extend/steering.hpp"

namespace sidestream {

/// Where changes go that an analysis has made: of the first server.
struct SteeringSink {
  const std::vector<SteeredParameter>& parameters;
  std::function<void(std::size_t parameter, const SteeredParameter::Value& value)> take;
};

/// Checks each call at once, on every server, and hands the changes over with `keep`.
class SteeringCalls final : public Steering {
 public:
  explicit SteeringCalls(const SteeringSink* sink) : sink_(sink) {}
  void set(std::string_view name, std::int64_t value) override { add(name, value); }
  void set(std::string_view name, double value) override { add(name, value); }
  /// The analysis has not failed. Once.
  void keep();

 private:
  void add(std::string_view name, const SteeredParameter::Value& value);
  const SteeringSink* sink_;
  std::vector<std::pair<std::size_t, SteeredParameter::Value>> calls_;
};

}  // namespace sidestream
