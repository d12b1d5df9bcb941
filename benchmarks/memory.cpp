// Memory of a server beyond its buffer.
//
//   mpirun -n 2 benchmark_memory [BUFFER_MIB [isosurface]]    (rank 0 is the client, rank 1 the server; default 512)
//
// 20 iterations of a field that fills a quarter of the buffer go through statistics, a histogram, a slice and the HDF5
// writer. With `isosurface` also three surfaces of it, whose triangles are held in memory. The server's peak resident
// memory, less that before the session opened, is compared with the design's limit: the buffer, a tenth of it and 64
// MiB. The ratio comes last.
#include <mpi.h>
#include <sidestream/sidestream.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace {

void check(sidestream_session* session, int code, const char* call) {
  if (code == SIDESTREAM_OK) return;
  std::fprintf(stderr, "%s: %s\n", call, sidestream_message(session));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// A line of /proc/self/status, in MiB.
double status_mib(const char* name) {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  char line[256];
  double kib = 0;
  while (file && std::fgets(line, sizeof line, file)) {
    if (std::strncmp(line, name, std::strlen(name)) == 0) kib = std::atof(line + std::strlen(name) + 1);
  }
  if (file) std::fclose(file);
  return kib / 1024;
}

std::string configuration(int buffer, std::int64_t n, bool surfaces) {
  const std::string size = std::to_string(n);
  return "placement: {mode: cores, buffer: " + std::to_string(buffer) +
         " MiB}\n"
         "meshes: {grid: {type: uniform, size: [" +
         size + ", " + size + ", " + size +
         "]}}\n"
         "variables: {t: {mesh: grid}}\n"
         "output: {directory: memory-results, existing: replace, timings: false}\n"
         "analyses:\n  - statistics: {variable: t}\n  - histogram: {variable: t, bins: 64}\n"
         "  - slice: {variable: t, axis: z, position: " +
         std::to_string(n / 2) + ", file: \"s-{index:05}.vtp\"}\n" +
         (surfaces ? "  - isosurface: {variable: t, values: [0.4, 0.5, 0.6], file: \"i-{index:05}.vtp\"}\n" : "") +
         "outputs:\n  - hdf5: {variables: [t], every: 5}\n";
}

/// Distance from the mesh's centre, in units of its width, with a little moving noise: spheres with rough surfaces.
void fill(std::vector<double>& t, std::int64_t n, int step) {
  const auto from_centre = [n](std::int64_t i) {
    return (static_cast<double>(i) + 0.5) / static_cast<double>(n) - 0.5;
  };
  std::size_t at = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i, ++at) {
        const double x = from_centre(i), y = from_centre(j), z = from_centre(k);
        t[at] = std::sqrt(x * x + y * y + z * z) + 0.02 * std::sin(0.7 * static_cast<double>(i + j + k + step));
      }
    }
  }
}

void simulate(sidestream_session* session, std::int64_t n) {
  const std::int64_t lo[3] = {0, 0, 0}, hi[3] = {n, n, n};
  check(session, sidestream_set_block(session, "grid", 0, lo, hi), "set_block");
  check(session, sidestream_start(session), "start");
  std::vector<double> t(static_cast<std::size_t>(n * n * n));
  for (int step = 0; step < 20; ++step) {
    fill(t, n, step);
    check(session, sidestream_publish(session, "t", 0, t.data()), "publish");
    check(session, sidestream_end_iteration(session, step, step), "end_iteration");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int buffer = argc > 1 ? std::max(16, std::atoi(argv[1])) : 512;
  const bool surfaces = argc > 2 && std::strcmp(argv[2], "isosurface") == 0;
  const auto n = static_cast<std::int64_t>(std::cbrt(buffer * 1048576.0 / 4 / 8));
  const double before = status_mib("VmRSS:");
  sidestream_session* session = nullptr;
  check(nullptr, sidestream_open_text(MPI_COMM_WORLD, configuration(buffer, n, surfaces).c_str(), &session), "open");
  double peak = 0;
  const bool server = sidestream_is_server(session) != 0;
  if (server) {
    check(session, sidestream_serve(session), "serve");
    peak = status_mib("VmHWM:");
  } else {
    simulate(session, n);
  }
  check(session, sidestream_close(&session), "close");
  if (server) {
    std::filesystem::remove_all("memory-results");
    const double allowed = 1.1 * buffer + 64;
    std::printf("buffer                            %8d MiB\n", buffer);
    std::printf("server before the session         %8.1f MiB\n", before);
    std::printf("server at its peak                %8.1f MiB\n", peak);
    std::printf("ratio of what the session added to what is allowed %8.3f   (at most 1 wanted)\n",
                (peak - before) / allowed);
  }
  MPI_Finalize();
  return 0;
}
