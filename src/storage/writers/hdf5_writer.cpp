#include "storage/writers/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "data/box_values.hpp"
#include "sidestream/kit/base/records.hpp"
#include "storage/files/file_names.hpp"
#include "storage/hdf5/hdf5_layout.hpp"
#include "storage/results/agreed_commit.hpp"
#include "storage/results/series.hpp"
#include "storage/writers/hdf5_whole.hpp"

namespace sidestream {

namespace {

constexpr std::uint64_t chunk_bytes = 1u << 20;  ///< HDF5 caches chunks up to this size by default
constexpr std::uint64_t copy_bytes = 8u << 20;   ///< memory for copying values of ghosted arrays

/// "fields-000030.h5" on server 2 -> "fields-000030-002.h5"
std::string server_path(const std::string& path, int server) {
  const std::filesystem::path whole(path);
  const std::string name = fmt::format("{}-{:03}{}", whole.stem().string(), server, whole.extension().string());
  return (whole.parent_path() / name).string();
}

/// The whole array along the axes that the mesh uses, and the block's points along the others.
Box with_ghosts(const BlockView& view, int dimensions) {
  Box box = view.array.box;
  for (int a = dimensions; a < 3; ++a) {
    box.lo[a] = view.points.lo[a];
    box.hi[a] = view.points.hi[a];
  }
  return box;
}

struct Hdf5Query {
  NamedVariables named{};
  std::string file{};
  Compression deflate{};
  bool checksum = false, ghosts = false;
  std::string level_times{};  ///< event with the times of levels; empty: none
};

OptionTable<Hdf5Query> hdf5_options() {
  using Query = Hdf5Query;
  return {
      variables_option(&Query::named),
      option<OptionType::file>(
          "file", &Query::file,
          "Name of the file that shows all variables; a server's own file gets its number before the ending.",
          {.standard = "fields-{cycle:06}.h5"}),
      options_of(&Query::deflate,
                 compression_options("deflate", "Lossless compression (shuffle and zlib) that every HDF5 can read.")),
      option("checksum", &Query::checksum,
             "Stores a checksum (Fletcher-32) with each chunk, which HDF5 verifies on reading.", {.standard = false}),
      option("ghosts", &Query::ghosts, "Keeps the ghost points that the simulation published in the servers' files.",
             {.standard = false}),
      level_times_option(&Query::level_times)};
}

class Hdf5Writer final : public Task {
 public:
  Hdf5Writer(const Settings& settings, const Metadata& metadata, std::shared_ptr<const OutputDirectory> directory)
      : directory_(directory),
        pending_(directory),
        names_(directory),
        series_(directory),
        query_(hdf5_options().read(settings, metadata)),
        variables_(chosen_variables(query_.named, metadata)) {
    check_file_option(settings, query_.file, {".h5", ".hdf5"});
    check_groups(settings, metadata);
  }

  Selection selection() const override {
    Selection selection = selection_of(variables_);
    for (Selected& selected : selection.variables) selected.ghosts = query_.ghosts;
    return selection;
  }

  Bytes local(const LocalInput& input) override {
    try {
      return write_blocks(input);
    } catch (...) {
      pending_.discard();
      throw;
    }
  }

  Bytes combine(const CombineInput& input) override {
    pending_.commit(input.communicator, input.partials, [&](const std::vector<Bytes>& partials) {
      pending_.place(path_, [&](const std::string& temporary) {
        write_whole_file(temporary, directory_->provenance(), input, variables_, times_, partials);
      });
      pending_.enter(series_.of(query_.file, input.iteration), input.iteration, path_);
    });
    names_.written(path_);
    return {};
  }

  void discard(const Iteration&) noexcept override { pending_.discard(); }

 private:
  void check_groups(const Settings& settings, const Metadata& metadata) const;
  Bytes write_blocks(const LocalInput& input);
  void write_block(hdf5::Group& group, const Variable& variable, int dimensions, const BlockView& view,
                   const Box& box) const;
  [[nodiscard]] hdf5::Layout layout_of(const Variable& variable, int dimensions, const Box& box) const;

