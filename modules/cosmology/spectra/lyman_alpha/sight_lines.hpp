// A server's lines of sight along one axis.
#pragma once

#include <optional>
#include <vector>

#include "cosmology/spectra/line_spectrum.hpp"
#include "cosmology/spectra/lyman_alpha/chosen_lines.hpp"
#include "cosmology/spectra/lyman_alpha/query.hpp"
#include "sidestream/kit/reduce/bins/bins.hpp"

namespace sidestream::lyman_alpha {

/// Sums over lines, independent of how lines are divided among servers.
struct LineSums {
  std::int64_t points = 0;
  ExactSum depth, flux, slope;         ///< of tau, exp(-f tau), tau exp(-f tau), with the axis' factor f
  std::vector<std::int64_t> counts{};  ///< of the flux: bins, below, above, NaN
  Words spectrum{};

  [[nodiscard]] Words words() const;
  /// Adds the result of `words`. Throws Error(internal) if it does not match.
  void add(const Words& words);
};

/// The lines of a server's pencils along one axis.
class SightLines {
 public:
  SightLines(const Query& query, int axis, const Metadata& metadata);

  /// Computes the optical depths of one piece, line after line in the order of for_each_batch. `fields`: hydrogen,
  /// temperature and optionally velocity.
  void measure(std::span<const BlockView* const> fields, const Cosmology& cosmology);
  /// Depths of the lines of a grid; `piece`: the measured one.
  [[nodiscard]] ChosenLines chosen(const LineGrid& grid, const BlockView& piece) const;
  void forget() noexcept;
  [[nodiscard]] bool measured() const noexcept { return !starts_.empty(); }

  /// Means for a factor.
  [[nodiscard]] LineSums means(double factor);
  /// All requested sums, and, if `part` is not null, the field's transform, which replaces the depths.
  [[nodiscard]] LineSums products(double factor, const BlockView* piece, spectra::TransformedPart* part);
  [[nodiscard]] LineSums nothing() const;
  [[nodiscard]] spectra::WaveBox box() const { return spectra::line_box(query_.setup.box, axis_); }
  [[nodiscard]] spectra::FieldSetup setup() const;
  [[nodiscard]] spectra::WaveBins line_bins() const { return query_.bins.bins(box()); }

 private:
  void allocate_depths(const BlockView& piece);
  void add_line(const double* depth, double factor, LineSums& sums, spectra::LineSpectrum* spectrum);

  const Query& query_;
  int axis_;
  Index length_;
  Index3 origin_;
  Bins bins_;
  std::optional<spectra::FirstTransform> transform_;
  std::vector<double> depths_, flux_;
  spectra::TransformedPart transformed_;  ///< holds the depths instead of `depths_` if the field is to be transformed
  std::vector<double*> starts_;           ///< start of each line, in the order of for_each_batch
};

}  // namespace sidestream::lyman_alpha
