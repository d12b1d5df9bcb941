#include "gravity.hpp"

#include <cmath>

#include "spectrum.hpp"

namespace universe {

namespace {

constexpr double pi = 3.14159265358979323846;
// Sums of whole multiples of it hold 2^23 particles in a cell.
constexpr double unit = 0x1p-40;

/// Transform of a cell's box along one axis.
double cell_window(int k, int cells) {
  const double x = pi * k / cells;
  return k == 0 ? 1 : std::sin(x) / x;
}

}  // namespace

Gravity::Gravity(const Layout& layout, const Options& options) : layout_(layout), options_(options), fourier_(layout) {}

Field Gravity::density(const Particles& particles) const {
  Field field = deposit(layout_, particles, unit, [](const Particle&) { return 1.0; });
  const double mean = std::pow(static_cast<double>(options_.particles) / options_.cells, 3);
  for (double& value : field) value /= mean;
  return field;
}

void kick(const Force& force, double factor, Particles& particles) {
  for (Particle& particle : particles) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      particle.momentum[axis] += factor * interpolate(force[axis], particle.place);
    }
  }
}

Force Gravity::force(const Field& density) const {
  const int n = layout_.cells();
  const double step = 2 * pi / n, strength = 1.5 * options_.cosmology.matter;
  Modes modes = fourier_.forward(density);
  fourier_.for_each_mode([&](std::size_t mode, const std::array<int, 3>& k) {
    const int squared = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
    modes[mode] *= squared == 0 ? 0 : strength / (step * step * squared);
  });
  Force force;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Modes slope(modes.size());
    fourier_.for_each_mode([&](std::size_t mode, const std::array<int, 3>& k) {
      // The shortest wave has no sign, and so no slope.
      slope[mode] = 2 * std::abs(k[axis]) == n ? 0 : Complex(0, step * k[axis]) * modes[mode];
    });
    force.push_back(with_halo(layout_, fourier_.backward(slope)));
  }
  return force;
}

std::vector<Gravity::Bin> Gravity::spectrum(const Field& density) const {
  const int n = layout_.cells();
  const double smallest = 2 * pi / options_.box, volume = std::pow(options_.box, 3), count = std::pow(n, 3);
  const Spectrum linear(options_.cosmology);
  const Modes modes = fourier_.forward(density);
  std::vector<Bin> bins(static_cast<std::size_t>(n / 2) + 1);
  fourier_.for_each_mode([&](std::size_t mode, const std::array<int, 3>& k) {
    const double length = std::sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    const auto bin = static_cast<std::size_t>(length + 0.5);
    if (bin == 0 || bin >= bins.size()) return;
    const double weight = k[0] == 0 || 2 * k[0] == n ? 1 : 2;
    const double window = std::pow(cell_window(k[0], n) * cell_window(k[1], n) * cell_window(k[2], n), 2);
    bins[bin].k += weight * length * smallest;
    bins[bin].power += weight * std::norm(modes[mode] / window) * volume / (count * count);
    bins[bin].linear += weight * linear(length * smallest);
    bins[bin].modes += weight;
  });
  static_assert(sizeof(Bin) == 4 * sizeof(double));
  MPI_Allreduce(MPI_IN_PLACE, bins.data(), static_cast<int>(4 * bins.size()), MPI_DOUBLE, MPI_SUM, layout_.comm());
  bins.erase(bins.begin());
  for (Bin& bin : bins) {
    bin.k /= bin.modes;
    bin.power /= bin.modes;
    bin.linear /= bin.modes;
  }
  return bins;
}

}  // namespace universe
