// Optical depth of a line, cell by cell: each cell adds its absorption to the pixels within its reach.
//
// 1. prepare: for each cell the amplitude A, its position in velocity as pixel and fraction, and dv / b. A cell
//    broadened over more than two periods adds the same depth everywhere.
// 2. add_chunk: 16 cells at a time (lanes), erf_steps computes the differences of erf between the edges of pixels with
//    vector instructions; they are then added to an array with margins of the largest reach.
// 3. run: folds the margins back into the periodic line.
//
// Equation (8) of Friesen et al., "In situ and in-transit analysis of cosmological simulations" (2016); see the header.
#include "cosmology/spectra/lyman_alpha/optical_depth.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace sidestream::lyman_alpha {
namespace {

constexpr double cross_section = 0.011045900074845754;  // pi e^2 / (m_e c) f_12 in cm^2 Hz
constexpr double wave_length = 1.2150227340678867e-5;   // cm
constexpr double boltzmann = 1.38064e-16, proton = 1.672623e-24, megaparsec = 3.08568e24;
constexpr double beyond = 6;      // erfc(6) is 2e-17
constexpr double sharpest = 1e9;  // dv / b for cold cells: practically unbroadened
constexpr double even = 2;        // lines wider than this many periods absorb evenly, to exp(-39)

Index reach_of(double scale) noexcept { return static_cast<Index>(std::ceil(beyond / scale + 0.5)); }

}  // namespace

double Cosmology::expansion() const noexcept {
  const double a = 1 + redshift;
  return std::sqrt(matter * (a * a * a) + dark_energy);
}
double Cosmology::rate() const noexcept { return 100 * hubble * expansion() * 1e5 / megaparsec; }
double Cosmology::velocity(double length) const noexcept { return 1e7 * length * expansion() / (1 + redshift); }
double Cosmology::mean_depth(double density) const noexcept { return cross_section * wave_length * density / rate(); }

OpticalDepth::OpticalDepth(Index cells, double length, const Cosmology& cosmology)
    : n_(cells),
      amplitude_(cosmology.mean_depth(1) / 2),
      step_(cosmology.velocity(length) / static_cast<double>(cells)),
      doppler_(2 * boltzmann / proton) {
  const auto rounded = static_cast<std::size_t>((cells + lanes - 1) / lanes * lanes);
  strength_.assign(rounded, 0);
  inside_.assign(rounded, 0);
  scale_.assign(rounded, 0);
  pixel_.assign(rounded, 0);
}

bool OpticalDepth::prepare(const double* density, const double* temperature, const double* velocity) {
  bool good = true;
  double least = sharpest;
  everywhere_ = 0;
  for (Index i = 0; i < n_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    strength_[at] = amplitude_ * density[i];
    const double place = static_cast<double>(i) + (velocity != nullptr ? velocity[i] / step_ : 0);
    const double pixel = std::floor(place), scale = step_ / std::sqrt(doppler_ * temperature[i]);
    good = good && std::isfinite(strength_[at]) && std::fabs(pixel) < 0x1p52 && scale > 0;
    inside_[at] = place - pixel;
    scale_[at] = std::min(scale, sharpest);
    if (scale_[at] * even * static_cast<double>(n_) < 1) {
      everywhere_ += 2 * strength_[at] / static_cast<double>(n_);
      strength_[at] = 0;
      scale_[at] = sharpest;
    }
    least = std::min(least, scale_[at]);
    if (!good) return false;
    // Usually velocities are below a period and need no division.
    Index wrapped = static_cast<Index>(pixel);
    if (wrapped < 0) wrapped += n_;
    if (wrapped >= n_) wrapped -= n_;
    if (wrapped < 0 || wrapped >= n_) wrapped = (wrapped % n_ + n_) % n_;
    pixel_[at] = wrapped;
  }
  for (std::size_t at = static_cast<std::size_t>(n_); at < scale_.size(); ++at) scale_[at] = sharpest;
  reach_ = std::max<Index>(1, reach_of(least));
  return true;
}

void OpticalDepth::add_chunk(Index first) {
  const double *inside = inside_.data() + first, *scale = scale_.data() + first, *strength = strength_.data() + first;
  const double least = *std::min_element(scale, scale + lanes);
  const Index reach = std::max<Index>(1, reach_of(least));
  std::array<double*, static_cast<std::size_t>(lanes)> to{};
  for (Index l = 0; l < lanes; ++l) {
    to[static_cast<std::size_t>(l)] = padded_.data() + reach_ + pixel_[static_cast<std::size_t>(first + l)];
  }
  erf_steps(reach, inside, scale, strength, steps_.data());
  const double* step = steps_.data();
  for (Index e = -reach; e <= reach + 1; ++e, step += lanes) {
    for (Index l = 0; l < lanes; ++l) to[static_cast<std::size_t>(l)][e] += step[l];
  }
}

void OpticalDepth::run(const double* density, const double* temperature, const double* velocity, double* depth) {
  if (!prepare(density, temperature, velocity)) {
    std::fill_n(depth, n_, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  padded_.assign(static_cast<std::size_t>(n_ + 2 * reach_ + 2), 0);
  steps_.resize(static_cast<std::size_t>((2 * reach_ + 2) * lanes));
  for (Index first = 0; first < n_; first += lanes) add_chunk(first);
  std::copy_n(padded_.data() + reach_, n_, depth);
  for (Index p = 0; p < reach_; ++p) {
    depth[(n_ - 1 - p % n_)] += padded_[static_cast<std::size_t>(reach_ - 1 - p)];
  }
  for (Index p = 0; p < reach_ + 2; ++p) depth[p % n_] += padded_[static_cast<std::size_t>(reach_ + n_ + p)];
  // Where nothing absorbs, differences of equal numbers may be slightly below 0.
  for (Index j = 0; j < n_; ++j) depth[j] = std::max(depth[j], 0.0) + everywhere_;
}

}  // namespace sidestream::lyman_alpha
