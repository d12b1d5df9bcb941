// A RAMSES output: its directory, text files and list of files.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "importers/ramses/descriptor.hpp"

namespace sidestream::ramses {

/// Content of `info_NNNNN.txt`. Lengths are in units of `boxlen`, unit factors in cgs.
struct Info {
  int domains = 0, dimensions = 0;
  int level_min = 0, level_max = 0;
  double boxlen = 1, time = 0;
  std::int64_t step = 0;                 ///< step of the coarsest level
  std::array<double, 3> units{1, 1, 1};  ///< factors of length, density, time
  std::string ordering;
};

/// Throws Error(file) with `where` if a number is missing or invalid.
[[nodiscard]] Info parse_info(const std::string& text, const std::string& where);

/// Kinds of files in an output besides `amr`.
enum class FileKind { hydro, gravity, radiation, particles };
inline constexpr std::array<FileKind, 4> file_kinds{FileKind::hydro, FileKind::gravity, FileKind::radiation,
                                                    FileKind::particles};
/// Name of the kind in file names: `hydro`, `grav`, `rt`, `part`.
[[nodiscard]] const char* name_of(FileKind kind) noexcept;

/// The files in the directory of an output.
class Output {
 public:
  /// Throws Error(file), with the expected files, if it is not an output.
  explicit Output(const std::string& directory);
  [[nodiscard]] const Info& info() const noexcept { return info_; }
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] bool has(FileKind kind) const;
  /// Path of a file of domain `domain`, from 1: `amr_00004.out00001`, in the directory or one of its `group_NNNNN`.
  [[nodiscard]] std::string path(const char* kind, int domain) const;
  /// Columns in the descriptor of a kind of files; empty without a descriptor.
  [[nodiscard]] std::vector<Column> descriptor(FileKind kind) const;
  /// A sentence for each kind of files that this reader does not know.
  [[nodiscard]] std::vector<std::string> unread() const;

 private:
  std::string directory_;
  int number_ = 0;
  Info info_;
  std::vector<std::string> names_;   ///< names of files in the directory
  std::vector<std::string> groups_;  ///< `group_00001`, ...
};

}  // namespace sidestream::ramses
