#include "analysis/distribution/bin_counts.hpp"

#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "analysis/distribution/block_lines.hpp"

namespace sidestream {

Option normalisation_option() {
  return {
      .name = "normalise",
      .type = OptionType::choice,
      .default_value = "counts",
      .text =
          "A column `density` of what is in each interval, counts or weights: `density`, by all that is in intervals "
          "and the interval's width, so that its integral is 1; `gimlet`, by the sum over all intervals of what is in "
          "them times their width, as Gimlet does, which is no density where widths differ. `counts`: no such column.",
      .choices = {"counts", "density", "gimlet"}};
}

Normalisation read_normalisation(const Settings& settings) {
  const std::string& how = settings.text("normalise");
  return how == "density" ? Normalisation::density : how == "gimlet" ? Normalisation::gimlet : Normalisation::counts;
}

Option bin_scale_option(const std::string& name) {
  return {
      .name = name,
      .type = OptionType::choice,
      .default_value = "linear",
      .text =
          "`logarithmic`: edges are at equal ratios, 10^(l + n (h - l) / bins) with the logarithms l and h of the range; "
          "values that are not above 0 lie below it.",
      .choices = {"linear", "logarithmic"}};
}

const Variable& read_companion(const Settings& settings, const std::string& option, const Variable& variable,
                               const Metadata& metadata) {
  const Variable* other = metadata.find_variable(settings.text(option));
  if (other == nullptr) {
    settings.fail(option,
                  fmt::format("there is no variable '{}'; declare it under `variables`", settings.text(option)));
  }
  if (other->mesh != variable.mesh || other->centering != variable.centering || other->role != variable.role) {
    settings.fail(option,
                  fmt::format("'{}' does not lie in the same points as '{}'; name a variable of the same mesh and "
                              "centering",
                              other->name, variable.name));
  }
  if (other->components != 1) {
    settings.fail(option, fmt::format("'{}' has {} components, expected one; derive it: `{}[0]`", other->name,
                                      other->components, other->name));
  }
  return *other;
}

std::vector<double> densities(const std::vector<double>& edges, const std::vector<double>& amounts, Normalisation how) {
  ExactSum total;
  for (std::size_t n = 0; n < amounts.size(); ++n) {
    if (how == Normalisation::gimlet) {
      total.add_product(amounts[n], edges[n + 1] - edges[n]);
    } else {
      total.add(amounts[n]);
    }
  }
  const double all = total.value();
  std::vector<double> result;
  for (std::size_t n = 0; n < amounts.size(); ++n) {
    const double width = how == Normalisation::density ? edges[n + 1] - edges[n] : 1;
    const double value = amounts[n] / (all * width);
    result.push_back(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
  }
  return result;
}

BinCounts::BinCounts(const Bins& bins, bool weighted) : bins_(bins) {
  const std::size_t count = bins.edges().size() - 1;
  for (Words& counts : counts_) counts.assign(count + 3, 0);
  if (weighted) sums_.resize(count);
}

void BinCounts::add(const BlockView& values, int component) {
  for_each_line<1>({{{&values, component}}}, [&](std::span<const double* const, 1> lines, Index count) {
    bins_.count(lines[0], count, counts_[0].data(), counts_[1].data());
  });
}

void BinCounts::add(const BlockView& values, int component, const BlockView& weights, int weight_component) {
  for_each_line<2>({{{&values, component}, {&weights, weight_component}}},
                   [&](std::span<const double* const, 2> lines, Index count) {
                     for (Index i = 0; i < count; ++i) {
                       const std::size_t slot = bins_.slot(lines[0][i]);
                       ++counts_[0][slot];
                       if (slot < sums_.size()) sums_[slot].add(lines[1][i]);
                     }
                   });
}

Words BinCounts::words() const {
  Words words = counts_[0];
  for (std::size_t n = 0; n < words.size(); ++n) words[n] += counts_[1][n];
  words.reserve(words.size() + sums_.size() * ExactSum::words);
  for (const ExactSum& sum : sums_) {
    const auto form = sum.serialise();
    words.insert(words.end(), form.begin(), form.end());
  }
  return words;
}

std::vector<double> weights_of(std::span<const std::int64_t> forms) {
  std::vector<double> weights;
  for (; !forms.empty(); forms = forms.subspan(ExactSum::words)) {
    weights.push_back(ExactSum::deserialise(forms.first<ExactSum::words>()).value());
  }
  return weights;
}

}  // namespace sidestream
