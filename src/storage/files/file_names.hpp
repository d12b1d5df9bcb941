// Names for the files of iterations: nothing that was committed is written over.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// "a/fields-000006.h5" and 2 -> "a/fields-000006-v2.h5"
[[nodiscard]] std::string with_version(const std::string& path, int version);

/// "statistics.csv": "statistics-v1.csv", or the first that nobody has.
[[nodiscard]] std::string free_version(const std::string& path);

/// The file that goes with `path` and that people should not see: "a/halos.csv" and ".committed" ->
/// "a/.halos.csv.committed"
[[nodiscard]] std::string hidden_beside(const std::string& path, const std::string& ending);

/// Gives the file of that name, which an earlier run has left and this one is about to replace, a name with a version
/// besides, and says so. Nothing happens if there is none.
void keep_earlier(const std::string& path);

/// Chooses the names of one pattern's files. Every server has one and makes the same calls, so that all choose the
/// same name without asking each other.
class FileNames {
 public:
  explicit FileNames(std::shared_ptr<const OutputDirectory> directory) : directory_(std::move(directory)) {}

  /// The path for `pattern` in `iteration`, or, if this run has written that already or, when it resumes, an earlier
  /// run has, the first of -v2, -v3, ... that nobody has.
  [[nodiscard]] std::string choose(const std::string& pattern, const Iteration& iteration);
  /// Call when the file that was chosen has its name. Waits for memory: others go on with what they chose alike.
  void written(const std::string& path);

 private:
  [[nodiscard]] bool is_taken(const std::string& path) const;

  std::shared_ptr<const OutputDirectory> directory_;
  // Hashes only, because a run may write millions of files. Two names with one hash give a version that was not
  // needed, on every server alike.
  std::unordered_set<std::size_t> written_;
};

// Text as others read it back: JSON, YAML.

/// In double quotes, as JSON and YAML read it. Control characters are escaped; UTF-8 stays as it is.
[[nodiscard]] std::string quoted_text(std::string_view text);

/// The rest of a YAML entry behind `key: `, in lines of their own that people can read: a literal block whose lines
/// stand `indent` columns further in than the key, whatever they begin with. Ends with a line end. The block is the
/// text with one line end at its end; control characters, which YAML has no place for there, are left out.
[[nodiscard]] std::string literal_text(std::string_view text, int key_column, int indent);

}  // namespace sidestream
