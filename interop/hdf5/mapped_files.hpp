// The section `files` of a mapping: which files count, and when an iteration ends.
//
//   files:
//     pattern: "plot_{cycle}.h5"   # of the names without folders
//     steps: file                  # or index, path
//     path: "/step{cycle}/*"       # with `steps: path`
//     time: /time                  # a dataset with one number in each step
//     write: both                  # or only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sidestream::interposed {

/// The ends of iterations.
enum class Steps {
  file,   ///< the end of a file
  index,  ///< a new index of the first axis of datasets that may grow without limit
  path,   ///< a new number in the datasets' paths
};

/// A name that fits a pattern.
struct Fit {
  std::optional<std::int64_t> cycle{};  ///< the number at `{cycle}`
  std::string general{};                ///< the name with `{cycle}` instead of the number
};

/// Compares a name with a pattern: `*` stands for any characters, `?` for one, and the first `{cycle}` for digits.
[[nodiscard]] std::optional<Fit> fit(std::string_view pattern, std::string_view name);

struct MappedFiles {
  std::string pattern = "*";
  Steps steps = Steps::file;
  std::string path{};  ///< pattern of the datasets' paths; empty: any
  std::string time{};  ///< path of the dataset with the time; empty: the cycle is the time
  bool only = false;   ///< mapped datasets are not written

  /// Reads the section in a mapping's text; without the section all files count. Throws Error(configuration) with the
  /// line.
  [[nodiscard]] static MappedFiles read(const std::string& text, const std::string& file);
};

}  // namespace sidestream::interposed
