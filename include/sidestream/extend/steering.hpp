// The contract of steering: how an analysis changes parameters that the simulation reads.
#pragma once

#include <cstdint>
#include <string_view>

namespace sidestream {

/// Changes parameters that the configuration declares under `steering:`. The simulation reads the new value on all of
/// its ranks after the same iteration, which is some iterations after the analysed one: see docs/steering.md.
class Steering {
 public:
  virtual ~Steering() = default;
  /// Sets a parameter. Called from `combine` with the same arguments on every server; only the call on rank 0 of the
  /// communicator counts. If one iteration changes a parameter several times, the last change counts. Throws
  /// Error(analysis) if there is no such parameter, or if it does not take the value.
  virtual void set(std::string_view name, std::int64_t value) = 0;
  /// Sets a parameter of type real.
  virtual void set(std::string_view name, double value) = 0;
};

}  // namespace sidestream