  std::shared_ptr<const OutputDirectory> directory_;
  PendingFiles pending_;
  FileNames names_;
  SeriesSet series_;
  Hdf5Query query_;
  std::vector<std::int32_t> variables_;
  std::string path_;           ///< path in this iteration, between local and combine
  std::vector<double> times_;  ///< times of levels in this iteration; empty: that of the iteration
};

/// Refuses nested names: a variable is a group in one kind of file and an array in the other, so no other object may
/// lie below it.
void Hdf5Writer::check_groups(const Settings& settings, const Metadata& metadata) const {
  for (const std::int32_t outer : variables_) {
    for (const std::int32_t inner : variables_) {
      const Variable &above = metadata.variables[outer], &below = metadata.variables[inner];
      if (!(variable_path(below) + "/").starts_with(variable_path(above) + "/") || inner == outer) continue;
      settings.fail("variables",
                    fmt::format("the variable '{}' of the group '{}' would lie within the variable '{}' of "
                                "the file; give the group another name",
                                below.name, below.group, above.name));
    }
  }
}

/// Writes this server's file, if it has values. Returns the file's name and content.
Bytes Hdf5Writer::write_blocks(const LocalInput& input) {
  path_ = names_.choose(query_.file, input.iteration);
  times_ = level_times_of(input, query_.level_times);
  const std::string path = server_path(path_, input.server);
  ServerPart part{std::filesystem::path(path).filename().string(), input.servers, {}, {}};
  std::optional<hdf5::File> file;
  for (const std::int32_t id : variables_) {
    const Variable& variable = input.metadata.variables[id];
    std::optional<hdf5::Group> group;
    if (!input.of(id).empty()) part.published.push_back(id);
    for (const BlockView& view : input.of(id)) {
      if (view.copy || view.points.empty()) continue;
      if (!file) {
        file.emplace(pending_.begin(path));
        describe_file(file->root(), "sidestream-blocks", input.iteration, directory_->provenance(), input.servers);
        file->root().set("server", static_cast<std::int64_t>(input.server));
        describe_meshes(file->root(), input.metadata, variables_, times_);
      }
      if (!group) {
        group.emplace(file->root().group(variable_path(variable)));
        describe_variable(*group, variable, input.metadata);
      }
      const int dimensions = input.metadata.mesh_of(variable).index_dimensions();
      const Box box = query_.ghosts ? with_ghosts(view, dimensions) : view.points;
      write_block(*group, variable, dimensions, view, box);
      part.blocks.push_back({id, view.block.level, view.block.id, box, view.owned});
    }
  }
  if (file) file->close();
  return pack_part(part);
}

void Hdf5Writer::write_block(hdf5::Group& group, const Variable& variable, int dimensions, const BlockView& view,
                             const Box& box) const {
  const Index3 extents{box.extent(0), box.extent(1), box.extent(2)};
  const hdf5::Layout layout = layout_of(variable, dimensions, box);
  hdf5::Dataset dataset = group.dataset(block_name(view.block.id, view.block.level), variable.type,
                                        extents_of(variable, dimensions, extents), layout);
  describe_axes(dataset, variable, dimensions);
  describe_box(dataset, box);
  if (query_.ghosts) describe_box(dataset, view.points, "points");
  dataset.set("id", view.block.id);
  dataset.set("level", static_cast<std::int64_t>(view.block.level));
  dataset.set("owner", static_cast<std::int64_t>(view.block.client));
  std::vector<std::int64_t> owned;
  for (const Box& piece : view.owned) {
    owned.insert(owned.end(), piece.lo.begin(), piece.lo.end());
    owned.insert(owned.end(), piece.hi.begin(), piece.hi.end());
  }
  dataset.set("owned", owned, 6);
  std::vector<std::int64_t> covered;
  for (const Box& cells : view.covered) {
    const Box here = intersection(cells, view.block.cells);
    if (here.empty()) continue;
    covered.insert(covered.end(), here.lo.begin(), here.lo.end());
    covered.insert(covered.end(), here.hi.begin(), here.hi.end());
  }
  if (!covered.empty()) dataset.set("covered", covered, 6);
  const std::uint64_t limit = layout.chunk.empty() ? copy_bytes : chunk_bytes;
  for_each_slab(view.array, box, variable.order, limit, [&](std::span<const std::byte> values, const Box& slab) {
    dataset.write(variable.type, part_of(variable, dimensions, slab, box), values);
  });
}

hdf5::Layout Hdf5Writer::layout_of(const Variable& variable, int dimensions, const Box& box) const {
  if (!query_.deflate.used && !query_.checksum) return {};
  const std::uint64_t point_bytes = size_of(variable.type) * static_cast<std::uint64_t>(variable.components);
  return {extents_of(variable, dimensions, slab_extents(box, point_bytes, chunk_bytes, variable.order)),
          query_.deflate.level, query_.checksum};
}

}  // namespace

WriterKind hdf5_writer() {
  WriterKind kind;
  kind.name = "hdf5";
  kind.text =
      "Writes blocks to HDF5: one file per server and iteration, and one that shows each variable as one array over "
      "the whole mesh. docs/format-hdf5.md describes the layout.";
  kind.options = hdf5_options().declarations();
  kind.create = [](const Settings& settings, const Metadata& metadata,
                   std::shared_ptr<const OutputDirectory> directory) {
    return std::make_unique<Hdf5Writer>(settings, metadata, std::move(directory));
  };
  return kind;
}

}  // namespace sidestream
