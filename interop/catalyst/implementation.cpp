// The entry points that libcatalyst looks up: one data symbol with five functions.
//
// Catalyst's interface has no handle, so one coupled run is the state of the process. Nothing leaves these functions
// but a status: exceptions end here. A dropped iteration is no failure of the host, so only a run that cannot start at
// all has a status other than 0, once.
#include <sidestream/version.h>
#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

#include "coupling.hpp"

namespace {

using sidestream::catalyst::Coupling;
using sidestream::catalyst::Node;

/// The statuses of Catalyst: success, and the first one that is an implementation's own.
enum Status : int { status_ok = 0, status_failed = 100 };

/// The run between `initialize` and `finalize`.
std::unique_ptr<Coupling>& run() {
  static std::unique_ptr<Coupling> current;
  return current;
}

template <class Function>
Status guarded(const Function& function) noexcept {
  try {
    function();
    return status_ok;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sidestream: %s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "sidestream: an unknown exception ended a call of Catalyst\n");
  }
  return status_failed;
}

Node root(const void* node, const char* name) { return {const_cast<void*>(node), name}; }

Status initialize(const void* node) {
  return guarded([&] {
    run().reset();
    run() = std::make_unique<Coupling>(root(node, "initialize"));
  });
}

Status execute(const void* node) {
  if (!run()) {
    static bool said = false;
    if (!std::exchange(said, true))
      std::fputs("sidestream: execute was called before initialize, or after finalize; nothing is published\n", stderr);
    return status_failed;
  }
  bool goes_on = true;
  const Status status = guarded([&] { goes_on = run()->execute(root(node, "execute")); });
  return goes_on ? status : status_failed;
}

Status finalize(const void*) {
  if (!run()) return status_ok;
  const Status status = guarded([] { run()->finalize(); });
  run().reset();
  return status;
}

Status about(void* node) {
  return guarded([&] {
    const auto& calls = sidestream::catalyst::conduit();
    if (calls.stub_about != nullptr) (void)calls.stub_about(node);
    calls.set_path_char8_str(node, "catalyst/implementation", "sidestream");
    calls.set_path_char8_str(node, "catalyst/sidestream/version", SIDESTREAM_VERSION);
  });
}

Status results(void* node) {
  if (!run()) return status_ok;
  return guarded([&] { run()->report(root(node, "results")); });
}

/// Catalyst 2.0 reads the version and the functions. Version 2.1 also reads something behind them, of which it is only
/// known that 0 stands for Catalyst's own Conduit.
struct Implementation {
  int version;
  Status (*initialize)(const void*);
  Status (*execute)(const void*);
  Status (*finalize)(const void*);
  Status (*about)(void*);
  Status (*results)(void*);
  std::int64_t reserved[8];
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Implementation catalyst_api_impl;
const Implementation catalyst_api_impl{1, initialize, execute, finalize, about, results, {}};
