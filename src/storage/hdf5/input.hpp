// Reader of HDF5 files from any source.
//
// Sizes in a file are not trusted: they are compared with the caller's buffer. Errors that HDF5 finds are thrown as
// Error(file) with the path and HDF5's own message.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/type.hpp"
#include "sidestream/kit/storage/hdf5/file.hpp"
#include "sidestream/kit/storage/hdf5/handle.hpp"

namespace sidestream::hdf5 {

/// True if a file has the signature of HDF5. False also if the file cannot be read.
[[nodiscard]] bool is_hdf5(const std::string& path);

/// Extents and type of an array.
struct Shape {
  Extents extents;           ///< none: a single value
  std::optional<Type> type;  ///< nothing: texts, compounds and other types without an equivalent here
};

/// A file open for reading. Objects are named by their path from the root `/`.
class InputFile {
 public:
  /// Throws Error(file) if it is missing or damaged.
  explicit InputFile(const std::string& path);
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  [[nodiscard]] bool has(const std::string& object) const;
  [[nodiscard]] bool is_group(const std::string& object) const;
  /// Names of the members of a group, sorted.
  [[nodiscard]] std::vector<std::string> names(const std::string& group) const;
  /// Paths of all arrays below a group, sorted.
  [[nodiscard]] std::vector<std::string> arrays(const std::string& group) const;
  [[nodiscard]] Shape shape(const std::string& array) const;
  /// Reads `part` of an array, contiguous, converted by HDF5 to `type`.
  void read(const std::string& array, const Part& part, Type type, std::span<std::byte> out) const;

  [[nodiscard]] bool has_attribute(const std::string& object, const std::string& name) const;
  /// All values of an attribute, scalar or list. Throws if the attribute is missing or not numeric.
  [[nodiscard]] std::vector<double> numbers(const std::string& object, const std::string& name) const;
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& object, const std::string& name) const;
  /// The type of its numbers; nothing if it is not numeric.
  [[nodiscard]] std::optional<Type> attribute_type(const std::string& object, const std::string& name) const;
  [[nodiscard]] std::vector<std::string> texts(const std::string& object, const std::string& name) const;

 private:
  [[nodiscard]] Handle open_attribute(const std::string& object, const std::string& name) const;
  template <class T>
  [[nodiscard]] std::vector<T> read_attribute(const std::string& object, const std::string& name, Type type) const;

  QuietErrors quiet_;
  std::string path_;
  Handle file_;
};

}  // namespace sidestream::hdf5
