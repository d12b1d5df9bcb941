// Reading HDF5 files of anybody.
//
// What a file says of itself is not believed: sizes are compared with what the caller has room for, and whatever HDF5
// finds wrong is thrown as Error(file) with the path and HDF5's own words.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/type.hpp"
#include "storage/hdf5/file.hpp"
#include "storage/hdf5/handle.hpp"

namespace sidestream::hdf5 {

/// Whether a file begins as one of HDF5. False also where it cannot be read.
[[nodiscard]] bool is_hdf5(const std::string& path);

/// What an array is made of.
struct Shape {
  Extents extents;           ///< none: a single value
  std::optional<Type> type;  ///< nothing: texts, compounds and others that are no numbers of ours
};

/// A file that is open for reading. Objects are named by their path from the root, `/` for that.
class InputFile {
 public:
  /// Throws Error(file) if it is missing or damaged.
  explicit InputFile(const std::string& path);
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  [[nodiscard]] bool has(const std::string& object) const;
  [[nodiscard]] bool is_group(const std::string& object) const;
  /// Names of what is in a group, sorted.
  [[nodiscard]] std::vector<std::string> names(const std::string& group) const;
  /// Paths of all arrays below a group, sorted.
  [[nodiscard]] std::vector<std::string> arrays(const std::string& group) const;
  [[nodiscard]] Shape shape(const std::string& array) const;
  /// `part` of an array, gapless, as numbers of `type`, which HDF5 converts to.
  void read(const std::string& array, const Part& part, Type type, std::span<std::byte> out) const;

  [[nodiscard]] bool has_attribute(const std::string& object, const std::string& name) const;
  /// A single number or all of a list; throws where the attribute is missing or holds none.
  [[nodiscard]] std::vector<double> numbers(const std::string& object, const std::string& name) const;
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& object, const std::string& name) const;
  /// What its numbers are; nothing if it holds none.
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
