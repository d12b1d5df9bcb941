#include "initial.hpp"

#include <array>
#include <cmath>

#include "fourier.hpp"
#include "spectrum.hpp"

namespace universe {

namespace {

constexpr double pi = 3.14159265358979323846;

/// splitmix64 (Steele et al. 2014): 64 random bits for each number.
std::uint64_t mixed(std::uint64_t n) {
  n += 0x9e3779b97f4a7c15U;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9U;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebU;
  return n ^ (n >> 31);
}

/// A complex normal number with mean square modulus 1 (Box and Muller 1958). It belongs to the wave and not to the
/// lattice: a finer lattice has the same long waves. That of -k is the conjugate.
Complex normal(std::uint64_t seed, std::array<int, 3> k) {
  const bool turned = k < std::array<int, 3>{0, 0, 0};
  std::uint64_t index = 0;
  for (const int along : k) index = index << 21 | static_cast<std::uint64_t>((turned ? -along : along) + (1 << 20));
  const std::uint64_t first = mixed(mixed(seed) ^ (2 * index)), second = mixed(mixed(seed) ^ (2 * index + 1));
  const double u = (static_cast<double>(first >> 11) + 1) * 0x1p-53, v = static_cast<double>(second >> 11) * 0x1p-53;
  return std::polar(std::sqrt(-std::log(u)), (turned ? -2 : 2) * pi * v);
}

/// Calls `visit(index of the site, {x, y, z})` in the order of fields. If the grid is as fine as the lattice, sites are
/// the corners of cells. From there a small displacement changes the clouds' overlap with cells in proportion, whatever
/// its sign. Lattices of all sizes share the box's corner, and so the same waves.
template <typename Visit>
void each_site(const Layout& lattice, const Visit& visit) {
  const auto n = static_cast<std::int64_t>(lattice.cells());
  for (std::int64_t z = lattice.z().lo; z < lattice.z().hi; ++z) {
    for (std::int64_t y = lattice.y().lo; y < lattice.y().hi; ++y) {
      for (std::int64_t x = 0; x < n; ++x) {
        visit((z * n + y) * n + x, std::array<std::int64_t, 3>{x, y, z});
      }
    }
  }
}

/// The linear field of a lattice today: its modes, and fields derived by multiplication with wave numbers.
class LinearField {
 public:
  LinearField(const Layout& lattice, const Options& options) : lattice_(lattice), fourier_(lattice) {
    density_.resize(fourier_.modes());
    const Spectrum spectrum(options.cosmology);
    const int n = lattice.cells();
    const double sites = std::pow(n, 3), each = sites * sites / std::pow(options.box, 3);
    fourier_.for_each_mode([&](std::size_t mode, const std::array<int, 3>& k) {
      // The shortest waves have no sign, and so no gradient.
      for (const int along : k) {
        if (2 * std::abs(along) == n) return;
      }
      const double length = 2 * pi / options.box * std::sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
      density_[mode] = std::sqrt(spectrum(length) * each) * normal(options.seed, k);
    });
  }

  /// Component `axis` of minus the gradient of the potential whose Laplacian has the modes `source`, in sites.
  [[nodiscard]] Field minus_gradient(const Modes& source, std::size_t axis) const {
    Modes modes(source.size());
    fourier_.for_each_mode([&](std::size_t mode, const std::array<int, 3>& k) {
      modes[mode] = Complex(0, along(k, axis) / squared(k)) * source[mode];
    });
    return fourier_.backward(modes);
  }

  /// Scoccimarro's source of the second order: the sum over i > j of phi_ii phi_jj - phi_ij^2.
  [[nodiscard]] Modes second_source() const {
    const Field xx = curvature(0, 0), yy = curvature(1, 1), zz = curvature(2, 2);
    Field sum(xx.size());
    for (std::size_t n = 0; n < sum.size(); ++n) sum[n] = xx[n] * yy[n] + xx[n] * zz[n] + yy[n] * zz[n];
    for (const auto& [i, j] : {std::pair{1U, 0U}, {2U, 0U}, {2U, 1U}}) {
      const Field mixed_part = curvature(i, j);
      for (std::size_t n = 0; n < sum.size(); ++n) sum[n] -= mixed_part[n] * mixed_part[n];
    }
    return fourier_.forward(sum);
  }

