#include "spectrum.hpp"

#include <cmath>

namespace universe {

namespace {

constexpr double pi = 3.14159265358979323846;

/// Equations 19 and 20, q as in equation 10.
double pressureless(double q, double alpha, double beta) {
  const double c = 14.2 / alpha + 386 / (1 + 69.9 * std::pow(q, 1.08));
  const double logarithm = std::log(std::exp(1.0) + 1.8 * beta * q);
  return logarithm / (logarithm + c * q * q);
}

/// Fourier transform of a ball.
double window(double x) { return x < 1e-3 ? 1 - x * x / 10 : 3 * (std::sin(x) - x * std::cos(x)) / (x * x * x); }

}  // namespace

Spectrum::Spectrum(const Cosmology& cosmology) : cosmology_(cosmology) {
  const double h2 = cosmology.hubble * cosmology.hubble;
  const double m = cosmology.matter * h2, b = cosmology.baryons * h2, f = cosmology.baryons / cosmology.matter;
  const double warm = std::pow(2.7255 / 2.7, -2);
  const double z_equality = 2.5e4 * m * warm * warm;
  equality_ = 7.46e-2 * m * warm;
  const double b1 = 0.313 * std::pow(m, -0.419) * (1 + 0.607 * std::pow(m, 0.674)), b2 = 0.238 * std::pow(m, 0.223);
  const double z_drag = 1291 * std::pow(m, 0.251) / (1 + 0.659 * std::pow(m, 0.828)) * (1 + b1 * std::pow(b, b2));
  const auto inertia = [&](double z) { return 31.5 * b * warm * warm * 1000 / z; };
  const double r_drag = inertia(z_drag), r_equality = inertia(z_equality);
  horizon_ = 2 / (3 * equality_) * std::sqrt(6 / r_equality) *
             std::log((std::sqrt(1 + r_drag) + std::sqrt(r_drag + r_equality)) / (1 + std::sqrt(r_equality)));
  silk_ = 1.6 * std::pow(b, 0.52) * std::pow(m, 0.73) * (1 + std::pow(10.4 * m, -0.95));
  const double a1 = std::pow(46.9 * m, 0.670) * (1 + std::pow(32.1 * m, -0.532));
  const double a2 = std::pow(12.0 * m, 0.424) * (1 + std::pow(45.0 * m, -0.582));
  alpha_c_ = std::pow(a1, -f) * std::pow(a2, -f * f * f);
  const double c1 = 0.944 / (1 + std::pow(458 * m, -0.708)), c2 = std::pow(0.395 * m, -0.0266);
  beta_c_ = 1 / (1 + c1 * (std::pow(1 - f, c2) - 1));
  const double y = (1 + z_equality) / (1 + z_drag), root = std::sqrt(1 + y);
  const double g = y * (-6 * root + (2 + 3 * y) * std::log((root + 1) / (root - 1)));
  alpha_b_ = 2.07 * equality_ * horizon_ * std::pow(1 + r_drag, -0.75) * g;
  beta_b_ = 0.5 + f + (3 - 2 * f) * std::sqrt(17.2 * m * 17.2 * m + 1);
  node_ = 8.41 * std::pow(m, 0.435);
  amplitude_ = std::pow(cosmology.sigma8 / sigma(8), 2);
  if (cosmology.warm > 0) {
    free_streaming_ = 0.049 * std::pow(cosmology.warm, -1.11) *
                      std::pow((cosmology.matter - cosmology.baryons) / 0.25, 0.11) *
                      std::pow(cosmology.hubble / 0.7, 1.22);
  }
}

double Spectrum::warm(double k) const {
  constexpr double nu = 1.12;
  return std::pow(1 + std::pow(free_streaming_ * k, 2 * nu), -5 / nu);
}

double Spectrum::dark_matter(double k) const {
  const double q = k / (13.41 * equality_);
  const double f = 1 / (1 + std::pow(k * horizon_ / 5.4, 4));
  return f * pressureless(q, 1, beta_c_) + (1 - f) * pressureless(q, alpha_c_, beta_c_);
}

double Spectrum::baryons(double k) const {
  const double q = k / (13.41 * equality_), ks = k * horizon_;
  const double shifted = ks / std::cbrt(1 + std::pow(node_ / ks, 3));
  const double wave = shifted < 1e-4 ? 1 : std::sin(shifted) / shifted;
  return (pressureless(q, 1, 1) / (1 + std::pow(ks / 5.2, 2)) +
          alpha_b_ / (1 + std::pow(beta_b_ / ks, 3)) * std::exp(-std::pow(k / silk_, 1.4))) *
         wave;
}

double Spectrum::transfer(double k) const {
  const double f = cosmology_.baryons / cosmology_.matter, in_mpc = k * cosmology_.hubble;
  return (f * baryons(in_mpc) + (1 - f) * dark_matter(in_mpc)) * warm(k);
}

double Spectrum::operator()(double k) const {
  if (!(k > 0)) return 0;
  const double t = transfer(k);
  return amplitude_ * std::pow(k, cosmology_.tilt) * t * t;
}

double Spectrum::sigma(double radius) const {
  // Integrated over ln k, where the integrand is smooth, by the trapezoidal rule.
  constexpr int steps = 4096;
  const double from = std::log(1e-4 / radius), to = std::log(1e2 / radius);
  double sum = 0;
  for (int n = 0; n <= steps; ++n) {
    const double k = std::exp(from + (to - from) * n / steps), w = window(k * radius);
    sum += (*this)(k)*w * w * k * k * k * (n == 0 || n == steps ? 0.5 : 1);
  }
  return std::sqrt(sum * (to - from) / steps / (2 * pi * pi));
}

}  // namespace universe
