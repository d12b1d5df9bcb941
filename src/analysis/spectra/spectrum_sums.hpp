// What is summed of modes, bin by bin, and the table that it becomes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/spectra/line_transform.hpp"
#include "analysis/spectra/wave_bins.hpp"
#include "reduce/words.hpp"
#include "sidestream/data/result.hpp"
#include "sidestream/extend/exact_sum.hpp"

namespace sidestream::spectra {

/// By which window particles were assigned to cells, and is divided out of modes: the power p of the product over the
/// axes of sin(pi n / N) / (pi n / N). 0: none, 1: nearest grid point, 2: cloud in cell, 3: triangular shaped cloud.
struct Deconvolution {
  int power = 0;
  /// The inverse square of the window of mode `n` of `points`.
  [[nodiscard]] double factor(Index n, Index points) const noexcept;
};

/// Sums of |X|^2 of modes, of one variable or of two and their product. Within a line of modes numbers are added in the
/// order of the line, and what a line gives to a bin is added exactly: whoever has which lines, the sums are the same.
class SpectrumSums {
 public:
  explicit SpectrumSums(const WaveBins& bins, bool pair = false);

  /// A line of modes n = 0 ... points / 2 along one axis, `points` along it: `squares` of the wave numbers, in units of
  /// the fundamental, are those, ascending, plus `offset`. `first[n]` is the sum of |X|^2 over n and, but for 0 and
  /// points / 2, -n; `second` and `cross` (Re X Y*) of two variables. All of them stand for `weight` lines of equal
  /// values.
  struct Line {
    double offset = 0;
    int weight = 1;
    Index points = 0;
    const std::vector<double>* squares = nullptr;
    std::span<const double> first{}, second{}, cross{};
  };
  void add(const Line& line);
  /// Takes over which modes are in the bins, and the sums of their wave numbers, from sums of the same lines. Lines
  /// that are added then give their powers alone.
  void know_modes(const SpectrumSums& of);

  [[nodiscard]] Words words();
  /// Adds what `words` gave somewhere. Throws Error(internal) if that was of something else.
  void add(const Words& words);
  /// Collective: to the sums of all servers, on all.
  void combine(Communicator& servers);

  /// Factors of the table.
  struct Scale {
    std::array<double, 2> power{1, 1};  ///< of |X|^2 of each variable
    double noise = 0;                   ///< taken off the first's and the second's power
    double unit = 1;                    ///< of wave numbers
    int dimensions = 3;
  };
  /// A row for each bin: bin, k_lower, k_upper, k (mean over the modes), k_weighted (by power), modes, power,
  /// dimensionless; of two variables second, cross, correlation besides.
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
  /// Brings what was added last to the sums.
  void settle() noexcept;
  /// Of settled sums.
  [[nodiscard]] double value(std::size_t bin, std::size_t quantity) const {
    return sums_[bin * quantities() + quantity].value();
  }

  WaveBins bins_;
  bool pair_;
  std::vector<std::int64_t> modes_;
  std::vector<ExactSum> sums_;
  std::vector<WindowSum> recent_;                ///< before the sums
  bool modes_known_ = false;                     ///< modes, and sums of wave numbers, are complete
  std::vector<double> squared_, waves_, moved_;  ///< of the line at hand: k^2, k, k |X|^2
};

/// Tables of the axes 0, 1, 2 below each other, with a first column that says which.
[[nodiscard]] Table table_by_axis(const std::vector<int>& axes, const std::vector<std::vector<Column>>& tables);

/// k^d P / (2 pi^2), / (2 pi), / pi in 3, 2 and 1 dimensions: what an interval of ln k gives to the variance.
[[nodiscard]] double dimensionless(double k, double power, int dimensions) noexcept;

}  // namespace sidestream::spectra
