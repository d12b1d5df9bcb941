#include "gravity.hpp"

#include <array>
#include <cmath>

#include "spectrum.hpp"

namespace universe {

namespace {

constexpr double pi = 3.14159265358979323846;
// Sums of integer multiples of it hold 2^23 particles in a cell.
constexpr double unit = 0x1p-40;

/// Fourier transform of a cell's box along one axis.
double cell_window(int k, int cells) {
  const double x = pi * k / cells;
  return k == 0 ? 1 : std::sin(x) / x;
}

/// A wave along one axis and its nearest aliases on the mesh, one period away on each side.
struct Aliases {
  std::array<double, 3> k;       ///< the wave itself in the middle
  std::array<double, 3> window;  ///< of depositing and interpolating together
  double sum;                    ///< of the windows of all aliases
};

std::vector<Aliases> aliases_of(int cells) {
  std::vector<Aliases> all;
  for (int n = 0; n < cells; ++n) {
    Aliases found{};
    const int own = n <= cells / 2 ? n : n - cells;
    for (int period = -1; period <= 1; ++period) {
      const int k = own + period * cells;
      const auto at = static_cast<std::size_t>(period + 1);
      found.k[at] = 2 * pi * k / cells;
      found.window[at] = std::pow(cell_window(k, cells), 4);
    }
    found.sum = 1 - 2.0 / 3.0 * std::pow(std::sin(pi * n / cells), 2);
    all.push_back(found);
  }
  return all;
}

/// Influence function of a nonzero mode.
double influence(const std::array<Aliases, 3>& axes) {
  double reached = 0, squared = 0, sum = 1;
  for (std::size_t x = 0; x < 3; ++x) {
    for (std::size_t y = 0; y < 3; ++y) {
      for (std::size_t z = 0; z < 3; ++z) {
        const std::array<double, 3> k{axes[0].k[x], axes[1].k[y], axes[2].k[z]};
        const double window = axes[0].window[x] * axes[1].window[y] * axes[2].window[z];
        const double along = k[0] * axes[0].k[1] + k[1] * axes[1].k[1] + k[2] * axes[2].k[1];
        reached += window * along / (k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
      }
    }
  }
  for (const Aliases& axis : axes) {
    squared += axis.k[1] * axis.k[1];
    sum *= axis.sum;
  }
  return reached / (squared * sum * sum);
}

}  // namespace

Gravity::Gravity(const Layout& layout, const Options& options)
    : layout_(layout), options_(options), fourier_(layout), influence_(fourier_.modes()) {
  const std::vector<Aliases> aliases = aliases_of(layout.cells());
  const auto of = [&](int k) { return aliases[static_cast<std::size_t>(k < 0 ? k + layout.cells() : k)]; };
  fourier_.for_each_mode([&](std::size_t mode, const std::array<int, 3>& k) {
    if (k[0] != 0 || k[1] != 0 || k[2] != 0) influence_[mode] = influence({of(k[0]), of(k[1]), of(k[2])});
  });
}

Field Gravity::density(const Particles& particles) const {
  Field field = deposit(layout_, particles, unit, [](const Particle&) { return 1.0; });
  const double mean = std::pow(static_cast<double>(options_.particles) / options_.cells, 3);
  for (double& value : field) value /= mean;
  return field;
}

Accelerations accelerations(const Vectors& force, const Particles& particles) {
  Accelerations found;
  found.reserve(particles.size());
  for (const Particle& particle : particles) found.push_back(interpolate(force, particle.place));
  return found;
}

void kick(const Accelerations& accelerations, double factor, Particles& particles) {
  for (std::size_t n = 0; n < particles.size(); ++n) {
    for (std::size_t axis = 0; axis < 3; ++axis) particles[n].momentum[axis] += factor * accelerations[n][axis];
  }
}

Vectors Gravity::force(const Field& density) const {
  const int n = layout_.cells();
  const double step = 2 * pi / n, strength = 1.5 * options_.cosmology.matter;
  const Modes modes = fourier_.forward(density);
  Vectors force(layout_);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Modes slope(modes.size());
    fourier_.for_each_mode([&](std::size_t mode, const std::array<int, 3>& k) {
      // The shortest wave has no sign, and so no slope.
      const double along = 2 * std::abs(k[axis]) == n ? 0 : strength * step * k[axis];
      slope[mode] = Complex(0, along * influence_[mode]) * modes[mode];
    });
    put_component(fourier_.backward(std::move(slope)), axis, force);
  }
  fill_halo(layout_, force);
  return force;
}

Field Gravity::smoothed(Field field, double length) const {
  if (!(length > 0)) return field;
  const int n = layout_.cells();
  const double cells = length * n / options_.box;
  std::vector<double> along;
  for (int k = 0; k <= n / 2; ++k) along.push_back(std::exp(-2 * cells * cells * (1 - std::cos(2 * pi * k / n))));
  const auto of = [&](int k) { return along[static_cast<std::size_t>(std::abs(k))]; };
  Modes modes = fourier_.forward(field);
  fourier_.for_each_mode(
      [&](std::size_t mode, const std::array<int, 3>& k) { modes[mode] *= of(k[0]) * of(k[1]) * of(k[2]); });
  return fourier_.backward(std::move(modes));
}

double Gravity::potential_energy(const Field& density) const {
  const int n = layout_.cells();
  const Modes modes = fourier_.forward(density);
  double sum = 0;
  fourier_.for_each_mode([&](std::size_t mode, const std::array<int, 3>& k) {
    sum += (k[0] == 0 || 2 * k[0] == n ? 1 : 2) * influence_[mode] * std::norm(modes[mode]);
  });
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, layout_.comm());
  return -0.75 * options_.cosmology.matter * sum / std::pow(n, 3);
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
