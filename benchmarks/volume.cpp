// A cloud on a uniform mesh, cast on one server by one thread, as the analysis `render` does.
//
// benchmark_volume WHAT FILE [CELLS along each axis = 256] [PIXELS along each axis = 512] [REPETITIONS = 1]
// WHAT: cast (the program prints processor and elapsed time of each repetition), or exact (each ray in steps of a
// sixteenth of a cell, for errors). FILE gets the part of the light that each pixel absorbs, as float32, row by row.
// benchmarks/volume_vtk.py runs it next to VTK's ray caster and compares.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "measure.hpp"
#include "visualisation/graphics/compositing.hpp"
#include "visualisation/graphics/volume_caster.hpp"

using namespace sidestream;
using namespace sidestream::rendering;

namespace {

constexpr Domain unit_cube{{0, 0, 0}, {1, 1, 1}};

/// As in volume_vtk.py.
double field(double x, double y, double z) {
  return 0.5 + 0.5 * std::sin(12 * x + 3 * z) * std::cos(10 * y - 2 * z) * std::cos(7 * z);
}
const std::vector<ExtinctionAt> points{{0, 0}, {0.55, 0}, {0.6, 4}, {0.65, 0}, {0.8, 0}, {1, 30}};

Camera camera_of(int pixels) {
  CameraSettings settings;
  settings.position = Vec3{2.6, 1.9, 1.7};
  settings.focus = Vec3{0.5, 0.5, 0.5};
  settings.up = Vec3{0, 0, 1};
  settings.angle = 30;
  return {settings, unit_cube, {0, 0, static_cast<double>(pixels), static_cast<double>(pixels)}};
}

std::vector<double> values_at_nodes(int cells) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(cells + 1) * (cells + 1) * (cells + 1));
  for (int k = 0; k <= cells; ++k) {
    for (int j = 0; j <= cells; ++j) {
      for (int i = 0; i <= cells; ++i) {
        values.push_back(
            field(static_cast<double>(i) / cells, static_cast<double>(j) / cells, static_cast<double>(k) / cells));
      }
    }
  }
  return values;
}

/// The picture from values at nodes; everything that a server does for it, but for reading the blocks.
std::vector<std::uint8_t> cast(const std::vector<double>& values, int cells, int pixels) {
  const Camera camera = camera_of(pixels);
  const DepthSlabs slabs(camera, unit_cube);
  const TransferFunction function(points, ColourMap("grey"), {-2, -1});  // white wherever there is anything
  VolumeBox box;
  for (auto& faces : box.faces) {
    for (int i = 0; i <= cells; ++i) faces.push_back(static_cast<double>(i) / cells);
  }
  box.numbers.resize(values.size());
  for (std::size_t n = 0; n < values.size(); ++n) box.numbers[n] = function.position(values[n]);
  VolumeCaster caster(camera, pixels, pixels, 1, slabs);
  caster.add(std::move(box), function);
  Drawing drawing(pixels, 0, pixels, 1);
  caster.cast(drawing.slabs);
  Translucency translucency{{}, &camera, slabs};
  return resolve(drawing, pixels, {{0, 0, 0}, {0, 0, 0}}, translucency);
}

double extinction(double value) {
  for (std::size_t n = 1; n < points.size(); ++n) {
    const auto &a = points[n - 1], &b = points[n];
    if (value <= b.value) return a.extinction + (value - a.value) / (b.value - a.value) * (b.extinction - a.extinction);
  }
  return points.back().extinction;
}

/// The absorbed part of the light on a ray, in small steps.
double absorbed(const Vec3& from, const Vec3& along, int cells) {
  double begin = 0, end = 1e30;
  for (std::size_t a = 0; a < 3; ++a) {
    const double p = -from[a] / along[a], q = (1 - from[a]) / along[a];
    begin = std::max(begin, std::min(p, q));
    end = std::min(end, std::max(p, q));
  }
  if (!(begin < end)) return 0;
  const double wanted = 1.0 / (16 * cells), size = length(along);
  const auto steps = static_cast<int>((end - begin) * size / wanted) + 1;
  double depth = 0;
  for (int n = 0; n < steps; ++n) {
    const Vec3 x = add(from, scale(along, begin + (n + 0.5) * (end - begin) / steps));
    depth += extinction(field(x[0], x[1], x[2])) * (end - begin) / steps * size;
  }
  return 1 - std::exp(-depth);
}

void write(const std::string& path, const std::vector<float>& opacity) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(opacity.data()),
             static_cast<std::streamsize>(opacity.size() * sizeof(float)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3)
    return std::fprintf(stderr, "usage: benchmark_volume cast|exact FILE [CELLS] [PIXELS] [REPETITIONS]\n"), 2;
  const std::string what = argv[1];
  const int cells = argc > 3 ? std::atoi(argv[3]) : 256, pixels = argc > 4 ? std::atoi(argv[4]) : 512;
  const int repetitions = argc > 5 ? std::atoi(argv[5]) : 1;
  std::vector<float> opacity;
  if (what == "exact") {
    const Camera camera = camera_of(pixels);
    for (int y = 0; y < pixels; ++y) {
      for (int x = 0; x < pixels; ++x) {
        const Across across = camera.across(x + 0.5, y + 0.5);
        const Vec3 aside = add(scale(camera.right(), across.right), scale(camera.up(), across.up));
        opacity.push_back(static_cast<float>(absorbed(camera.eye(), add(camera.forward(), aside), cells)));
      }
    }
    return write(argv[2], opacity), 0;
  }
  const std::vector<double> values = values_at_nodes(cells);
  for (int n = 0; n < repetitions; ++n) {
    std::vector<std::uint8_t> image;
    double wall = 0;
    const double processor = benchmark::processor_microseconds(
        [&] { wall = benchmark::microseconds([&] { image = cast(values, cells, pixels); }); });
    std::printf("cpu %.1f ms\nwall %.1f ms\n", 1e-3 * processor, 1e-3 * wall);
    opacity.clear();
    for (std::size_t p = 0; p < image.size(); p += 4)
      opacity.push_back(static_cast<float>(to_linear(image[p])) / 65535);
  }
  write(argv[2], opacity);
  return 0;
}
