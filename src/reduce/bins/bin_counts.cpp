// Counting of values by interval. BinGuess gives a place for each of up to 1024 values at a time; values whose interval
// is unsure are counted by Bins::slot. Counts by place lie in several rows that are used in turn, because neighbouring
// values are often in the same interval and one addition would have to wait for the other. Rows are added up now and
// then. With weights, or where guesses are not possible, every value is looked up.
#include "sidestream/kit/reduce/bins/bin_counts.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>

#include "sidestream/kit/reduce/bins/bins.hpp"

namespace sidestream {

std::string normalisation_text() {
  return "Adds a column `density` with the content of each interval, counts or weights, divided by a total. "
         "`density`: by the content of all intervals and the interval's width, so that the integral is 1. `gimlet`: "
         "by the sum over all intervals of content times width, as Gimlet does, which is no density where widths "
         "differ. `counts`: no such column.";
}

std::string bin_scale_text() {
  return "`logarithmic`: edges have equal ratios, 10^(l + n (h - l) / bins) with the logarithms l and h of the range; "
         "values that are not above 0 lie below it.";
}

void require_companion(const Settings& settings, const std::string& option, const Variable& other,
                       const Variable& variable) {
  if (other.mesh != variable.mesh || other.centering != variable.centering || other.role != variable.role) {
    settings.fail(option,
                  fmt::format("'{}' does not lie in the same points as '{}'; name a variable of the same mesh and "
                              "centering",
                              other.name, variable.name));
  }
  if (other.components != 1) {
    settings.fail(option, fmt::format("'{}' has {} components, expected one; derive it: `{}[0]`", other.name,
                                      other.components, other.name));
  }
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

/// Adds one for each place. Meanwhile it prefetches the values of the next places, far behind `values`.
void count_places(const std::uint16_t* places, Index n, const double* values, std::uint32_t* rows) noexcept {
  Index i = 0;
  for (; i + static_cast<Index>(CountRows::turns) <= n; i += static_cast<Index>(CountRows::turns)) {
    __builtin_prefetch(values + i + BinGuess::most);
#pragma GCC unroll 8
    for (std::size_t turn = 0; turn < CountRows::turns; ++turn) {
      ++rows[turn * CountRows::length + places[i + static_cast<Index>(turn)]];
    }
  }
  for (; i < n; ++i) ++rows[places[i]];
}

/// Calls f(i) for the places that equal `mark`; they are few.
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

BinCounts::BinCounts(const Bins& bins, bool weighted, WideCounts wide) : bins_(bins), guess_(bins) {
  const std::size_t count = bins.edges().size() - 1;
  counts_.assign(count + 3, 0);
  if (weighted) {
    sums_.resize(count);
  } else if (guess_.possible()) {
    places_ = count + 2;
    const bool few = places_ <= CountRows::most_places;
    row_ = few ? CountRows::length : places_ + 1;
    rows_.assign(few ? CountRows::turns * row_ : row_, 0);
    wide_ = few ? wide : nullptr;
  }
}

void BinCounts::add(const double* values, Index count) {
  Index done = 0;
  while (wide_ != nullptr && count - done >= wide_group) {
    const Index n = std::min(most_wide_counts, (count - done) / wide_group * wide_group);
    add_wide(values + done, n);
    done += n;
  }
  for (; done < count; done += BinGuess::most) add_some(values + done, std::min(BinGuess::most, count - done));
  recent_ += count;
  if (recent_ > Index{1} << 31) collect();
}

void BinCounts::add_wide(const double* values, Index count) {
  Unsure unsure;
  wide_(values, count, guess_.rule(), rows_.data(), unsure);
  take_none(unsure.none);
  constexpr std::size_t together = 16;  // unsure values are few
  const auto groups = static_cast<std::size_t>(count / wide_group);
  for (std::size_t first = 0; first < groups; first += together) {
    const std::size_t end = std::min(groups, first + together);
    unsigned any = 0;
    for (std::size_t g = first; g < end; ++g) any |= unsure.bits[g];
    for (std::size_t g = first; g < end && any != 0; ++g) {
      for (unsigned bits = unsure.bits[g]; bits != 0; bits &= bits - 1) {
        ++counts_[bins_.slot(
            values[g * static_cast<std::size_t>(wide_group) + static_cast<std::size_t>(std::countr_zero(bits))])];
      }
    }
  }
}

void BinCounts::take_none(Index count) {
  const auto below = bins_.edges().size() - 1;
  counts_[below + 2] += count;
  counts_[below] -= count;  // the guess has counted them there
}

void BinCounts::add_some(const double* values, Index count) {
  std::array<std::uint16_t, static_cast<std::size_t>(BinGuess::most)> places;  // NOLINT: read where it was written
  const BinGuess::Found found = guess_.run(values, count, places.data());
  take_none(found.none);
  if (found.unsure > 0) {
    for_marked(places.data(), count, guess_.rule().unsure, [&](Index i) { ++counts_[bins_.slot(values[i])]; });
  }
  if (places_ <= CountRows::most_places) return count_places(places.data(), count, values, rows_.data());
  for (Index i = 0; i < count; ++i) ++rows_[places[static_cast<std::size_t>(i)]];
}

void BinCounts::collect() {
  const std::size_t count = bins_.edges().size() - 1;
  for (std::size_t n = 0; n < rows_.size(); ++n) {
    const std::size_t place = n % row_;
    // The last place has the unsure values, which are already counted.
    if (place < places_) counts_[place == 0 ? count : place == count + 1 ? count + 1 : place - 1] += rows_[n];
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
