// The index beside files that are written once an iteration: which file belongs to which time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// The name that the files of a pattern have in common, without ending: "a/surface-{cycle:06}.vtp" gives
/// "a/surface". Directories that name the iteration are left as well: "run/{cycle}/surface.vtp" gives
/// "run/surface".
[[nodiscard]] std::string series_stem(const std::string& pattern);

/// Keeps `<stem><ending>.series` (ParaView's JSON, with `cycle` and `iteration` added) and, for VTK's XML
/// files,
/// `<stem>.pvd`. Both are rewritten as a whole with each file, so that they are always readable.
class Series {
 public:
  /// The index of the files named by `pattern` in `directory`. Starts empty.
  Series(std::shared_ptr<const OutputDirectory> directory, std::string pattern);

  /// Takes over the entries that an earlier run left, if any, of cycles before `cycle`. Throws Error(file) if
  /// the index cannot be understood.
  void resume(std::int64_t cycle);
  /// Throws Error(file) if writing `path` would overwrite a file of the run that is resumed, or one written
  /// in this very iteration. Warns, once, if it overwrites one of this run.
  void check(const Iteration& iteration, const std::string& path);
  /// Enters the file that now has its name and rewrites the index. Throws Error(file).
  void add(const Iteration& iteration, const std::string& path);

  [[nodiscard]] const std::string& pattern() const noexcept { return pattern_; }

 private:
  struct Entry {
    Iteration iteration;
    std::string name;      ///< relative to the index
    bool earlier = false;  ///< taken over from an earlier run
  };
  [[nodiscard]] std::string relative(const std::string& path) const;
  void put(Entry entry);
  [[nodiscard]] std::string as_json() const;
  [[nodiscard]] std::string as_pvd() const;

  std::shared_ptr<const OutputDirectory> directory_;
  std::string pattern_, ending_;
  std::string json_path_, pvd_path_;  ///< pvd_path_ is empty where it does not apply
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> by_name_;
  bool warned_ = false;
};

/// The indices of one process by pattern. Two patterns that would share an index are refused with
/// Error(configuration).
class SeriesSet {
 public:
  SeriesSet(std::shared_ptr<const OutputDirectory> directory, bool resume)
      : directory_(std::move(directory)), resume_(resume) {}
  /// The index for `pattern`; when asked for first, entries of an earlier run before `first_cycle` are taken
  /// over.
  Series& of(const std::string& pattern, std::int64_t first_cycle);

 private:
  std::shared_ptr<const OutputDirectory> directory_;
  bool resume_;
  std::map<std::string, Series> by_stem_;
};

}  // namespace sidestream
