#include "client/steered_values.hpp"

#include "config/sections.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

SteeredValues::SteeredValues(const std::vector<SteeredParameter>& parameters) : parameters_(parameters) {
  for (const SteeredParameter& parameter : parameters_) values_.push_back(parameter.initial);
}

void SteeredValues::take(const Notice& notice) {
  if (notice.kind != steering_notice) return;
  std::multimap<std::int64_t, SteeredChange> new_ones;  // takes all or none, if memory is short
  for (const SteeredChange& change : records_of<SteeredChange>(notice.payload)) {
    if (change.parameter < 0 || static_cast<std::size_t>(change.parameter) >= parameters_.size()) {
      fail(Code::internal, "the servers changed the steered parameter number {} of {}", change.parameter,
           parameters_.size());
    }
    new_ones.emplace(notice.iteration, change);
  }
  coming_.merge(new_ones);
}

void SteeredValues::advance(std::int64_t index) noexcept {
  const auto end = coming_.upper_bound(index);
  for (auto at = coming_.begin(); at != end; ++at) {
    const auto n = static_cast<std::size_t>(at->second.parameter);
    values_[n] = value_of(parameters_[n], at->second.bits);
  }
  coming_.erase(coming_.begin(), end);
}

std::int64_t SteeredValues::integer(std::string_view name) const {
  const std::size_t n = find_steered(parameters_, name);
  if (const auto* value = std::get_if<std::int64_t>(&values_[n])) return *value;
  fail(Code::usage, "the parameter '{}' is of type real; read it with get_real", name);
}

double SteeredValues::real(std::string_view name) const {
  const std::size_t n = find_steered(parameters_, name);
  if (const auto* value = std::get_if<double>(&values_[n])) return *value;
  fail(Code::usage, "the parameter '{}' is of type integer; read it with get_int", name);
}

std::vector<std::pair<std::string, Type>> SteeredValues::parameters() const {
  std::vector<std::pair<std::string, Type>> all;
  for (const SteeredParameter& parameter : parameters_) {
    all.emplace_back(parameter.name, std::holds_alternative<double>(parameter.initial) ? Type::float64 : Type::int64);
  }
  return all;
}

}  // namespace sidestream
