#include "climate/cf/netcdf_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <limits>
#include <span>
#include <variant>

#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "sidestream/kit/storage/hdf5/array_layout.hpp"
#include "sidestream/version.h"

namespace sidestream {

namespace {

hdf5::Dataset put_numbers(hdf5::File& file, const std::string& name, const hdf5::Extents& extents,
                          const std::vector<double>& values, const Attributes& attributes) {
  hdf5::Dataset dataset = file.root().dataset(name, Type::float64, extents, {});
  dataset.write(Type::float64, {hdf5::Extents(extents.size(), 0), extents}, std::as_bytes(std::span(values)));
  put(dataset, attributes);
  return dataset;
}

std::string_view text_of(const auto& number) { return {reinterpret_cast<const char*>(&number), sizeof number}; }

/// Bytes of the value that marks missing values; empty if it is 0.
std::string missing_value(const StoredForm& form) {
  return with_type(form.type, [&](auto value) -> std::string {
    using T = decltype(value);
    if constexpr (std::numeric_limits<T>::has_quiet_NaN) {
      value = std::numeric_limits<T>::quiet_NaN();
    } else {
      if (!form.is_scaled) return {};
      value = std::numeric_limits<T>::lowest();
    }
    return std::string(text_of(value));
  });
}

/// The form of an array's values.
StoredForm form_of(const CfArray& array, const Metadata& metadata, const AgreedForms& forms) {
  if (array.source != CfSource::values) return StoredForm(cf_type(array, metadata));
  return forms.of(metadata.variables[static_cast<std::size_t>(array.variable)]);
}

/// The attributes of values on an unstructured mesh; `dimensions`: of its cells in this iteration.
Attributes about_topology(const CfTopology& topology, std::int32_t dimensions) {
  constexpr const char* names[3] = {"edge_node_connectivity", "face_node_connectivity", "volume_node_connectivity"};
  const int known = std::max(dimensions, 1);
  return {{"cf_role", std::string("mesh_topology")},
          {"long_name", std::string("topology of the mesh")},
          {"topology_dimension", std::int64_t{known}},
          {"node_coordinates", topology.node_coordinates},
          {names[known - 1], topology.corner_ids}};
}

/// The attributes of an array in a file whose time is a single value: a coordinate of each variable.
Attributes with_single_time(Attributes attributes) {
  for (Attribute& one : attributes) {
    if (one.name == "coordinates") std::get<std::string>(one.value).insert(0, "time ");
  }
  return attributes;
}

}  // namespace

void NetcdfFiles::add_times(hdf5::File& file, hdf5::Dimensions& dimensions) {
  const bool has_axis = !time_units_.empty();
  const hdf5::Extents extents = has_axis ? hdf5::Extents{1} : hdf5::Extents{};
  hdf5::Layout placed;
  placed.placed = true;
  const auto add = [&](const char* name, Type type, const Attributes& attributes) {
    hdf5::Dataset dataset = file.root().dataset(name, type, extents, placed);
    put(dataset, attributes);
    const std::uint64_t place = dataset.place();
    if (has_axis && type == Type::float64) {
      dimensions.add(name, std::move(dataset));
    } else if (has_axis) {
      dimensions.attach(dataset, {"time"});
    }
    return place;
  };
  Attributes time{{"long_name", std::string("time of the simulation")},
                  {"units", has_axis ? time_units_ : std::string("1")}};
  if (has_axis) {
    for (const auto& [name, text] : {std::pair("axis", "T"), {"standard_name", "time"}, {"calendar", "standard"}})
      time.push_back({name, std::string(text)});
  }
  if (window_) time.push_back({"bounds", std::string("time_bnds")});
  times_ = {};
  times_.time = add("time", Type::float64, time);
  if (window_) {
    dimensions.add("bnds", 2);
    hdf5::Dataset bounds =
        file.root().dataset("time_bnds", Type::float64, has_axis ? hdf5::Extents{1, 2} : hdf5::Extents{2}, placed);
    times_.bounds = bounds.place();
    dimensions.attach(bounds, has_axis ? std::vector<std::string>{"time", "bnds"} : std::vector<std::string>{"bnds"});
  }
  const auto whole = [](const char* name) {
    return Attributes{{"long_name", std::string(name)}, {"units", std::string("1")}};
  };
  times_.cycle = add("cycle", Type::int64, whole("cycle of the simulation"));
  times_.iteration = add("iteration", Type::int64, whole("number of the publication"));
}

/// Writes everything in the file besides arrays.
void NetcdfFiles::describe(hdf5::File& file, hdf5::Dimensions& dimensions, const CfShape& shape) {
  const bool has_cells = !layout_.topologies.empty();
  Attributes about{{"_NCProperties", std::string("version=2,sidestream=" SIDESTREAM_VERSION)},
                   {"Conventions", std::string(has_cells ? "CF-1.11 UGRID-1.0" : "CF-1.11")},
                   {"title", std::string("Fields of a simulation")},
                   {"source", provenance_}};
  for (const Attribute& one : layout_.attributes) set_attribute(about, one.name, one.value);
  put(file.root(), about);
  add_times(file, dimensions);
  for (const CfDimension& one : layout_.dimensions) {
    if (!dimensions.has(one.name)) dimensions.add(one.name, static_cast<hsize_t>(shape.lists.length(one)));
  }
  for (const CfAxis& axis : layout_.axes) {
    const hsize_t count = axis.positions.size();
    dimensions.add(axis.name, put_numbers(file, axis.name, {count}, axis.positions, axis.attributes));
    if (axis.bounds.empty()) continue;
    hdf5::Dataset bounds = put_numbers(file, axis.name + "_bnds", {count, 2}, axis.bounds, {});
    dimensions.attach(bounds, {axis.name, "bnds"});
  }
  for (const CfTopology& topology : layout_.topologies) {
    hdf5::Dataset dataset = file.root().virtual_dataset(topology.name, Type::int32, {}, {}, hdf5::Fill::zero);
    put(dataset, about_topology(topology, shape.lists.total(topology.mesh).dimensions));
  }
}

void NetcdfFiles::add_array(hdf5::File& file, hdf5::Dimensions& dimensions, const CfArray& array, Index count,
                            const Metadata& metadata, const CfLists& lists, const AgreedForms& forms) {
  const Variable& variable = metadata.variables[static_cast<std::size_t>(array.variable)];
  const Mesh& mesh = metadata.mesh_of(variable);
  const StoredForm form = form_of(array, metadata, forms);
  const Box whole = cf_points(array, metadata, lists);
  const Index values = cf_values_of_point(array, metadata, lists);
  const bool has_time = !time_units_.empty() && array.source == CfSource::values;
  Variable shaped = variable;
  shaped.components = 1;
  hdf5::Extents extents =
      extents_of(shaped, mesh.index_dimensions(), {whole.extent(0), whole.extent(1), whole.extent(2)});
  std::vector<std::string> names = array.dimensions;
  if (names.size() > extents.size()) extents.push_back(static_cast<hsize_t>(values));
  if (has_time) {
    extents.insert(extents.begin(), 1);
    names.insert(names.begin(), "time");
  }
  const bool has_place = count >= 0 && !whole.empty();
  hdf5::Layout layout;
  layout.placed = true;
  const hdf5::Fill fill = form.is_scaled ? hdf5::Fill::lowest : hdf5::Fill::absent;
  hdf5::Dataset dataset = has_place ? file.root().dataset(array.name, form.type, extents, layout)
                                    : file.root().virtual_dataset(array.name, form.type, extents, {}, fill);
  put(dataset, time_units_.empty() ? with_single_time(array.attributes) : array.attributes);
  if (array.source == CfSource::values) {
    if (mesh.kind() == MeshKind::unstructured) add_location(dataset, array, mesh, lists);
    describe_form(dataset, form);
    describe_scale(dataset, form);
    if (!form.is_scaled && !missing_value(form).empty()) dataset.set_missing("_FillValue", form.type);
  } else if (array.source == CfSource::corner_ids && (lists.total(mesh.id).most > 3 || count < whole.count() ||
                                                      lists.total(mesh.id).least < lists.total(mesh.id).most)) {
    dataset.set_int32("_FillValue", -1);  // VTK's reader wants it for more than three corners
  }
  places_.push_back(has_place ? dataset.place() : 0);
  lengths_.push_back(has_place ? static_cast<std::uint64_t>(whole.count() * values) * size_of(form.type) : 0);
  dimensions.attach(dataset, names);
}

/// Writes attributes that tell to which part of the topology the values belong.
void NetcdfFiles::add_location(hdf5::Dataset& dataset, const CfArray& array, const Mesh& mesh, const CfLists& lists) {
  constexpr const char* parts[3] = {"edge", "face", "volume"};
  const int cells = std::max(lists.total(mesh.id).dimensions, 1);
  const auto found = std::find_if(layout_.topologies.begin(), layout_.topologies.end(),
                                  [&](const CfTopology& one) { return one.mesh == mesh.id; });
  dataset.set_ascii("mesh", found->name);
  dataset.set_ascii("location", array.on_cells ? parts[cells - 1] : "node");
}

void NetcdfFiles::make(const std::string& path, const Metadata& metadata, const CfShape& shape,
                       const AgreedForms& forms) {
  places_.clear();
  lengths_.clear();
  hdf5::File file(path, true);
  {
    hdf5::Dimensions dimensions(file.root());
    describe(file, dimensions, shape);
    for (std::size_t n = 0; n < layout_.arrays.size(); ++n) {
      add_array(file, dimensions, layout_.arrays[n], shape.counts[n], metadata, shape.lists, forms);
    }
    dimensions.finish();
  }
  file.close();
}

/// Keeps the bytes of the file outside of arrays and times.
void NetcdfFiles::keep_pieces(const std::string& path) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> others;
  for (std::size_t n = 0; n < places_.size(); ++n) others.emplace_back(places_[n], lengths_[n]);
  for (const std::uint64_t place : {times_.time, times_.cycle, times_.iteration}) others.emplace_back(place, 8);
  if (times_.bounds > 0) others.emplace_back(times_.bounds, 16);
  size_ = size_of_file(path);
  others.emplace_back(size_, 0);
  std::sort(others.begin(), others.end());
  const Descriptor file(open_file_to_read(path));
  if (file.get() < 0) fail_file("open", path, errno);
  pieces_.clear();
  std::uint64_t at = 0;
  for (const auto& [place, length] : others) {
    if (length == 0 && place != size_) continue;
    if (place > at) {
      Piece piece{at, std::string(place - at, '\0')};
      piece.bytes.resize(read_at(file.get(), path, at, piece.bytes.data(), piece.bytes.size()));
      pieces_.push_back(std::move(piece));
    }
    at = std::max(at, place + length);
  }
}

