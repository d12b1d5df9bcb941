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

namespace {

/// Neighbours are often in the same interval, and then one addition would wait for the other: each of so many has a row
/// of its own, as long as all rows stay in the nearest cache. Rows are no power of two long, since they would want the
/// same places of it.
constexpr std::size_t turns = 16, most_places = 1024, row_length = most_places + 16;

/// Adds one for each place. Meanwhile values far behind `values`, those of the next places, are fetched.
void count_places(const std::uint16_t* places, Index n, const double* values, std::uint32_t* rows) noexcept {
  Index i = 0;
  for (; i + static_cast<Index>(turns) <= n; i += static_cast<Index>(turns)) {
    __builtin_prefetch(values + i + BinGuess::most);
    __builtin_prefetch(values + i + BinGuess::most + 8);
#pragma GCC unroll 16
    for (std::size_t turn = 0; turn < turns; ++turn) ++rows[turn * row_length + places[i + static_cast<Index>(turn)]];
  }
  for (; i < n; ++i) ++rows[places[i]];
}

/// Calls f(i) for the places that are `mark`, which are few.
template <class F>
void for_marked(const std::uint16_t* places, Index n, std::uint16_t mark, F&& f) {
  constexpr Index together = 64;
  for (Index first = 0; first < n; first += together) {
    const Index end = std::min(n, first + together);
    int marked = 0;
    for (Index i = first; i < end; ++i) marked |= places[i] == mark ? 1 : 0;
    for (Index i = first; i < end && marked != 0; ++i) {
      if (places[i] == mark) f(i);
    }
  }
}

}  // namespace

BinCounts::BinCounts(const Bins& bins, bool weighted) : bins_(bins), guess_(bins) {
  const std::size_t count = bins.edges().size() - 1;
  counts_.assign(count + 3, 0);
  if (weighted) {
    sums_.resize(count);
  } else if (guess_.possible()) {
    places_ = count + 2;
    row_ = places_ <= most_places ? row_length : places_;
    rows_.assign(places_ <= most_places ? turns * row_ : row_, 0);
  }
}

void BinCounts::add(const double* values, Index count) {
  std::array<std::uint16_t, static_cast<std::size_t>(BinGuess::most)> places;  // NOLINT: read where it was written
  const auto below = bins_.edges().size() - 1;
  const auto mark = static_cast<std::uint16_t>(places_);
  for (Index first = 0; first < count; first += BinGuess::most) {
    const Index n = std::min(BinGuess::most, count - first);
    const double* const v = values + first;
    const BinGuess::Found found = guess_.run(v, n, places.data());
    counts_[below + 2] += found.none;
    counts_[below] -= found.none;  // where the guess has put them
    const auto put_right = [&](Index i) {
      const std::size_t slot = bins_.slot(v[i]);
      places[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(slot < below        ? slot + 1
                                                                       : slot == below + 1 ? below + 1
                                                                                           : 0);
    };
    if (found.unsure > 0) for_marked(places.data(), n, mark, put_right);
    if (places_ <= most_places) {
      count_places(places.data(), n, v, rows_.data());
    } else {
      for (Index i = 0; i < n; ++i) ++rows_[places[static_cast<std::size_t>(i)]];
    }
  }
  recent_ += count;
  if (recent_ > Index{1} << 31) collect();
}

void BinCounts::collect() {
  const std::size_t count = bins_.edges().size() - 1;
  for (std::size_t n = 0; n < rows_.size(); ++n) {
    const std::size_t place = n % row_;
    if (place >= places_) continue;
    counts_[place == 0 ? count : place == count + 1 ? count + 1 : place - 1] += rows_[n];
    rows_[n] = 0;
  }
  recent_ = 0;
}

void BinCounts::add(const BlockView& values, int component) {
  for_each_line<1>({{{&values, component}}}, [&](std::span<const double* const, 1> lines, Index count) {
    if (places_ > 0) return add(lines[0], count);
    for (Index i = 0; i < count; ++i) ++counts_[bins_.slot(lines[0][i])];
  });
}

void BinCounts::add(const BlockView& values, int component, const BlockView& weights, int weight_component) {
  for_each_line<2>({{{&values, component}, {&weights, weight_component}}},
                   [&](std::span<const double* const, 2> lines, Index count) {
                     for (Index i = 0; i < count; ++i) {
                       const std::size_t slot = bins_.slot(lines[0][i]);
                       ++counts_[slot];
                       if (slot < sums_.size()) sums_[slot].add(lines[1][i]);
                     }
                   });
}

Words BinCounts::words() {
  collect();
  Words words = counts_;
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
