// Gas between galaxies, with fields from the density of hash_field.hpp by formulas. The tables of flux and optical
// depth under tests/data/cosmology are of these fields. With r = density / mean, at redshift 3,
//   T = 1e4 K r^0.6, and no less than 1000 K (a power law of temperature and density as the photoheated gas has it);
//   n_HI = c r^2 T^-0.7 (ionisation by an even background in equilibrium; with this c the mean optical depth is 2.3);
//   velocity: of the growing mode, v_a(n) = V i n_a / |n|^2 times the transform of ln r, n the whole wave numbers.
// The two constants are those of the fields that the tables were made of. tau_rays_igm64_dir*.csv have some values of
// these.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "support/hash_field.hpp"

namespace sidestream::testing {

/// Fields on n^3 cells, with index (x n + y) n + z.
struct IgmFields {
  std::vector<double> over_mean;                ///< density / its mean
  std::vector<double> temperature;              ///< K
  std::vector<double> hydrogen;                 ///< neutral, per physical cm^3
  std::array<std::vector<double>, 3> velocity;  ///< peculiar, cm/s
};

using Modes = std::vector<std::complex<double>>;

/// The Fourier transform by the definition, one axis after the other: sums of values times exp(sign 2 pi i n x / N).
inline Modes transformed(Modes values, std::int64_t n, int sign) {
  const auto size = static_cast<std::size_t>(n);
  Modes waves, line(size);
  for (std::int64_t i = 0; i < n; ++i) {
    waves.push_back(std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n)));
  }
  for (const std::size_t stride : {size * size, size, std::size_t{1}}) {
    for (std::size_t start = 0; start < values.size(); ++start) {
      if (start / stride % size != 0) continue;
      for (std::size_t i = 0; i < size; ++i) line[i] = values[start + i * stride];
      for (std::size_t mode = 0; mode < size; ++mode) {
        double real = 0, imaginary = 0;
        for (std::size_t i = 0; i < size; ++i) {
          const std::complex<double>&wave = waves[i * mode % size], &x = line[i];
          real += wave.real() * x.real() - wave.imag() * x.imag();
          imaginary += wave.real() * x.imag() + wave.imag() * x.real();
        }
        values[start + mode * stride] = {real, imaginary};
      }
    }
  }
  return values;
}

/// The velocity along an axis, from the transform of the logarithm of the density.
inline std::vector<double> growing_velocity(const Modes& logarithm, std::int64_t n, std::size_t axis) {
  constexpr double scale = 69254827.46684095;  // cm/s
  Modes modes(logarithm.size());
  for (std::int64_t i = 1; i < n * n * n; ++i) {
    std::array<std::int64_t, 3> wave{i / n / n, i / n % n, i % n};
    std::int64_t square = 0;
    for (std::int64_t& m : wave) {
      if (2 * m >= n) m -= n;
      square += m * m;
    }
    // The mode at the Nyquist frequency is its own mirror image, and in a real field it has no imaginary part.
    if (2 * wave[axis] == -n) continue;
    const double factor = scale * static_cast<double>(wave[axis]) / static_cast<double>(square);
    modes[static_cast<std::size_t>(i)] = std::complex<double>(0, factor) * logarithm[static_cast<std::size_t>(i)];
  }
  std::vector<double> velocity;
  for (const std::complex<double>& value : transformed(std::move(modes), n, 1)) {
    velocity.push_back(value.real() / static_cast<double>(n * n * n));
  }
  return velocity;
}

inline IgmFields igm_fields(std::int64_t n) {
  IgmFields gas;
  gas.over_mean = HashField(n).values();
  long double sum = 0;
  for (const double density : gas.over_mean) sum += density;
  const auto mean = static_cast<double>(sum / static_cast<long double>(n * n * n));
  Modes logarithm;
  for (double& r : gas.over_mean) {
    r /= mean;
    gas.temperature.push_back(std::max(1e3, 1e4 * std::pow(r, 0.6)));
    gas.hydrogen.push_back(5.128219259693866e-8 * (r * r) * std::pow(gas.temperature.back(), -0.7));
    logarithm.emplace_back(std::log(r));
  }
  logarithm = transformed(std::move(logarithm), n, -1);
  for (std::size_t a = 0; a < 3; ++a) gas.velocity[a] = growing_velocity(logarithm, n, a);
  return gas;
}

}  // namespace sidestream::testing
