#include "sidestream/kit/storage/writers/agreed_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/data/box_values.hpp"
#include "storage/codecs/reduced_reals.hpp"
#include "storage/writers/kinds.hpp"

namespace sidestream {

namespace {

using Kind = Precision::Kind;

constexpr std::uint64_t measured_bytes = 4u << 20;  ///< memory for reading values of ghosted arrays
constexpr std::size_t per_variable = 3;             ///< numbers that servers exchange

/// Appends the extremes as numbers whose minimum over all servers is exchanged.
void put(const FiniteExtremes& extremes, std::vector<double>& out) {
  out.insert(out.end(), {extremes.low, -extremes.high, extremes.has_infinite ? -1.0 : 0.0});
}

FiniteExtremes extremes_from(std::span<const double> all, std::size_t n) {
  const auto own = all.subspan(n * per_variable, per_variable);
  return {own[0], -own[1], own[2] < 0};
}

/// Coordinates keep their type, since readers use them unchanged.
void check_role(const Settings& settings, const Variable& variable, const Precision& precision) {
  const bool keeps_type = precision.kind == Kind::bit_round || precision.kind == Kind::round;
  if (variable.role == Role::none || (variable.role == Role::coordinates && keeps_type)) return;
  settings.fail("precision",
                fmt::format("found the precision '{}' for '{}', which says where the mesh is ({}), expected "
                            "{}",
                            precision.text, variable.name, name_of(variable.role),
                            variable.role == Role::coordinates ? "'bit-round:BITS' or 'round:BOUND'"
                                                               : "a variable on the mesh; remove it"));
}

}  // namespace

AgreedForms::AgreedForms(const Settings& settings, const OptionPairs& words, const std::vector<std::int32_t>& variables,
                         const Metadata& metadata, const FormsOfOutput& forms)
    : output_(forms) {
  std::vector<std::string> names;
  for (const std::int32_t id : variables) {
    const Variable& variable = metadata.variables[static_cast<std::size_t>(id)];
    names.push_back(variable.name);
    forms_.emplace(id, StoredForm(variable.type));
  }
  check_named_variables(settings, "precision", words, names);
  for (const std::int32_t id : variables) {
    const Variable& variable = metadata.variables[static_cast<std::size_t>(id)];
    const auto word = words.find(variable.name);
    if (word != words.end()) add(settings, word->second, variable);
  }
}

void AgreedForms::add(const Settings& settings, const std::string& word, const Variable& variable) {
  Precision precision;
  try {
    precision = precision_named(word, variable.type);
  } catch (const Error& error) {
    settings.fail("precision", fmt::format("for '{}': {}", variable.name, error.what()));
  }
  if (std::find(output_.kinds.begin(), output_.kinds.end(), precision.kind) == output_.kinds.end()) {
    settings.fail("precision",
                  fmt::format("found the precision '{}' for '{}', {}", word, variable.name, output_.instead));
  }
  check_role(settings, variable, precision);
  const StoredForm form(precision, variable.type, {}, output_.half);
  const bool is_smaller = size_of(form.type) < size_of(variable.type) || precision.kind == Kind::zfp;
  if (!is_smaller && !output_.compresses) {
    settings.fail("precision", fmt::format("found the precision '{}' for '{}' without a compression, which saves "
                                           "nothing; add '{}'",
                                           word, variable.name, output_.compression));
  }
  if (precision.needs_extremes()) measured_.emplace_back(variable.id, precision);
  forms_.at(variable.id) = form;
}

bool AgreedForms::any_scaled() const noexcept {
  return std::any_of(forms_.begin(), forms_.end(), [](const auto& one) { return one.second.is_scaled; });
}

std::size_t AgreedForms::measured() const noexcept { return measured_.size() * per_variable; }

std::vector<double> AgreedForms::measure(const LocalInput& input, const Stored& stored) const {
  std::vector<double> all;
  for (const auto& [id, precision] : measured_) {
    const Variable& variable = input.metadata.variables[static_cast<std::size_t>(id)];
    FiniteExtremes extremes;
    for (const BlockView& view : input.of(id)) {
      if (view.copy || view.points.empty()) continue;
      for_each_slab(view.array, stored(variable, view), variable.order, measured_bytes,
                    [&](BytesView values, const Box&) {
                      variable.type == Type::float32 ? extremes.add<float>(values) : extremes.add<double>(values);
                    });
    }
    put(extremes, all);
  }
  return all;
}

void AgreedForms::take(std::span<const double> least) {
  for (std::size_t n = 0; n < measured_.size(); ++n) {
    const auto& [id, precision] = measured_[n];
    StoredForm& form = forms_.at(id);
    form = StoredForm(precision, form.from, extremes_from(least, n), output_.half);
  }
}

void AgreedForms::report(const CombineInput& input) {
  if (input.communicator.rank() != 0) return;
  for (const auto& [id, precision] : measured_) {
    const std::string& why = forms_.at(id).why_full;
    std::string& last = reported_[id];
    if (why != last && !why.empty()) {
      log::warning("iteration {}: '{}' is stored in full, not as '{}', since {}", input.iteration.index,
                   input.metadata.variables[static_cast<std::size_t>(id)].name, precision.text, why);
    }
    last = why;
  }
}

}  // namespace sidestream
