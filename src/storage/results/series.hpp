// Index over time of files that are written in each iteration.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sidestream/data/iteration.hpp"
#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// A file that an index lists.
struct ListedFile {
  std::string name;  ///< relative to the index
  /// Empty if the index does not give all of it, as in those that ParaView writes.
  std::optional<Iteration> iteration;
};

/// Writes the entry of a file, on one line.
[[nodiscard]] std::string entry_text(const std::string& name, const Iteration& iteration);

/// Reads an index. Throws Error(file) if it is invalid.
[[nodiscard]] std::vector<ListedFile> parse_index(std::string_view text);
/// Reads the list of an index of files that resumed runs have replaced by others, and that stay on the disk.
[[nodiscard]] std::vector<ListedFile> parse_overtaken(std::string_view text);
/// Reads a hidden file, which has an entry on each line. Omits an incomplete last line, which a crash leaves.
[[nodiscard]] std::vector<ListedFile> parse_rest(std::string_view text);

/// Writes `<stem><ending>.series` (ParaView's JSON, with `cycle` and `iteration` added) and, for VTK's XML files,
/// `<stem>.pvd`. Both are replaced as a whole, so that they can always be read. At first they are replaced with each
/// file. Later they are replaced when one in sixteen files is missing, or after a second (or a hundred times the
/// duration of a replacement, if that is longer), and at the end. Missing entries are in a hidden file next to them,
/// where `resume` finds them. Files that resumed runs have overtaken are listed apart, for a run that removes all.
class Series {
 public:
  /// Creates an empty index of the files named by `pattern` in `directory`.
  Series(std::shared_ptr<const OutputDirectory> directory, std::string pattern);
  /// Replaces the index if entries are missing, and logs failures.
  ~Series();
  Series(const Series&) = delete;
  Series& operator=(const Series&) = delete;

  /// Takes over the earlier entries that the filter keeps. Throws Error(file) if the index cannot be parsed.
  void resume(const ResumeFilter& what);
  /// Enters a file that has its final name. The iteration's time is finite (checked when it is published). Logs once
  /// that names were taken (see FileNames). If it throws, for example Error(file), nothing is entered.
  void add(const Iteration& iteration, const std::string& path);
  /// Removes the last entry, whose file is removed because another file of the iteration failed.
  void drop_last() noexcept;

  [[nodiscard]] const std::string& pattern() const noexcept { return pattern_; }
  /// Path of the `.series` file.
  [[nodiscard]] const std::string& index() const noexcept { return json_path_; }
  /// Path of the hidden file with the entries that `index`, a `.series` file, lacks, one per line.
  [[nodiscard]] static std::string rest_of(const std::string& index);

 private:
  struct Entry {
    Iteration iteration;
    std::string name;  ///< path relative to the index
  };
  [[nodiscard]] std::string relative(const std::string& path) const;
  [[nodiscard]] std::string as_json() const;
  [[nodiscard]] std::string as_pvd() const;
  [[nodiscard]] bool is_due() const;
  /// Enters the files of an earlier run that are kept.
  void take(const std::vector<ListedFile>& files, const ResumeFilter& what);
  void replace();
  void replace_index();
  [[nodiscard]] bool has_version(const Iteration& iteration, const std::string& path) const;
  void warn_of_version(const Iteration& iteration, const std::string& path) const;

  std::shared_ptr<const OutputDirectory> directory_;
  std::string pattern_, ending_;
  std::string json_path_, pvd_path_;  ///< pvd_path_ is empty if there is no such file
  std::string rest_path_;             ///< entries that the index lacks, one per line
  std::vector<Entry> entries_;
  std::vector<Entry> overtaken_;                 ///< of earlier runs, from where this one or one before it continued
  std::size_t listed_ = 0;                       ///< entries in the index on disk
  std::array<bool, 2> has_replaced_{};           ///< true if the file on disk is of this run
  double replaced_at_ = 0, replacing_took_ = 0;  ///< seconds
  std::int64_t versions_ = 0;                    ///< files whose name differs from the pattern's
};

/// The indices of one process, by pattern. Throws Error(configuration) if two patterns would share an index.
class SeriesSet {
 public:
  explicit SeriesSet(std::shared_ptr<const OutputDirectory> directory) : directory_(std::move(directory)) {}
  /// The index for `pattern`. On the first call, if the directory resumes, entries before `first`, the first iteration
  /// of this run, are taken over.
  Series& of(const std::string& pattern, const Iteration& first);

 private:
  std::shared_ptr<const OutputDirectory> directory_;
  std::map<std::string, std::unique_ptr<Series>> by_stem_;
};

}  // namespace sidestream
