#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>

#include "input.hpp"

namespace oscillators {

namespace {

// SplitMix64 (Steele, Lea, Flood 2014): the same numbers everywhere, unlike the standard library's distributions.
class Numbers {
 public:
  double next(double low, double high) {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return low + (high - low) * (static_cast<double>(z >> 11) * 0x1p-53);
  }

 private:
  std::uint64_t state_ = 1024;
};

}  // namespace

std::string generate_oscillators(int count) {
  std::string text =
      "# Made by 'oscillators --generate " + std::to_string(count) + "'.\n# type x y z radius omega0 [zeta]\n";
  Numbers numbers;
  for (int n = 0; n < count; ++n) {
    // Around a (2, 3) torus knot in the middle of the unit cube, with some scatter.
    const double along = 2 * std::numbers::pi * n / count;
    const double ring = 0.25 + 0.10 * std::cos(3 * along);
    const double x = 0.5 + ring * std::cos(2 * along) + numbers.next(-0.04, 0.04);
    const double y = 0.5 + ring * std::sin(2 * along) + numbers.next(-0.04, 0.04);
    const double z = 0.5 + 0.22 * std::sin(3 * along) + numbers.next(-0.04, 0.04);
    const double radius = numbers.next(0.012, 0.03);
    const double omega0 = numbers.next(0.6, 1.6);
    const double zeta = numbers.next(0.05, 0.4);
    constexpr const char* kinds[4] = {"periodic", "damped", "periodic", "decaying"};
    char line[160];
    int length = std::snprintf(line, sizeof line, "%s %.5f %.5f %.5f %.5f %.4f", kinds[n % 4], x, y, z, radius, omega0);
    if (n % 4 == 1) std::snprintf(line + length, sizeof line - static_cast<std::size_t>(length), " %.3f", zeta);
    text += line;
    text += '\n';
  }
  return text;
}

}  // namespace oscillators
