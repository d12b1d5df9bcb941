// The index beside files that are written once an iteration: which file belongs to which time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/results/earlier_results.hpp"
#include "storage/results/series_index.hpp"

namespace sidestream {

/// Keeps `<stem><ending>.series` (ParaView's JSON, with `cycle` and `iteration` added) and, for VTK's XML
/// files, `<stem>.pvd`. Both are replaced as a whole, so that they are always readable: with each file at first, later
/// when the files that they lack are one in sixteen or a second has gone by (a hundred times what replacing takes, if
/// that is longer), and at the end. What they lack stands in a hidden file beside them, where `resume` finds it.
class Series {
 public:
  /// The index of the files named by `pattern` in `directory`. Starts empty.
  Series(std::shared_ptr<const OutputDirectory> directory, std::string pattern);
  /// Replaces the index if files are missing in it, and logs what fails.
  ~Series();
  Series(const Series&) = delete;
  Series& operator=(const Series&) = delete;

  /// Takes over the entries that were left, if any, and that stay. Throws Error(file) if the index cannot be
  /// understood.
  void resume(const ResumeFilter& what);
  /// Enters the file that now has its name; the iteration's time is finite, as clients are held to. Says once that
  /// names were taken (see FileNames). If it throws, Error(file) say, it has not entered it.
  void add(const Iteration& iteration, const std::string& path);
  /// Takes back what was added last: that file goes because another one of its iteration failed.
  void drop_last() noexcept;

  [[nodiscard]] const std::string& pattern() const noexcept { return pattern_; }
  /// Path of the `.series`.
  [[nodiscard]] const std::string& index() const noexcept { return json_path_; }
  /// The hidden file that has what `index`, a `.series`, lacks: its entries, each with a line of its own.
  [[nodiscard]] static std::string rest_of(const std::string& index);

 private:
  struct Entry {
    Iteration iteration;
    std::string name;  ///< relative to the index
  };
  [[nodiscard]] std::string relative(const std::string& path) const;
  [[nodiscard]] std::string as_json() const;
  [[nodiscard]] std::string as_pvd() const;
  [[nodiscard]] bool is_due() const;
  /// Enters those of the files of an earlier run that stay.
  void take(const std::vector<ListedFile>& files, const ResumeFilter& what);
  void replace();
  void replace_index();
  [[nodiscard]] bool has_version(const Iteration& iteration, const std::string& path) const;
  void say_version(const Iteration& iteration, const std::string& path) const;

  std::shared_ptr<const OutputDirectory> directory_;
  std::string pattern_, ending_;
  std::string json_path_, pvd_path_;  ///< pvd_path_ is empty where it does not apply
  std::string rest_path_;             ///< entries that the index lacks, a line each
  std::vector<Entry> entries_;
  std::size_t listed_ = 0;                       ///< entries in the index on disk
  std::array<bool, 2> has_replaced_{};           ///< the two files on disk are of this run
  double replaced_at_ = 0, replacing_took_ = 0;  ///< seconds
  std::int64_t versions_ = 0;                    ///< files that got another name than the pattern's
};

/// The indices of one process by pattern. Two patterns that would share an index are refused with
/// Error(configuration).
class SeriesSet {
 public:
  explicit SeriesSet(std::shared_ptr<const OutputDirectory> directory) : directory_(std::move(directory)) {}
  /// The index for `pattern`; when asked for first, and the directory resumes, entries from before `first`, the first
  /// iteration of this run, are taken over.
  Series& of(const std::string& pattern, const Iteration& first);

 private:
  std::shared_ptr<const OutputDirectory> directory_;
  std::map<std::string, std::unique_ptr<Series>> by_stem_;
};

}  // namespace sidestream