  [[nodiscard]] const Modes& density() const { return density_; }

 private:
  /// A wave number in 1 / site; 0 for the one without a sign, for which a real field has no derivative.
  [[nodiscard]] double along(const std::array<int, 3>& k, std::size_t axis) const {
    return 2 * std::abs(k[axis]) == lattice_.cells() ? 0 : 2 * pi / lattice_.cells() * k[axis];
  }
  [[nodiscard]] double squared(const std::array<int, 3>& k) const {
    const double unit = 2 * pi / lattice_.cells();
    const double sum = unit * unit * (k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    return sum > 0 ? sum : 1;  // the mean has no potential; its wave numbers are 0
  }
  /// Second derivative of the first-order potential.
  [[nodiscard]] Field curvature(std::size_t i, std::size_t j) const {
    Modes modes(density_.size());
    fourier_.for_each_mode([&](std::size_t mode, const std::array<int, 3>& k) {
      modes[mode] = along(k, i) * along(k, j) / squared(k) * density_[mode];
    });
    return fourier_.backward(modes);
  }

  const Layout& lattice_;
  Fourier fourier_;
  Modes density_;
};

/// A share of the particles on their sites.
Particles at_rest(const Layout& lattice, double scale) {
  Particles particles;
  each_site(lattice, [&](std::int64_t id, const std::array<std::int64_t, 3>& site) {
    Particle particle{{}, {}, id};
    for (std::size_t axis = 0; axis < 3; ++axis) particle.place[axis] = static_cast<double>(site[axis]) * scale;
    particles.push_back(particle);
  });
  return particles;
}

/// Displaces particles by a plane wave, along straight lines until it crosses itself (Zel'dovich 1970).
void add_wave(const Options& options, int cells, double a, double speed, Particles& particles) {
  const Cosmology& c = options.cosmology;
  const double k = 2 * pi / cells, grown = c.growth(a) / c.growth(1 / (1 + *options.wave));
  const auto axis = static_cast<std::size_t>(options.wave_axis);
  for (Particle& particle : particles) {
    const double moved = -grown / k * std::sin(k * particle.place[axis]);
    particle.place[axis] += moved;
    particle.momentum[axis] += speed * c.growth_rate(a) * moved;
  }
}

/// Displaces particles by a random field.
void add_field(const Layout& lattice, const Options& options, double a, double speed, Particles& particles) {
  const LinearField field(lattice, options);
  const Cosmology& c = options.cosmology;
  const double scale = static_cast<double>(options.cells) / options.particles;
  const auto add = [&](const Modes& source, double growth, double rate) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Field moved = field.minus_gradient(source, axis);
      for (std::size_t n = 0; n < particles.size(); ++n) {
        particles[n].place[axis] += growth * scale * moved[n];
        particles[n].momentum[axis] += speed * rate * growth * scale * moved[n];
      }
    }
  };
  add(field.density(), c.growth(a), c.growth_rate(a));
  if (options.order == 2) add(field.second_source(), -c.second_growth(a), c.second_growth_rate(a));
}

}  // namespace

Particles displaced(const Layout& layout, const Options& options, double a) {
  const Layout lattice(layout.comm(), options.particles);
  Particles particles = at_rest(lattice, static_cast<double>(layout.cells()) / options.particles);
  // Momenta are a^2 dx/dt, and dD/dt = rate E D.
  const double speed = a * a * options.cosmology.expansion(a);
  if (options.wave) {
    add_wave(options, layout.cells(), a, speed, particles);
  } else {
    add_field(lattice, options, a, speed, particles);
  }
  for (Particle& particle : particles) {
    for (double& place : particle.place) place = wrapped(place, layout.cells());
  }
  return particles;
}

}  // namespace universe
