// Publishes everything that sidestream/amrex.hpp takes, on levels that move. Usage: program CONFIGURATION STEPS
// [GHOSTS]
#include <iostream>
#include <sidestream/amrex.hpp>

#include "moving.hpp"

namespace {

template <class Container>
Container container(const moving::Fields& fields, const amrex::Vector<amrex::Geometry>& geometries) {
  const auto levels = static_cast<std::ptrdiff_t>(fields.levels);
  return {amrex::Vector<amrex::Geometry>(geometries.begin(), geometries.begin() + levels), fields.ranks, fields.boxes,
          amrex::Vector<amrex::IntVect>(static_cast<std::size_t>(levels), amrex::IntVect(2))};
}

void publish(sidestream::AmrexSession& side, int step, sidestream::AmrexGhosts ghosts) {
  const moving::Fields fields(step);
  const auto geometries = moving::geometries();
  const auto ratios = moving::ratios();
  auto mixed = container<moving::Mixed>(fields, geometries);
  auto pure = container<moving::Pure>(fields, geometries);
  mixed.AddRealComp();
  moving::fill(mixed, fields, step);
  moving::fill(pure, fields, step);
  side.publish_items(
      10 * step, 0.25 * step,
      sidestream::amrex_fields(fields.levels, fields.state, {"phi", "a/b"}, geometries, ratios).with(ghosts),
      sidestream::amrex_fields(fields.levels, fields.nodal, {"potential"}, geometries, ratios),
      sidestream::amrex_faces(fields.levels, fields.faces, "flux", geometries, ratios),
      sidestream::amrex_fields(fields.levels, fields.marks, {"mark"}, geometries, ratios),
      sidestream::amrex_particles(mixed, "mixed", {"mass", "v_x", "v_y", "w"}, {"kind", "colour"}),
      sidestream::amrex_particles(pure, "pure"));
}

int run(int argc, char** argv) {
  sidestream::AmrexSession side(argc, argv, argv[1]);
  if (side.is_server()) return side.serve();
  amrex::Initialize(argc, argv, false, side.comm());
  const int steps = std::atoi(argv[2]);
  const auto ghosts = argc > 3 ? sidestream::AmrexGhosts::given : sidestream::AmrexGhosts::left_out;
  for (int step = 1; step <= steps; ++step) publish(side, step, ghosts);
  amrex::Finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const sidestream::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
