// Sessions for benchmarks with one client and one server.
#pragma once

#include <mpi.h>
#include <sidestream/sidestream.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace benchmark {

inline void check(sidestream_session* session, int code, const char* call) {
  if (code == SIDESTREAM_OK) return;
  std::fprintf(stderr, "%s: %s\n", call, sidestream_message(session));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Keeps the server busy for some time, so that the client finds it awake.
inline int spin(const sidestream_input*, void*, char*, void*) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  while (std::chrono::steady_clock::now() < end) {
  }
  return 0;
}

/// Parameters of a measured session.
struct Setting {
  bool sidecar = false;     ///< true with a separate server: see publish.cpp
  bool busy = false;        ///< true if an analysis keeps the server busy for 2 ms
  std::int64_t blocks = 1;  ///< number of blocks of the client
  std::int64_t cells = 1;   ///< float64 values per block
};

/// The configuration of a session. With `sidecar` the server reads it from a file, without the analysis, which is a
/// function of this program.
inline std::string configuration(const Setting& setting) {
  std::string text = setting.sidecar ? "placement: {mode: sidecar, session: benchmark-publish, buffer: 768 MiB}\n"
                                     : "placement: {mode: cores, per_node: 1, buffer: 768 MiB, when_full: wait}\n";
  text +=
      "meshes: {line: {type: uniform, size: [$cells]}}\n"
      "variables: {a: {mesh: line, type: float64, centering: cell}}\n"
      "output: {timings: false, existing: replace}\n";
  if (setting.sidecar) {
    std::FILE* file = std::fopen("publish-sidecar.yaml", "w");
    if (file) std::fputs(text.c_str(), file), std::fclose(file);
  }
  return setting.busy ? text + "analyses:\n  - spin: {variables: [a]}\n" : text;
}

/// Opens a session, runs `client` on the client and serves on the server.
template <class Client>
void with_session(const Setting& setting, Client&& client) {
  const std::string text = configuration(setting);
  sidestream_session* session = nullptr;
  check(nullptr, sidestream_open_text(MPI_COMM_WORLD, text.c_str(), &session), "open");
  sidestream_function function{};
  function.struct_size = sizeof function;
  function.name = "spin";
  function.local = spin;
  if (setting.busy) check(session, sidestream_register_function(session, &function), "register_function");
  if (sidestream_is_server(session)) {
    check(session, sidestream_serve(session), "serve");
  } else {
    check(session, sidestream_set_int(session, "cells", setting.blocks * setting.cells), "set_int");
    for (std::int64_t b = 0; b < setting.blocks; ++b) {
      const std::int64_t lo[3] = {b * setting.cells, 0, 0}, hi[3] = {(b + 1) * setting.cells, 1, 1};
      check(session, sidestream_set_block(session, "line", b, lo, hi), "set_block");
    }
    check(session, sidestream_start(session), "start");
    client(session);
  }
  check(nullptr, sidestream_close(&session), "close");
}

inline void end(sidestream_session* session) {
  check(session, sidestream_end_iteration(session, 0, 0), "end_iteration");
}

/// Writes every element, as a simulation does; the value changes with `step`.
inline void fill(double* values, std::size_t count, int step) {
  for (std::size_t n = 0; n < count; ++n) values[n] = static_cast<double>(n) * 1e-3 + step;
}

/// The rest of the simulation's step: works on 16 MiB of other arrays. So no turn finds its target in the cache because
/// it used it last, and the step takes as long as a short one.
inline void compute(int step) {
  static std::vector<double> others((std::size_t{16} << 20) / sizeof(double));
  fill(others.data(), others.size(), step);
}

}  // namespace benchmark
