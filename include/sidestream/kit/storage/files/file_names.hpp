// Names for the files of iterations. No committed file is overwritten.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// "a/fields-000006.h5" and 2 -> "a/fields-000006-v2.h5"
[[nodiscard]] std::string with_version(const std::string& path, int version);

/// "statistics.csv" -> "statistics-v1.csv", or the first version that does not exist.
[[nodiscard]] std::string free_version(const std::string& path);

/// The hidden file that belongs to `path`: "a/halos.csv" and ".committed" -> "a/.halos.csv.committed"
[[nodiscard]] std::string hidden_beside(const std::string& path, const std::string& ending);

/// Renames a file of an earlier run, which this one is about to replace, to a free version and logs that. Does nothing
/// if there is none.
void keep_earlier(const std::string& path);

/// Chooses the names of one pattern's files. All servers make the same calls and so choose the same name without
/// communication.
class FileNames {
 public:
  explicit FileNames(std::shared_ptr<const OutputDirectory> directory) : directory_(std::move(directory)) {}

  /// Returns the path for `pattern` in `iteration`. If this run has written that already (or, when it resumes, an
  /// earlier run has), returns the first free one of -v2, -v3, ...
  [[nodiscard]] std::string choose(const std::string& pattern, const Iteration& iteration);
  /// Records that the chosen file was renamed to its name. Retries while memory is short, since the other servers
  /// continue with the same choice.
  void written(const std::string& path);

 private:
  [[nodiscard]] bool is_taken(const std::string& path) const;

  std::shared_ptr<const OutputDirectory> directory_;
  // Hashes of names, because a run may write millions of files. If two names have the same hash, every server takes the
  // same new version, needlessly but harmlessly.
  std::unordered_set<std::size_t> written_;
};

// Text in the syntax of JSON and YAML.

/// Quotes a text for JSON and YAML. Control characters are escaped; UTF-8 is kept.
[[nodiscard]] std::string quoted_text(std::string_view text);

/// The value of a YAML entry after `key: `, as a literal block that people can read. Its lines are indented by `indent`
/// columns more than the key, whatever they begin with. The value of the block is the text with one line end at its
/// end. Control characters, which YAML forbids there, are omitted. The result ends with a line end.
[[nodiscard]] std::string literal_text(std::string_view text, int key_column, int indent);

}  // namespace sidestream
