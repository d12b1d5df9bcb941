// Databases for people: what is in them, whether it is whole, and removing what is not wanted.
#pragma once

#include <cstdint>
#include <string>

namespace sidestream {

struct DatabaseOptions {
  std::string directory;
  std::int64_t cycle = 0;  ///< of `info`
  bool has_cycle = false;
  std::int64_t keep = -1;  ///< of `prune`; negative: all contexts
  bool look = false;       ///< of `prune`: change nothing
  bool lost = false;       ///< of `prune`: delete whole contexts too that no slot names
};

/// What to print, and the exit status. Throw Error.
struct DatabaseAnswer {
  std::string text;
  int status = 0;
};
[[nodiscard]] DatabaseAnswer list_database(const DatabaseOptions& options);
[[nodiscard]] DatabaseAnswer describe_context(const DatabaseOptions& options);
[[nodiscard]] DatabaseAnswer verify_database(const DatabaseOptions& options);
[[nodiscard]] DatabaseAnswer prune_database(const DatabaseOptions& options);

}  // namespace sidestream
