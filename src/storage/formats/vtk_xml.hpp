// Parts that all VTK XML files share: the frame, arrays of values, the iteration.
//
// Values are inline base64 (`format="binary"`) with 64-bit sizes, the form that every reader knows; some readers fail
// on appended raw data. Specification: VTK's "XML File Formats"; docs/format-vtk.md describes the part in use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/type.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream {

/// Number of characters that encode `bytes` bytes.
[[nodiscard]] constexpr std::uint64_t base64_size(std::uint64_t bytes) noexcept { return (bytes + 2) / 3 * 4; }

/// Encodes all of `bytes` into base64_size(bytes.size()) characters at `out`.
void base64_encode(std::span<const std::byte> bytes, char* out) noexcept;

/// Encodes bytes, appended in parts of any size, as one text in a file.
class Base64Stream {
 public:
  explicit Base64Stream(OutputFile& file) : file_(file) {}
  void append(std::span<const std::byte> bytes);
  /// Writes the last characters and the padding; afterwards a new text may begin.
  void finish();

 private:
  void encode(std::span<const std::byte> bytes);

  OutputFile& file_;
  std::array<std::byte, 3> rest_{};  ///< bytes of an incomplete group of three
  std::size_t rest_size_ = 0;
  std::string text_;
};

/// Level of zlib, 1 to 9; 0: uncompressed.
struct VtkCompression {
  int level = 0;
};

/// VTK's name of an element type: `Float64`, `UInt8`.
[[nodiscard]] std::string_view vtk_type_name(Type type) noexcept;

/// Escapes text for an XML attribute.
[[nodiscard]] std::string xml_escaped(std::string_view text);

/// `ilo ihi jlo jhi klo khi`: the first and last nodes of a box of cells on each axis, as in VTK's extents. On axes
/// beyond `dimensions`, the first node is also the last.
[[nodiscard]] std::string vtk_extent(const Box& cells, int dimensions);

/// The XML declaration, the provenance as a comment and the opening VTKFile element.
void write_vtk_head(OutputFile& file, std::string_view kind, const std::string& provenance,
                    VtkCompression compression = {});
void write_vtk_tail(OutputFile& file);

/// FieldData with TimeValue (ParaView), CYCLE (VisIt) and ITERATION. The time is finite. `level_times`: times of
/// levels, if they differ.
void write_vtk_iteration(OutputFile& file, const Iteration& iteration, std::span<const double> level_times = {});

/// Writes one DataArray element; its values may be appended in parts.
class VtkArray {
 public:
  /// `bytes` is the size of all values together; `append` must reach it before `finish`. `attributes`: additional
  /// attributes of the element, each with a leading space.
  VtkArray(OutputFile& file, std::string_view name, Type type, int components, std::uint64_t bytes,
           VtkCompression compression, std::string_view attributes = {});
  void append(std::span<const std::byte> bytes);
  void finish();

 private:
  void compress_block();

  OutputFile& file_;
  Base64Stream text_;
  VtkCompression compression_;
  std::uint64_t header_at_ = 0;
  std::vector<std::uint64_t> header_;  ///< blocks, block size, size of the last one if partial, compressed sizes
  std::size_t block_ = 0;
  std::vector<std::byte> plain_, packed_;
};

/// Writes the numbers first, first + step, ... in parts, so that they are not all in memory.
void write_vtk_counting(OutputFile& file, std::string_view name, Index first, Index step, Index count,
                        VtkCompression compression);

/// Writes a whole array at once.
template <class T>
void write_vtk_array(OutputFile& file, std::string_view name, Type type, int components, std::span<const T> values,
                     VtkCompression compression = {}) {
  VtkArray array(file, name, type, components, values.size_bytes(), compression);
  array.append(std::as_bytes(values));
  array.finish();
}

}  // namespace sidestream
