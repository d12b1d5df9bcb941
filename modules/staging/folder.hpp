// The directory of a stream: files that appear, change and vanish as a whole.
//
// Write access to the directory means control of the stream, and it often lies where others can write too (a memory
// file system). So it must belong to this user, and symbolic links to it or in it are not followed.
//
// One file informs a waiting endpoint that the simulation has ended before it opened its stream (OpeningFile).
#pragma once

#include <fmt/format.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/stream.hpp"
#include "staging/posix_file.hpp"

namespace sidestream::staging {

/// A stream's directory. Every function throws Error(file) unless it succeeds or returns one of the results that it
/// names.
class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  /// Creates the directory if it is missing, and checks that files can be created in it. Throws Error(file) if it is a
  /// link, belongs to another user, or is writable by everybody without the sticky bit (with it, others cannot replace
  /// files).
  void prepare() const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string path(std::string_view name) const;
  /// Creates a temporary file, which `finish` renames to `name`; nobody reads it before.
  [[nodiscard]] PosixFile begin(std::string_view name) const;
  /// Renames the temporary file of `name` to `name`, and replaces any file of that name.
  void finish(std::string_view name) const;
  /// Removes the temporary file of `name`.
  void abandon(std::string_view name) const noexcept;
  /// Opens a file for reading; nothing if there is no such file.
  [[nodiscard]] std::optional<PosixFile> open(std::string_view name) const;
  [[nodiscard]] PosixFile open_to_overwrite(std::string_view name) const;

  /// Replaces the content atomically: readers see the old or the new, never a mixture, also after a crash.
  void put(std::string_view name, BytesView content) const;
  void put(std::string_view name, std::string_view text) const;
  /// Creates the file like `put`. Returns false if it exists already.
  [[nodiscard]] bool put_new(std::string_view name, std::string_view text) const;
  /// The content; nothing if there is no such file.
  [[nodiscard]] std::optional<Bytes> get(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  /// Returns false if there is no such file. If several processes rename the same file, one of them succeeds.
  [[nodiscard]] bool rename(std::string_view from, std::string_view to) const;
  void remove(std::string_view name) const noexcept;

  /// The numbers N of the files named `prefix` + N, ascending.
  [[nodiscard]] std::vector<std::int64_t> numbers(std::string_view prefix) const;
  /// Removes every file whose name begins with one of `prefixes`.
  void clear(const std::vector<std::string>& prefixes) const;

 private:
  std::string path_;
};

}  // namespace sidestream::staging

// The names of the files in a stream's directory.

namespace sidestream::staging::names {

inline constexpr const char* announcement = "stream.yaml";
inline constexpr const char* opening = "opening";  ///< a simulation is about to start
inline constexpr const char* declarations = "declarations";
inline constexpr const char* writer_beat = "beat-writer";

inline constexpr const char* reader = "reader-";        ///< + epoch: that reader is attached
inline constexpr const char* gone = "gone-";            ///< + epoch: the writers gave that reader up
inline constexpr const char* step = "step-";            ///< + iteration: the step is offered
inline constexpr const char* done = "done-";            ///< + iteration: the reader acknowledged the step
inline constexpr const char* withdrawn = "withdrawn-";  ///< + iteration: the writers took the step back
inline constexpr const char* outcome = "outcome-";      ///< + iteration: the reader's answer to the step

[[nodiscard]] inline std::string of(const char* prefix, std::int64_t number) {
  return fmt::format("{}{}", prefix, number);
}
[[nodiscard]] inline std::string reader_beat(std::int64_t epoch) { return fmt::format("beat-reader-{}", epoch); }

}  // namespace sidestream::staging::names

namespace sidestream::staging {

/// A file in the stream's directory while a session of the simulation opens; on one rank. Announcing the stream removes
/// it. If it still exists at destruction, it then states that there will be no stream.
class OpeningFile final : public StreamOpening {
 public:
  /// Makes the directory if it is missing. Throws Error(file).
  explicit OpeningFile(const Folder& folder);
  ~OpeningFile() override;
  OpeningFile(const OpeningFile&) = delete;
  OpeningFile& operator=(const OpeningFile&) = delete;

 private:
  Folder folder_;
  std::string sign_;  ///< identifies this opening
};

/// Watches for an OpeningFile; the endpoint's end.
class OpeningWatch {
 public:
  /// Ignores an opening of an earlier run, which is over already.
  explicit OpeningWatch(const Folder& folder) : folder_(folder), earlier_(over()) {}
  /// True if a simulation that was about to start has since ended without a stream.
  [[nodiscard]] bool has_ended() const;

 private:
  /// The sign of an opening that is over; empty if there is none.
  [[nodiscard]] std::string over() const;
  Folder folder_;
  std::string earlier_;
};

}  // namespace sidestream::staging
