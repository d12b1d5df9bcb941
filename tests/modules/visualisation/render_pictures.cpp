// Writes pictures of known surfaces as PNG, and the colour maps as text, for test_render_vtk.py. Usage: render_pictures
// DIRECTORY
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "sidestream/kit/analysis/chart.hpp"
#include "storage/formats/kinds.hpp"
#include "support/fake_domain.hpp"
#include "visualisation/graphics/colour.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// The Python test has the same formulas.
double sphere(const std::array<double, 3>& x, const Index3&, int) {
  return std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}
double gyroid(const std::array<double, 3>& x, const Index3&, int) {
  const double k = 5;
  return std::sin(k * x[0]) * std::cos(k * x[1]) + std::sin(k * x[1]) * std::cos(k * x[2]) +
         std::sin(k * x[2]) * std::cos(k * x[0]);
}

void write_pictures(const std::string& directory) {
  const FakeDomain domain = fake_cube(32, -1, 1, {{"sphere", sphere}, {"gyroid", gyroid}});
  const Division blocks = random_division(domain.mesh().cells, 6, 3);
  const std::string view = "camera: {position: [2.2, -3.1, 1.7], focus: [0.1, 0, -0.05], angle: 40";
  const std::string plain =
      ", size: [300, 240], samples: 1, outline: false, colour_bar: false, caption: none, "
      "background: black";
  for (const std::string surface : {"sphere", "gyroid"}) {
    const std::string value = surface == "sphere" ? "0.8" : "0.3";
    for (const std::string projection : {"perspective", "parallel"}) {
      const std::string yaml = "{isosurface: {variable: " + surface + ", values: " + value + ", colour: white}, " +
                               view + ", projection: " + projection + "}" + plain + "}";
      const Image image = run_alone(render_kind(), yaml, domain, blocks).images.begin()->second;
      png_format().image(directory + "/" + surface + "-" + projection + ".png", image, "made by a test: \u00e4\u00b2");
    }
  }
  Image alpha{2, 1, {10, 20, 30, 40, 250, 240, 230, 255}};
  png_format().image(directory + "/alpha.png", alpha, "");
}

void write_maps(const std::string& directory) {
  std::ofstream file(directory + "/maps.txt");
  for (const std::string& name : colour_map_names()) {
    const rendering::ColourMap map(name);
    for (int i = 0; i < 256; ++i) {
      const rendering::Colour c = map.at(i / 255.0);
      file << name << ' ' << i << ' ' << int{c.red} << ' ' << int{c.green} << ' ' << int{c.blue} << '\n';
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    if (argc == 2) {
      write_pictures(argv[1]);
      write_maps(argv[1]);
      status = 0;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "render_pictures: %s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
