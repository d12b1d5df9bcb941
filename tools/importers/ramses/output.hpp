// An output of RAMSES: the directory, what its texts say, and which files it has.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "importers/ramses/descriptor.hpp"

namespace sidestream::ramses {

/// What `info_NNNNN.txt` says. Lengths are in the unit of `boxlen`, units are in cgs.
struct Info {
  int domains = 0, dimensions = 0;
  int level_min = 0, level_max = 0;
  double boxlen = 1, time = 0;
  std::int64_t step = 0;                 ///< of the coarsest level
  std::array<double, 3> units{1, 1, 1};  ///< length, density, time
  std::string ordering;
};

/// Throws Error(file) with `where` where a number is missing or makes no sense.
[[nodiscard]] Info parse_info(const std::string& text, const std::string& where);

/// Kinds of files that an output may have, besides `amr`.
enum class FileKind { hydro, gravity, radiation, particles };
inline constexpr std::array<FileKind, 4> file_kinds{FileKind::hydro, FileKind::gravity, FileKind::radiation,
                                                    FileKind::particles};
/// As files are called: `hydro`, `grav`, `rt`, `part`.
[[nodiscard]] const char* name_of(FileKind kind) noexcept;

/// What lies in the directory of an output.
class Output {
 public:
  /// Throws Error(file) if it is none, with what was looked for.
  explicit Output(const std::string& directory);
  [[nodiscard]] const Info& info() const noexcept { return info_; }
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] bool has(FileKind kind) const;
  /// Of domain `domain`, from 1: `amr_00004.out00001`, in the directory or one of its `group_NNNNN`.
  [[nodiscard]] std::string path(const char* kind, int domain) const;
  /// What the descriptor of a kind of files lists; nothing where there is none.
  [[nodiscard]] std::vector<Column> descriptor(FileKind kind) const;
  /// A sentence for each kind of files that this reader does not know.
  [[nodiscard]] std::vector<std::string> unread() const;

 private:
  std::string directory_;
  int number_ = 0;
  Info info_;
  std::vector<std::string> names_;   ///< of files in the directory
  std::vector<std::string> groups_;  ///< `group_00001`, ...
};

}  // namespace sidestream::ramses
