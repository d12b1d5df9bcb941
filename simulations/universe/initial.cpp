#include "initial.hpp"

#include <array>
#include <cmath>

#include "fourier.hpp"
#include "spectrum.hpp"

namespace universe {

namespace {

constexpr double pi = 3.14159265358979323846;

/// splitmix64 (Steele et al. 2014): a number of 64 random bits for each number.
std::uint64_t mixed(std::uint64_t n) {
  n += 0x9e3779b97f4a7c15U;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9U;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebU;
  return n ^ (n >> 31);
}

/// Normally distributed, of variance 1 (Box and Muller 1958).
double normal(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t first = mixed(mixed(seed) ^ (2 * index)), second = mixed(mixed(seed) ^ (2 * index + 1));
  const double u = (static_cast<double>(first >> 11) + 1) * 0x1p-53, v = static_cast<double>(second >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * pi * v);
}

/// Calls `visit(index of the site, {x, y, z})` in the order of fields.
template <typename Visit>
void each_site(const Layout& lattice, const Visit& visit) {
  const auto n = static_cast<std::int64_t>(lattice.cells());
  for (std::int64_t z = lattice.z().lo; z < lattice.z().hi; ++z) {
    for (std::int64_t y = lattice.y().lo; y < lattice.y().hi; ++y) {
      for (std::int64_t x = 0; x < n; ++x) {
        visit((z * n + y) * n + x, std::array<double, 3>{x + 0.5, y + 0.5, z + 0.5});
      }
    }
  }
}

/// The linear field today, of a lattice: modes, and what follows from them by multiplying with wave numbers.
class LinearField {
 public:
  LinearField(const Layout& lattice, const Options& options) : lattice_(lattice), fourier_(lattice) {
    Field noise;
    each_site(lattice, [&](std::int64_t index, const auto&) {
      noise.push_back(normal(options.seed, static_cast<std::uint64_t>(index)));
    });
    density_ = fourier_.forward(noise);
    const Spectrum spectrum(options.cosmology);
    const double n = lattice.cells(), each = std::pow(n / options.box, 3);
    fourier_.for_each_mode([&](std::size_t mode, const std::array<int, 3>& k) {
      const double length = 2 * pi / options.box * std::sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
      density_[mode] *= std::sqrt(spectrum(length) * each);
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
  /// A wave number in 1 / site; 0 for the one that has no sign, of which a real field has no derivative.
  [[nodiscard]] double along(const std::array<int, 3>& k, std::size_t axis) const {
    return 2 * std::abs(k[axis]) == lattice_.cells() ? 0 : 2 * pi / lattice_.cells() * k[axis];
  }
  [[nodiscard]] double squared(const std::array<int, 3>& k) const {
    const double unit = 2 * pi / lattice_.cells();
    const double sum = unit * unit * (k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    return sum > 0 ? sum : 1;  // the mean has no potential; its wave numbers are 0
  }
  /// Second derivative of the potential of the first order.
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

}  // namespace

Particles displaced(const Layout& layout, const Options& options, double a) {
  const Layout lattice(layout.comm(), options.particles);
  const LinearField field(lattice, options);
  const Cosmology& c = options.cosmology;
  const double first = c.growth(a), second = options.order == 2 ? -c.second_growth(a) : 0;
  // Momenta are a^2 dx/dt, and dD/dt = rate E D.
  const double speed = a * a * c.expansion(a), scale = static_cast<double>(layout.cells()) / options.particles;
  Particles particles;
  each_site(lattice, [&](std::int64_t id, const std::array<double, 3>& site) {
    particles.push_back({{site[0] * scale, site[1] * scale, site[2] * scale}, {0, 0, 0}, id});
  });
  const auto add = [&](const Modes& source, double growth, double rate) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Field moved = field.minus_gradient(source, axis);
      for (std::size_t n = 0; n < particles.size(); ++n) {
        particles[n].place[axis] += growth * scale * moved[n];
        particles[n].momentum[axis] += speed * rate * growth * scale * moved[n];
      }
    }
  };
  add(field.density(), first, c.growth_rate(a));
  if (options.order == 2) add(field.second_source(), second, c.second_growth_rate(a));
  for (Particle& particle : particles) {
    for (double& place : particle.place) place = wrapped(place, layout.cells());
  }
  return particles;
}

}  // namespace universe
