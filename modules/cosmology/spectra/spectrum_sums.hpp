// Sums of modes by bin, and the table of results.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cosmology/spectra/line_transform.hpp"
#include "cosmology/spectra/wave_bins.hpp"
#include "sidestream/data/result.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/reduce/words.hpp"

namespace sidestream::spectra {

/// Window of the assignment of particles to cells, removed from modes by division: the power p of the product over the
/// axes of sin(pi n / N) / (pi n / N). 0: none, 1: nearest grid point, 2: cloud in cell, 3: triangular shaped cloud.
struct Deconvolution {
  int power = 0;
  /// Inverse square of the window for mode `n` of `points`.
  [[nodiscard]] double factor(Index n, Index points) const noexcept;
};

/// Sums of |X|^2 of modes for one variable, or for two and their product. Within a line, numbers are added in the order
/// of modes, and a line's contribution to a bin is added exactly. So the sums do not depend on the division of lines.
class SpectrumSums {
 public:
  explicit SpectrumSums(const WaveBins& bins, bool pair = false);

  /// A line of modes n = 0 ... points / 2 along one axis with `points` points. `squares`, ascending, plus `offset` are
  /// the squares of the wave numbers, in units of the fundamental. `first[n]` is the sum of |X|^2 over n and, except
  /// for 0 and points / 2, -n; likewise `second` and `cross` (Re X Y*) for two variables. The line counts `weight`
  /// times.
  struct Line {
    double offset = 0;
    int weight = 1;
    Index points = 0;
    const std::vector<double>* squares = nullptr;
    std::span<const double> first{}, second{}, cross{};
  };
  void add(const Line& line);
  /// Takes the numbers of modes in the bins, and the sums of their wave numbers, from sums of the same lines. Lines
  /// that are added later only contribute their powers.
  void know_modes(const SpectrumSums& of);

  [[nodiscard]] Words words();
  /// Adds the result of `words`. Throws Error(internal) if it does not match.
  void add(const Words& words);
  /// Replaces the sums by those over all servers, on all of them. Collective.
  void combine(Communicator& servers);

  /// Factors of the table.
  struct Scale {
    std::array<double, 2> power{1, 1};  ///< factor of |X|^2 of each variable
    double noise = 0;                   ///< subtracted from the first's and the second's power
    double unit = 1;                    ///< unit of wave numbers
    int dimensions = 3;
  };
  /// A row for each bin: bin, k_lower, k_upper, k (mean over the modes), k_weighted (by power), modes, power,
  /// dimensionless; for two variables also second, cross, correlation.
  [[nodiscard]] std::vector<Column> columns(const Scale& scale);

 private:
  enum Quantity : std::size_t { wave = 0, power = 1, weighted = 2, other = 3, product = 4 };
  [[nodiscard]] std::size_t quantities() const noexcept { return pair_ ? 5 : 3; }
  void add_to(std::size_t bin, std::size_t quantity, double x) {
    const std::size_t n = bin * quantities() + quantity;
    recent_[n].add(x, sums_[n]);
  }
  void add_modes(const Line& line, std::size_t bin, std::size_t from, std::size_t to);
  void add_pair(const Line& line, std::size_t bin, std::size_t from, std::size_t to);
  /// Adds the recent sums to the exact ones.
  void settle() noexcept;
  /// Value of a settled sum.
  [[nodiscard]] double value(std::size_t bin, std::size_t quantity) const {
    return sums_[bin * quantities() + quantity].value();
  }

  WaveBins bins_;
  bool pair_;
  std::vector<std::int64_t> modes_;
  std::vector<ExactSum> sums_;
  std::vector<WindowSum> recent_;                ///< accumulators in front of the sums
  bool modes_known_ = false;                     ///< numbers of modes, and sums of wave numbers, are complete
  std::vector<double> squared_, waves_, moved_;  ///< for the current line: k^2, k, k |X|^2
};

/// Concatenates the tables of axes 0, 1, 2, with a first column for the axis.
[[nodiscard]] Table table_by_axis(const std::vector<int>& axes, const std::vector<std::vector<Column>>& tables);

/// k^d P / (2 pi^2), / (2 pi), / pi in 3, 2 and 1 dimensions: the contribution of an interval of ln k to the variance.
[[nodiscard]] double dimensionless(double k, double power, int dimensions) noexcept;

}  // namespace sidestream::spectra