/// Writes missing values where blocks leave gaps, before the blocks' values are written.
void NetcdfFiles::erase_arrays(int file, const std::string& path, const Metadata& metadata, const CfShape& shape,
                               const AgreedForms& forms) {
  constexpr std::size_t most = 1u << 20;  // bytes at a time
  for (std::size_t n = 0; n < places_.size(); ++n) {
    const CfArray& array = layout_.arrays[n];
    const bool is_full = shape.counts[n] == cf_points(array, metadata, shape.lists).count();
    if (places_[n] == 0 || is_full) continue;
    std::string value = missing_value(form_of(array, metadata, forms));
    if (array.source == CfSource::corner_ids) value = text_of(std::int32_t{-1});
    if (value.empty()) continue;
    std::string many;
    while (many.size() < std::min<std::uint64_t>(most, lengths_[n])) many += value;
    for (std::uint64_t done = 0; done < lengths_[n]; done += many.size()) {
      write_at(file, path, places_[n] + done, std::string_view(many).substr(0, lengths_[n] - done));
    }
  }
}

std::vector<std::uint64_t> NetcdfFiles::create(const std::string& path, const Iteration& iteration,
                                               const Metadata& metadata, const CfShape& shape,
                                               const AgreedForms& forms) {
  window_ = cf_window(layout_, metadata);
  std::vector<std::int64_t> wanted{window_ ? 1 : 0};
  for (std::size_t n = 0; n < layout_.arrays.size(); ++n) {
    wanted.push_back(shape.counts[n] < 0 ? -1 : 0);
    wanted.push_back(static_cast<std::int64_t>(form_of(layout_.arrays[n], metadata, forms).type));
  }
  for (const CfTopology& one : layout_.topologies) wanted.push_back(shape.lists.total(one.mesh).dimensions);
  for (const CfTopology& one : layout_.topologies) wanted.push_back(shape.lists.total(one.mesh).least);
  for (const CfDimension& one : layout_.dimensions) wanted.push_back(shape.lists.length(one));
  if (wanted == kept_) {
    OutputFile(path).close();
  } else {
    kept_.clear();
    make(path, metadata, shape, forms);
    keep_pieces(path);
    if (forms.measured() == 0) kept_ = wanted;
  }
  const Descriptor file(open_existing(path, O_WRONLY));
  if (file.get() < 0) fail_file("open", path, errno);
  for (const Piece& piece : pieces_) write_at(file.get(), path, piece.at, piece.bytes);
  cut_file(path, size_);
  erase_arrays(file.get(), path, metadata, shape, forms);
  write_at(file.get(), path, times_.time, text_of(iteration.time));
  if (window_) write_at(file.get(), path, times_.bounds, text_of(*window_));
  write_at(file.get(), path, times_.cycle, text_of(iteration.cycle));
  write_at(file.get(), path, times_.iteration, text_of(iteration.index));
  return places_;
}

}  // namespace sidestream
