#include "server/steering/steering_calls.hpp"

#include "base/fail.hpp"
#include "config/steering_section.hpp"

namespace sidestream {

void SteeringCalls::add(std::string_view name, const SteeredParameter::Value& value) {
  static const std::vector<SteeredParameter> none;
  const std::vector<SteeredParameter>& parameters = sink_ ? sink_->parameters : none;
  try {
    const std::size_t parameter = find_steered(parameters, name);
    check_steered(parameters[parameter], value);
    calls_.emplace_back(parameter, value);
  } catch (const Error& error) {
    fail(Code::analysis, "steering: {}", error.what());
  }
}

void SteeringCalls::keep() {
  for (const auto& [parameter, value] : calls_) sink_->take(parameter, value);
}

}  // namespace sidestream
