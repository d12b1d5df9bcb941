#include "energies.hpp"

#include <cmath>

#include "mini_app/output.hpp"

namespace universe {

Energies energies(const State& state) {
  const double a = state.scale_factor();
  std::array<double, 5> sums{};
  for (const Particle& particle : state.particles()) {
    double squared = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      sums[axis] += particle.momentum[axis];
      squared += particle.momentum[axis] * particle.momentum[axis];
    }
    sums[3] += squared;
    sums[4] += std::sqrt(squared);
  }
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, state.layout().comm());
  const double mass = std::pow(static_cast<double>(state.options().cells) / state.options().particles, 3);
  for (double& sum : sums) sum *= mass;
  const double potential = state.gravity().potential_energy(state.density()) / a;
  return {a, sums[3] / (2 * a * a), potential, {sums[0], sums[1], sums[2]}, sums[4]};
}

void write_energies(const Layout& layout, const std::string& file, const std::vector<Energies>& all) {
  mini_app::write_file(layout.comm(), "--energies", file, [&](std::FILE* out) {
    std::fputs("scale_factor,kinetic,potential,momentum_x,momentum_y,momentum_z,speeds\n", out);
    for (const Energies& at : all) {
      std::fprintf(out, "%.12g,%.12g,%.12g,%.6g,%.6g,%.6g,%.12g\n", at.a, at.kinetic, at.potential, at.momentum[0],
                   at.momentum[1], at.momentum[2], at.speeds);
    }
    return std::ferror(out) == 0;
  });
}

}  // namespace universe
