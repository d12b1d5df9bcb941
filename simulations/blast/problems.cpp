#include "problems.hpp"

#include <cmath>
#include <numbers>
#include <random>

namespace blast {

namespace {

constexpr double cold = 1e-5;  // pressure before the shock, too low to affect the blast

// The standard library's distributions differ between implementations.
double random(std::mt19937_64& engine) { return std::ldexp(static_cast<double>(engine() >> 11), -53); }

}  // namespace

Start::Start(const Options& options) : options_(options), blast_(options.blast()) {
  if (options.problem == Problem::turbulence) make_eddies();
}

void Start::make_eddies() {
  std::mt19937_64 engine(options_.seed);
  double power = 0;
  for (int i = 0; i <= 3; ++i) {
    for (int j = i > 0 ? -3 : 0; j <= 3; ++j) {
      for (int k = i > 0 || j > 0 ? -3 : 1; k <= 3; ++k) {  // one of each pair of opposite waves
        const double square = i * i + j * j + k * k;
        if (square > 9) continue;
        Eddy eddy{{double(i), double(j), double(k)}, {}, 2 * std::numbers::pi * random(engine)};
        for (double& push : eddy.push) push = 2 * random(engine) - 1;
        double along = 0;
        for (std::size_t a = 0; a < 3; ++a) along += eddy.push[a] * eddy.wave[a] / square;
        for (std::size_t a = 0; a < 3; ++a) {
          eddy.push[a] = (eddy.push[a] - along * eddy.wave[a]) / square;
          power += 0.5 * eddy.push[a] * eddy.push[a];
        }
        eddies_.push_back(eddy);
      }
    }
  }
  for (Eddy& eddy : eddies_)
    for (double& push : eddy.push) push *= options_.mach / std::sqrt(power);
}

// The instability of Kelvin and Helmholtz with layers of finite thickness, which converges (McNally, Lyra and Passy
// 2012, section 2), here with a second mode that varies along z. The middle half of the cube is twice as dense.
Values Start::streams(const Leaf& leaf) const {
  const double x = 2 * std::numbers::pi * leaf.centre(0), z = 2 * std::numbers::pi * leaf.centre(2);
  const double inside = 0.25 - std::abs(leaf.centre(1) - 0.5);  // distance from the nearer layer
  const double tail = 0.5 * std::exp(-std::abs(inside) / options_.width);
  const double share = inside < 0 ? tail : 1 - tail;
  const double push = 0.01 * (std::sin(2 * x) + std::sin(x) * std::cos(z));
  return {1 + share, 0.5 - share, push, 0, 2.5};
}

Values Start::gas(const Leaf& leaf) const {
  if (blast_) return {1, 0, 0, 0, cold};
  if (options_.problem == Problem::wave) {
    const double along = leaf.centre(0) + leaf.centre(1) + leaf.centre(2);
    return {1 + 0.2 * std::sin(2 * std::numbers::pi * along), 1, 1, 1, 1};
  }
  if (options_.problem == Problem::shear) return streams(leaf);
  if (eddies_.empty()) return {1, 0.3, -0.2, 0.1, 1};
  Values w{1, 0, 0, 0, 1 / options_.gamma};  // a sound speed of 1
  for (const Eddy& eddy : eddies_) {
    double turns = 0;
    for (int a = 0; a < 3; ++a) turns += eddy.wave[static_cast<std::size_t>(a)] * leaf.centre(a);
    const double swing = std::cos(2 * std::numbers::pi * turns + eddy.phase);
    for (std::size_t a = 0; a < 3; ++a) w[1 + a] += eddy.push[a] * swing;
  }
  return w;
}

double Start::distance(const Leaf& leaf) const {
  const double middle = options_.problem == Problem::octant ? 0 : 0.5;
  double square = 0;
  for (int a = 0; a < 3; ++a) square += (leaf.centre(a) - middle) * (leaf.centre(a) - middle);
  return std::sqrt(square);
}

bool Start::finest(const Leaf& leaf) const {
  const double radius = options_.radius * std::ldexp(1.0, -options_.most);
  // Flows with a known solution are refined somewhere, too, which must not change them.
  const double reach = blast_ ? 2 * radius : options_.known() ? 0.2 : -2.0;
  return distance(leaf) < reach + 0.9 * leaf.size();
}

void Start::ignite(const Forest& forest, std::vector<Values>& conserved) const {
  if (!blast_) return;
  const double radius = options_.radius * std::ldexp(1.0, -options_.most);
  // Volumes in units of the smallest cells: sums of integers do not depend on the order.
  const auto volume = [&](const Leaf& leaf) { return std::int64_t{1} << 3 * (options_.most - leaf.level); };
  std::int64_t all = 0;
  for (std::size_t n = 0; n < forest.local(); ++n) {
    if (distance(forest.leaves()[n]) < radius) all += volume(forest.leaves()[n]);
  }
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, forest.comm());
  const double energy = options_.problem == Problem::octant ? 0.125 : 1.0;
  const double density = energy / (static_cast<double>(all) * std::ldexp(1.0, -3 * options_.most));
  for (std::size_t n = 0; n < forest.local(); ++n) {
    if (distance(forest.leaves()[n]) < radius) conserved[n][4] += density;
  }
}

}  // namespace blast
