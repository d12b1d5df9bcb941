// What a simulation tells the servers that attach to it, as bytes.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

struct SidecarSetup {
  Bytes declarations;               ///< Declarations::encode of what the program declared
  Bytes metadata;                   ///< the same of all meshes and variables, those of the file too, with their ids
  std::vector<std::string> events;  ///< number e is bit e
  std::string file;                 ///< the configuration's path
  std::string directory;            ///< of the results, absolute
  std::string steering;             ///< what the two sides must read alike, see steering_text
  std::int64_t clients = 0;         ///< on all nodes

  [[nodiscard]] Bytes encode() const;
  /// Throws Error(system) if the bytes end too early.
  [[nodiscard]] static SidecarSetup decode(BytesView bytes);
};

/// The parameters that can be steered, and how far ahead.
[[nodiscard]] std::string steering_text(const Config& config);

}  // namespace sidestream
