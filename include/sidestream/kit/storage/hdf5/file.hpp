// Thin wrapper of the part of HDF5 that writers need: files, groups, attributes, datasets, virtual datasets.
//
// Each C function is called in one place. Errors are thrown as Error(file) with the path and HDF5's own message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/type.hpp"
#include "sidestream/kit/storage/hdf5/handle.hpp"

namespace sidestream::hdf5 {

class Driver {
 public:
  explicit Driver(const std::string& path);
  /// Makes files created with this access property list use the driver.
  void use(const Handle& access, const std::string& path);
  /// The error number of the first failure among the file's reads and writes; 0: none.
  [[nodiscard]] int failure() const noexcept { return *failure_; }

 private:
  std::unique_ptr<int> failure_ = std::make_unique<int>(0);
  Handle id_;
};

using Extents = std::vector<hsize_t>;  ///< slowest first, as in HDF5

/// Start and size of a part of a dataset.
struct Part {
  Extents start, size;
};

/// An object with attributes.
class Object {
 public:
  Object(Handle handle, std::string path) : handle_(std::move(handle)), path_(std::move(path)) {}

  void set(const std::string& name, std::int64_t value);
  void set(const std::string& name, double value);
  void set(const std::string& name, const std::string& value);  ///< UTF-8 of any length
  /// Sets a text of fixed length, as VTKHDF and netCDF require; UTF-8 if it is not ASCII. Not empty.
  void set_ascii(const std::string& name, const std::string& value);
  void set(const std::string& name, std::span<const std::int64_t> values);
  /// Stores `values` as a matrix with rows of `width`.
  void set(const std::string& name, std::span<const std::int64_t> values, std::size_t width);
  void set(const std::string& name, std::span<const double> values);
  void set(const std::string& name, const std::vector<std::string>& values);
  void set_int32(const std::string& name, std::int32_t value);  ///< the type of integers in netCDF's attributes
  /// Stores the value of missing elements: NaN of a real type, the lowest number of an integer type.
  void set_missing(const std::string& name, Type type);

 protected:
  void set_attribute(const std::string& name, hid_t type, const Extents& extents, const void* values);

  friend class Dimensions;

  Handle handle_;
  std::string path_;  ///< of the file, for messages
};

/// A filter that HDF5 knows only by its number. Writers pack chunks themselves; readers need its plug-in.
struct PlugInFilter {
  unsigned number = 0;  ///< as registered with the HDF Group; 0: none
  std::vector<unsigned> parameters{};
};

/// Storage layout of a dataset. Filters are applied in the order of its members.
struct Layout {
  Extents chunk{};        ///< empty: contiguous; required for what follows
  bool shuffle = false;   ///< groups bytes of the same significance, which makes real numbers compressible
  int deflate = 0;        ///< level of zlib, 1 to 9; 0: none
  PlugInFilter packed{};  ///< if set, only write_chunk writes chunks
  bool checksum = false;  ///< Fletcher-32 of each chunk, checked by every reader
  bool placed = false;    ///< contiguous only: the place in the file is allocated at once; see Dataset::place
};

/// The type of the elements of a dataset, in memory and in the file.
struct Element {
  Element(Type of, bool bits_of_half = false) : type(of), is_half(bits_of_half) {}  // NOLINT: meant to convert
  Type type;
  bool is_half;  ///< stored as 16-bit reals (IEEE binary16); uint16 in memory
};

class Dataset : public Object {
 public:
  using Object::Object;
  /// Writes contiguous values into one part of the dataset.
  void write(Element element, const Part& part, std::span<const std::byte> values);
  /// Writes a whole chunk in its filtered form, beginning at `start`. Bit n of `skipped`: filter n was not applied.
  void write_chunk(const Extents& start, std::span<const std::byte> bytes, std::uint32_t skipped);
  /// Offset in the file of a contiguous dataset with Layout::placed, so that other processes can write to it.
  [[nodiscard]] std::uint64_t place() const;
};

/// HDF5's Fletcher-32 of the bytes of a chunk. It is stored after them in four bytes, the lowest first.
[[nodiscard]] std::uint32_t fletcher32(std::span<const std::byte> bytes) noexcept;

/// A part of a dataset in another file that a virtual dataset shows.
struct VirtualPart {
  Part here;            ///< in the virtual dataset
  std::string file;     ///< relative to the directory of the virtual dataset's file
  std::string dataset;  ///< path in that file
  Extents extents;      ///< of that dataset
  Part there;           ///< part of that dataset, of the same size as `here`
};

/// The value of unwritten elements.
enum class Fill {
  absent,  ///< NaN for reals, 0 for integers
  zero,
  lowest  ///< the lowest number of an integer type
};

class Group : public Object {
 public:
  using Object::Object;
  /// The group of that name, created if missing. Slashes separate nested groups.
  [[nodiscard]] Group group(const std::string& name);
  /// Creates a group that keeps the creation order of its members, as VTKHDF requires.
  [[nodiscard]] Group ordered_group(const std::string& name);
  /// Adds another name for an object of this file.
  void link(const std::string& name, const std::string& path);
  void soft_link(const std::string& name, const std::string& path);
  [[nodiscard]] Dataset dataset(const std::string& name, Element element, const Extents& extents, const Layout& layout);
  [[nodiscard]] Dataset virtual_dataset(const std::string& name, Element element, const Extents& extents,
                                        std::span<const VirtualPart> parts, Fill fill = Fill::absent);
};

/// A new file, readable by HDF5 1.8 and later (1.10 with virtual datasets). It contains no time stamps, so the same
/// content gives the same bytes.
class File {
 public:
  /// `keeps_order`: the root keeps the creation order of its members, as netCDF's library does, and metadata lies in
  /// large pieces.
  explicit File(const std::string& path, bool keeps_order = false);
  [[nodiscard]] Group& root() noexcept { return *root_; }
  /// Writes buffered bytes and closes; all other objects of the file must be destroyed. Throws the first disk failure
  /// of this and all earlier writes, since the driver hides them from HDF5.
  void close();

 private:
  [[nodiscard]] Handle create(bool keeps_order);

  QuietErrors quiet_;
  std::string path_;
  Driver driver_;
  Handle file_;
  std::unique_ptr<Group> root_;
};

}  // namespace sidestream::hdf5
