// One isosurface of a uniform mesh on one server: only the kernel, with the file, and with the picture.
//
// benchmark_isosurface WHAT [CELLS along each axis = 255] [RADIANS of the field along each axis = 80] [REPETITIONS = 1]
// WHAT: plain, normals (only the kernel), vtp, vtkhdf (with normals, in a file), picture (1024 x 1024, four samples a
// pixel, as by default; including the PNG). Prints processor and elapsed time of each repetition, and last the peak
// memory besides the input. benchmarks/isosurface_vtk.py runs it next to VTK's filters and compares.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include "measure.hpp"
#include "storage/formats/kinds.hpp"
#include "surface_run.hpp"
#include "visualisation/contour/surface_shares.hpp"
#include "visualisation/graphics/compositing.hpp"
#include "visualisation/graphics/drawn_rows.hpp"

using namespace sidestream;

namespace {

/// Bytes resident now; also resets the peak.
double resident() {
  std::ofstream("/proc/self/clear_refs") << "5";
  std::ifstream statm("/proc/self/statm");
  double all = 0, pages = 0;
  statm >> all >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double peak() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib * 1024;
  }
  return 0;
}

IsosurfaceQuery query_of(const benchmark::Run& run, bool normals) {
  IsosurfaceQuery query;
  query.variable = run.field();
  query.values = {0.3};
  query.normals = normals;
  query.single = true;
  return query;
}

std::size_t extract_only(const benchmark::Run& run, bool normals) {
  std::size_t triangles = 0;
  for (const Piece& piece : extract(query_of(run, normals), run.input())) triangles += piece.triangles.size();
  return triangles;
}

std::size_t write_file(const benchmark::Run& run, const std::string& path) {
  const IsosurfaceQuery query = query_of(run, true);
  const OrderedSurface surface(extract(query, run.input()), {{}, true, query.values, Type::float32});
  const ResultFormat format = path.ends_with(".vtp") ? vtp_format() : vtkhdf_format();
  format.surface(path, surface, {}, "");
  return surface.triangles();
}

/// Draws as the analysis `render` does, without outline and caption.
void draw(const benchmark::Run& run, const std::string& path) {
  using namespace rendering;
  constexpr int size = 1024, samples = 2;
  const Camera camera({}, {}, {0, 0, size * samples, size * samples});
  Drawing drawing(size * samples, 0, size * samples, samples);
  Rasteriser rasteriser(camera, drawing);
  Material material;
  material.layer = 1;
  material.later = true;
  material.colour = {92, 140, 190};
  const auto distance = [&](const Vec3& place) { return camera.see(place).ahead; };
  extract_rows(query_of(run, true), run.input(), distance, [&](std::size_t) {
    rasteriser.begin(material, true, false);
    return std::make_unique<DrawnRows>(rasteriser);
  });
  Shades shades;
  shades.set(1, material.colour);
  shades.apply(camera, drawing.opaque);
  const Background white{{255, 255, 255}, {255, 255, 255}};
  png_format().image(path, {size, size, resolve(drawing, size, white, {})}, "");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: benchmark_isosurface WHAT [CELLS] [RADIANS] [REPETITIONS]\n"), 2;
  const std::string what = argv[1];
  const benchmark::Sizes sizes{argc > 2 ? std::atoll(argv[2]) : 255};
  const double waves = argc > 3 ? std::atof(argv[3]) : 80;
  const int repetitions = argc > 4 ? std::atoi(argv[4]) : 1;
  const std::string name = "benchmark-isosurface-" + std::to_string(::getpid());
  const std::string stem = (std::filesystem::temp_directory_path() / name).string();
  const benchmark::Run run(MeshKind::uniform, sizes, waves);
  const double before = resident();
  std::size_t triangles = 0;
  for (int n = 0; n < repetitions; ++n) {
    const std::string path = stem + (what == "picture" ? ".png" : "." + what);
    const std::clock_t start = std::clock();
    const double wall = benchmark::microseconds([&] {
      if (what == "vtp" || what == "vtkhdf") {
        triangles = write_file(run, path);
      } else if (what == "picture") {
        draw(run, path);
      } else {
        triangles = extract_only(run, what == "normals");
      }
    });
    const double processor = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    std::printf("cpu %.1f ms\nwall %.1f ms\n", 1000 * processor, wall / 1000);
    std::error_code none;
    const auto bytes = std::filesystem::file_size(path, none);
    if (!none) std::printf("file %.1f MB\n", static_cast<double>(bytes) / 1e6);
    if (const char* keep = std::getenv("KEEP_FILE")) std::filesystem::rename(path, keep, none);
    std::filesystem::remove(path, none);
  }
  std::printf("triangles %zu\npeak %.1f MB\n", triangles, (peak() - before) / 1e6);
  return 0;
}
