// What a server makes of its lines of sight along one axis.
#pragma once

#include <optional>
#include <vector>

#include "analysis/spectra/line_spectrum.hpp"
#include "analysis/spectra/lyman_alpha/chosen_lines.hpp"
#include "analysis/spectra/lyman_alpha/query.hpp"
#include "reduce/bins/bins.hpp"

namespace sidestream::lyman_alpha {

/// Sums over lines; the same however lines are divided among servers.
struct LineSums {
  std::int64_t points = 0;
  ExactSum depth, flux, slope;         ///< of tau, exp(-f tau), tau exp(-f tau), f the factor of the axis
  std::vector<std::int64_t> counts{};  ///< of the flux: bins, below, above, none
  Words spectrum{};

  [[nodiscard]] Words words() const;
  /// Adds what `words` gave. Throws Error(internal) if that was of something else.
  void add(const Words& words);
};

/// The lines of a server's pencils along one axis.
class SightLines {
 public:
  SightLines(const Query& query, int axis, const Metadata& metadata);

  /// Optical depths of one piece, line after line in the order of for_each_batch; of `fields` hydrogen, temperature and
  /// the velocity, or two of them alone.
  void measure(std::span<const BlockView* const> fields, const Cosmology& cosmology);
  /// Those of the lines that a grid has; `piece` is the one that was measured.
  [[nodiscard]] ChosenLines chosen(const LineGrid& grid, const BlockView& piece) const;
  void forget() noexcept;
  [[nodiscard]] bool measured() const noexcept { return !starts_.empty(); }

  /// Means at a factor.
  [[nodiscard]] LineSums means(double factor);
  /// All that is asked for, and, if `part` is not null, the field's transform, which takes the place of the depths.
  [[nodiscard]] LineSums products(double factor, const BlockView* piece, spectra::TransformedPart* part);
  [[nodiscard]] LineSums nothing() const;
  [[nodiscard]] spectra::WaveBox box() const { return spectra::line_box(query_.setup.box, axis_); }
  [[nodiscard]] spectra::FieldSetup setup() const;
  [[nodiscard]] spectra::WaveBins line_bins() const { return query_.bins.bins(box()); }

 private:
  void make_room(const BlockView& piece);
  void add_line(const double* depth, double factor, LineSums& sums, spectra::LineSpectrum* spectrum);

  const Query& query_;
  int axis_;
  Index length_;
  Index3 origin_;
  Bins bins_;
  std::optional<spectra::FirstTransform> transform_;
  std::vector<double> depths_, flux_;
  spectra::TransformedPart room_;  ///< where depths are in place of `depths_`, if the field is to be transformed
  std::vector<double*> starts_;    ///< of each line, in the order of for_each_batch
};

}  // namespace sidestream::lyman_alpha
