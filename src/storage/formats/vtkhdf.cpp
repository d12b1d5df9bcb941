#include "storage/formats/kinds.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "sidestream/kit/storage/hdf5/file.hpp"
#include "storage/formats/surface_arrays.hpp"

namespace sidestream {
namespace {

using Give = std::function<void(const SurfaceStream::Sink&)>;

/// Writes an array of `tuples` x `components` values (1: no second axis) that arrive in parts.
void write_dataset(hdf5::Group& group, const std::string& name, Type type, std::uint64_t tuples, int components,
                   const Give& give) {
  const auto width = static_cast<hsize_t>(components);
  const auto shape = [&](hsize_t count) {
    return components == 1 ? hdf5::Extents{count} : hdf5::Extents{count / width, width};
  };
  hdf5::Dataset dataset = group.dataset(name, type, shape(tuples * width), {});
  // Parts may end within a tuple: whole tuples are written, the rest is kept.
  const std::size_t tuple = size_of(type) * static_cast<std::size_t>(components);
  constexpr std::size_t enough = 1u << 20;
  std::vector<std::byte> held;
  hsize_t written = 0;
  const auto flush = [&] {
    const std::size_t whole = held.size() / tuple;
    if (whole == 0) return;
    const auto bytes = std::span<const std::byte>(held).first(whole * tuple);
    const hdf5::Extents start = components == 1 ? hdf5::Extents{written} : hdf5::Extents{written, 0};
    dataset.write(type, {start, shape(whole * width)}, bytes);
    written += whole;
    held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(bytes.size()));
  };
  give([&](std::span<const std::byte> values) {
    held.insert(held.end(), values.begin(), values.end());
    if (held.size() >= enough) flush();
  });
  flush();
}

void write_one(hdf5::Group& group, const std::string& name, std::int64_t value) {
  write_dataset(group, name, Type::int64, 1, 1, [&](const auto& sink) { sink(std::as_bytes(std::span(&value, 1))); });
}

void write_topology(hdf5::Group& file, const char* name, Type type, std::uint64_t corners, std::uint64_t cells,
                    const Give& give) {
  hdf5::Group group = file.group(name);
  write_one(group, "NumberOfCells", static_cast<std::int64_t>(cells));
  write_one(group, "NumberOfConnectivityIds", static_cast<std::int64_t>(cells * corners));
  write_dataset(group, "Offsets", type, cells + 1, 1,
                [&](const auto& sink) { give_counting(type, 0, corners, cells + 1, sink); });
  write_dataset(group, "Connectivity", type, cells * corners, 1, give);
}

void write_vtkhdf(const std::string& path, const SurfaceStream& surface, const Iteration& iteration,
                  const std::string& provenance) {
  const Surface& outline = surface.outline();
  hdf5::File file(path);
  {
    hdf5::Group root = file.root().group("VTKHDF");
    root.set("Version", std::span<const std::int64_t>(std::array<std::int64_t, 2>{2, 0}));
    root.set_ascii("Type", "PolyData");
    root.set("provenance", provenance);
    write_one(root, "NumberOfPoints", static_cast<std::int64_t>(surface.points()));
    write_dataset(root, "Points", outline.coordinates, surface.points(), 3,
                  [&](const auto& sink) { surface.give_points(sink); });
    const Type corners = surface.corner_type();
    // Readers do not draw points without cells, so each becomes a vertex.
    const std::uint64_t vertices = surface.triangles() + surface.lines() == 0 ? surface.points() : 0;
    write_topology(root, "Vertices", corners, 1, vertices,
                   [&](const auto& sink) { give_counting(corners, 0, 1, vertices, sink); });
    write_topology(root, "Lines", corners, 2, surface.lines(), [&](const auto& sink) { surface.give_lines(sink); });
    write_topology(root, "Polygons", corners, 3, surface.triangles(),
                   [&](const auto& sink) { surface.give_triangles(sink); });
    write_topology(root, "Strips", corners, 3, 0, [](const auto&) {});
    hdf5::Group data = root.group("PointData");
    for (std::size_t a = 0; a < outline.point_data.size(); ++a) {
      const Surface::Array& array = outline.point_data[a];
      std::string name = array.name;
      std::replace(name.begin(), name.end(), '/', '_');  // a slash would create a group
      write_dataset(data, name, array.type, surface.points(), array.components,
                    [&](const auto& sink) { surface.give_data(a, sink); });
    }
    hdf5::Group fields = root.group("FieldData");
    write_dataset(fields, "TimeValue", Type::float64, 1, 1,
                  [&](const auto& sink) { sink(std::as_bytes(std::span(&iteration.time, 1))); });
    write_one(fields, "CYCLE", iteration.cycle);
    write_one(fields, "ITERATION", iteration.index);
  }
  file.close();
}

}  // namespace

ResultFormat vtkhdf_format() {
  ResultFormat format;
  format.ending = ".vtkhdf";
  format.text = "VTKHDF PolyData for large surfaces; ParaView 5.12 and later, and the vtk package, open it.";
  format.surface = write_vtkhdf;
  return format;
}

}  // namespace sidestream
