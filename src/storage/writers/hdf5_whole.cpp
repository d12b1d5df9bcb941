#include "storage/writers/hdf5_whole.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sidestream/kit/base/fields.hpp"
#include "storage/hdf5/named_arrays.hpp"

namespace sidestream {

template <>
inline constexpr std::size_t field_count<StoredBlock> = 5;
template <>
inline constexpr std::size_t field_count<ServerPart> = 4;

namespace {

/// The parts of one variable's virtual dataset, sorted by block id, so that the file does not depend on the order of
/// servers.
struct Mapping {
  std::vector<hdf5::VirtualPart> parts;
  Index points = 0;                           ///< number of points covered
  std::vector<std::int64_t> blocks, lengths;  ///< for lists: the blocks in sequence, and the length of each
};

/// Concatenates the blocks of a mesh of lists in the order of their ids.
Mapping map_lists(const Variable& variable, const std::vector<ServerPart>& servers) {
  std::vector<std::pair<const ServerPart*, const StoredBlock*>> blocks;
  for (const ServerPart& server : servers) {
    for (const StoredBlock& block : server.blocks) {
      if (block.variable == variable.id) blocks.emplace_back(&server, &block);
    }
  }
  std::sort(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) { return a.second->id < b.second->id; });
  Mapping mapping;
  for (const auto& [server, block] : blocks) {
    const Index count = block->stored.extent(0);
    const Box whole = list_box(mapping.points + count);
    const Box here{{mapping.points, 0, 0}, whole.hi};
    const std::string dataset = fmt::format("/{}/{}", variable_path(variable), block_name(block->id, block->level));
    mapping.parts.push_back({part_of(variable, 1, here, whole), server->file, dataset,
                             extents_of(variable, 1, {count, 1, 1}),
                             part_of(variable, 1, block->stored, block->stored)});
    mapping.points += count;
    mapping.blocks.push_back(block->id);
    mapping.lengths.push_back(count);
  }
  return mapping;
}

Mapping map_variable(const Variable& variable, int dimensions, const Box& whole,
                     const std::vector<ServerPart>& servers) {
  std::vector<std::pair<const ServerPart*, const StoredBlock*>> blocks;
  for (const ServerPart& server : servers) {
    for (const StoredBlock& block : server.blocks) {
      if (block.variable == variable.id && block.level == 0) blocks.emplace_back(&server, &block);
    }
  }
  std::sort(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) { return a.second->id < b.second->id; });
  Mapping mapping;
  for (const auto& [server, block] : blocks) {
    const Box& stored = block->stored;
    for (const Box& owned : block->owned) {
      const Box shown = intersection(intersection(owned, stored), whole);
      if (shown.empty()) continue;
      const std::string dataset = fmt::format("/{}/{}", variable_path(variable), block_name(block->id, block->level));
      const Index3 extents{stored.extent(0), stored.extent(1), stored.extent(2)};
      mapping.parts.push_back({part_of(variable, dimensions, shown, whole), server->file, dataset,
                               extents_of(variable, dimensions, extents),
                               part_of(variable, dimensions, shown, stored)});
      mapping.points += shown.count();
    }
  }
  return mapping;
}

void show_variable(hdf5::Group& root, NamedArrays& named, const Variable& variable, const Metadata& metadata,
                   const StoredForm& form, const std::vector<ServerPart>& servers) {
  const bool published = std::any_of(servers.begin(), servers.end(), [&](const ServerPart& server) {
    return std::count(server.published.begin(), server.published.end(), variable.id) > 0;
  });
  if (!published) return;
  const Mesh& mesh = metadata.mesh_of(variable);
  const int dimensions = mesh.index_dimensions();
  const Mapping lists = mesh.is_list() ? map_lists(variable, servers) : Mapping{};
  const Box whole = mesh.is_list() ? list_box(lists.points) : mesh.points(variable.centering);
  const Mapping mapping = mesh.is_list() ? lists : map_variable(variable, dimensions, whole, servers);
  const std::string path = variable_path(variable);
  const std::size_t slash = path.rfind('/');
  hdf5::Group group = root.group(path.substr(0, slash));
  const Index3 extents{whole.extent(0), whole.extent(1), whole.extent(2)};
  hdf5::Dataset dataset = group.virtual_dataset(path.substr(slash + 1), {form.type, form.is_half},
                                                extents_of(variable, dimensions, extents), mapping.parts,
                                                form.is_scaled ? hdf5::Fill::lowest : hdf5::Fill::absent);
  describe_variable(dataset, variable, metadata);
  describe_form(dataset, form);
  describe_scale(dataset, form);
  describe_axes(dataset, variable, dimensions);
  describe_box(dataset, whole);
  if (mesh.is_list()) {
    dataset.set("blocks", mapping.blocks);
    dataset.set("lengths", mapping.lengths);
  }
  dataset.set("missing", whole.count() - mapping.points);
  named.add(dataset, variable, whole);
}

}  // namespace

Bytes pack_part(const ServerPart& part) { return packed_fields(part); }

void write_whole_file(const std::string& path, const std::string& provenance, const CombineInput& input,
                      const std::vector<std::int32_t>& variables, const AgreedForms& forms,
                      std::span<const double> level_times, const std::vector<Bytes>& parts) {
  std::vector<ServerPart> servers;
  std::vector<std::string> files;
  for (const Bytes& part : parts) {
    servers.push_back(unpacked_fields<ServerPart>(ByteReader(part)));
    if (!servers.back().blocks.empty()) files.push_back(servers.back().file);
  }
  std::sort(files.begin(), files.end());
  hdf5::File file(path);
  const int count = servers.empty() ? input.communicator.size() : servers.front().servers;
  describe_file(file.root(), "sidestream-fields", input.iteration, provenance, count, forms.any_scaled());
  file.root().set("files", files);
  describe_meshes(file.root(), input.metadata, variables, level_times);
  {
    NamedArrays named(file.root(), input.metadata, on_several_meshes(input.metadata, variables));
    for (const std::int32_t id : variables) {
      const Variable& variable = input.metadata.variables[id];
      show_variable(file.root(), named, variable, input.metadata, forms.of(variable), servers);
    }
    named.finish();
  }
  file.close();
}

}  // namespace sidestream
