#include "storage/results/result_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sidestream/kit/storage/hdf5/file.hpp"

namespace sidestream {

namespace {

hdf5::Extents as_extents(const std::vector<Index>& values) { return {values.begin(), values.end()}; }

/// Replaces slashes. A variable that represents an expression may be called `p / rho`, which would name a dataset in a
/// group.
std::string dataset_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', ':');
  return name;
}

bool empty(const DataSet::Array& array) {
  const auto& size = size_of_part(array);
  return std::find(size.begin(), size.end(), 0) != size.end();
}

void describe(hdf5::Object& object, const std::vector<DataSet::Attribute>& attributes) {
  for (const DataSet::Attribute& attribute : attributes) {
    std::visit([&](const auto& value) { object.set(attribute.name, value); }, attribute.value);
  }
}

void describe(hdf5::Object& object, const DataSet::Array& array) {
  object.set("unit", array.unit);
  if (!array.axes.empty()) object.set("DIMENSION_LABELS", array.axes);
  describe(object, array.attributes);
}

void describe(hdf5::Group& root, const DataSet& data, const Iteration& iteration, const std::string& provenance) {
  root.set("format", std::string("sidestream-data-set"));
  root.set("version", std::int64_t{1});
  root.set("iteration", iteration.index);
  root.set("cycle", iteration.cycle);
  root.set("time", iteration.time);
  root.set("provenance", provenance);
  describe(root, data.attributes);
}

/// Writes a data set. A single part that does not fill its arrays is a piece: its datasets have its own size and store
/// their position.
void write_data(const std::string& path, std::span<const DataSet> parts, const Iteration& iteration,
                const std::string& provenance) {
  const DataSet& first = parts.front();
  hdf5::File file(path);
  describe(file.root(), first, iteration, provenance);
  for (std::size_t a = 0; a < first.arrays.size(); ++a) {
    const DataSet::Array& array = first.arrays[a];
    const bool piece = parts.size() == 1 && size_of_part(array) != array.extents;
    hdf5::Dataset dataset = file.root().dataset(dataset_name(array.name), array.type,
                                                as_extents(piece ? size_of_part(array) : array.extents), {});
    describe(dataset, array);
    if (piece) {
      dataset.set("start", std::span<const std::int64_t>(start_of(array)));
      dataset.set("extents", std::span<const std::int64_t>(array.extents));
    }
    for (const DataSet& part : parts) {
      const DataSet::Array& from = part.arrays[a];
      if (empty(from)) continue;
      const hdf5::Extents size = as_extents(size_of_part(from));
      const hdf5::Extents start = piece ? hdf5::Extents(size.size(), 0) : as_extents(start_of(from));
      dataset.write(from.type, {start, size}, from.values);
    }
  }
  file.close();
}

void write_data_list(const std::string& path, const std::vector<DataSet>& parts, const std::vector<PieceFile>& pieces,
                     const Iteration& iteration, const std::string& provenance) {
  const DataSet& first = parts.front();
  hdf5::File file(path);
  describe(file.root(), first, iteration, provenance);
  for (std::size_t a = 0; a < first.arrays.size(); ++a) {
    const DataSet::Array& array = first.arrays[a];
    std::vector<hdf5::VirtualPart> mapping;
    for (std::size_t n = 0; n < parts.size(); ++n) {
      const DataSet::Array& part = parts[n].arrays[a];
      if (empty(part)) continue;
      const hdf5::Extents size = as_extents(size_of_part(part));
      mapping.push_back({{as_extents(start_of(part)), size},
                         pieces[n].file,
                         fmt::format("/{}", dataset_name(part.name)),
                         size,
                         {hdf5::Extents(size.size(), 0), size}});
    }
    hdf5::Dataset dataset =
        file.root().virtual_dataset(dataset_name(array.name), array.type, as_extents(array.extents), mapping);
    describe(dataset, array);
  }
  file.close();
}

}  // namespace

ResultFormat hdf5_format() {
  ResultFormat format;
  format.ending = ".h5";
  format.text = "HDF5 for data sets: named arrays with axes, units and attributes.";
  format.data = write_data;
  format.list_ending = ".h5";
  format.data_list = write_data_list;
  return format;
}

}  // namespace sidestream
