// Parts that all VTK XML files share: the frame, arrays of values, the iteration.
//
// Values are inline base64 (`format="binary"`) with 64-bit sizes, the form that every reader knows; some readers fail
// on appended raw data. Specification: VTK's "XML File Formats"; docs/format-vtk.md describes the part that we use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/type.hpp"
#include "storage/files/output_file.hpp"
#include "storage/formats/base64.hpp"

namespace sidestream {

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

/// FieldData with TimeValue (ParaView), CYCLE (VisIt) and ITERATION. The time is finite.
void write_vtk_iteration(OutputFile& file, const Iteration& iteration);

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
