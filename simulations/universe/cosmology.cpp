#include "cosmology.hpp"

#include <cmath>
#include <functional>

namespace universe {

namespace {

/// Simpson's rule with a fixed number of intervals: bitwise reproducible.
double integral(const std::function<double(double)>& f, double from, double to, int intervals = 512) {
  const double h = (to - from) / intervals;
  double sum = f(from) + f(to);
  for (int n = 1; n < intervals; ++n) sum += (n % 2 == 1 ? 4 : 2) * f(from + n * h);
  return sum * h / 3;
}

/// The integral of 1 / (a E)^3 from 0, where the integrand behaves as a^1.5.
double grown(const Cosmology& c, double a) {
  // With a = u^2 the integrand is smooth.
  return integral(
      [&](double u) {
        const double at = u * u;
        return at == 0 ? 0.0 : 2 * u / std::pow(at * c.expansion(at), 3);
      },
      0, std::sqrt(a));
}

double unnormalised_growth(const Cosmology& c, double a) { return 2.5 * c.matter * c.expansion(a) * grown(c, a); }

}  // namespace

double Cosmology::expansion(double a) const { return std::sqrt(matter / (a * a * a) + 1 - matter); }

double Cosmology::matter_at(double a) const {
  const double e = expansion(a);
  return matter / (a * a * a * e * e);
}

double Cosmology::growth(double a) const { return unnormalised_growth(*this, a) / unnormalised_growth(*this, 1); }

double Cosmology::growth_rate(double a) const {
  return -1.5 * matter_at(a) + a / std::pow(a * expansion(a), 3) / grown(*this, a);
}

double Cosmology::second_growth(double a) const {
  const double d = growth(a);
  return -3.0 / 7.0 * d * d * std::pow(matter_at(a), -1.0 / 143.0);
}

double Cosmology::second_growth_rate(double a) const { return 2 * std::pow(matter_at(a), 6.0 / 11.0); }

double drift(const Cosmology& c, double from, double to) {
  return integral([&](double a) { return 1 / (a * a * a * c.expansion(a)); }, from, to, 32);
}

double kick(const Cosmology& c, double from, double to) {
  return integral([&](double a) { return 1 / (a * a * c.expansion(a)); }, from, to, 32);
}

}  // namespace universe
