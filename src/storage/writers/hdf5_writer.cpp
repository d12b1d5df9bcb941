// Output `hdf5`: a file for each server, and one that shows each variable as one array.
//
// 1. Passes before the last, if some precision needs them: servers agree on forms (Preparation).
// 2. local: each server with values writes its blocks to a file under a temporary name, in turn if writers are limited.
// 3. combine (collective): rank 0 writes the common file, whose arrays refer to the servers' files. Then all files get
//    their names, and the index of the series is extended, or all are removed.
#include "storage/writers/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/data/box_values.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "sidestream/kit/storage/results/agreed_commit.hpp"
#include "storage/hdf5/hdf5_layout.hpp"
#include "storage/writers/hdf5_chunks.hpp"
#include "storage/writers/hdf5_whole.hpp"
#include "storage/writers/preparation.hpp"

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

/// The array's whole box along the axes that the mesh uses, and the block's points along the others.
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
  OptionPairs precision{};
  bool stagger = false;
  Compression compression{};
  bool checksum = false, ghosts = false;
  std::string level_times{};  ///< event with the times of levels; empty: none
};

FormsOfOutput hdf5_forms(bool compresses) {
  using Kind = Precision::Kind;
  return {{Kind::bit_round, Kind::round, Kind::single, Kind::half, Kind::quantise, Kind::zfp},
          HalfAs::bits,
          compresses,
          "compression: deflate",
          "which only databases have; choose another one, or the output 'database'"};
}

OptionTable<Hdf5Query> hdf5_options() {
  using Query = Hdf5Query;
  return {
      variables_option(&Query::named),
      option<OptionType::file>(
          "file", &Query::file,
          "Name of the file that shows all variables; a server's own file gets its number before the ending.",
          {.standard = "fields-{cycle:06}.h5"}),
      precision_option(
          &Query::precision, hdf5_forms(true),
          "Numbers of `quantise` are spread over the range of all values of the variable in the iteration, "
          "and have the attributes scale_factor, add_offset and _FillValue (for NaN) of the CF conventions. "
          "netCDF's library cannot read `half`. `zfp` takes no other compression, and readers need its plug-in of HDF5 "
          "(number 32013)."),
      options_of(&Query::compression,
                 compression_options({{"deflate", Packer::zlib}, {"zstd", Packer::zstd}},
                                     "Lossless compression of shuffled bytes: `deflate` (zlib), which every HDF5 can "
                                     "read, or `zstd`, which is faster, for readers with that plug-in of HDF5.")),
      option("checksum", &Query::checksum,
             "Stores a checksum (Fletcher-32) with each chunk, which HDF5 verifies on reading.", {.standard = false}),
      option("ghosts", &Query::ghosts, "Keeps the ghost points that the simulation published in the servers' files.",
             {.standard = false}),
      stagger_option(&Query::stagger),
      level_times_option(&Query::level_times)};
}

class Hdf5Writer final : public Task {
 public:
  Hdf5Writer(const Settings& settings, const Metadata& metadata, std::shared_ptr<const OutputDirectory> directory)
      : directory_(directory),
        pending_(directory),
        names_(directory),
        query_(hdf5_options().read(settings, metadata)),
        variables_(chosen_variables(query_.named, metadata)),
        preparation_(
            AgreedForms(settings, query_.precision, variables_, metadata, hdf5_forms(query_.compression.used())),
            query_.stagger, agreed_writers(settings, query_.stagger, *directory)) {
    check_file_option(settings, query_.file, {".h5", ".hdf5"});
    check_groups(settings, metadata);
  }

  Selection selection() const override {
    Selection selection = selection_of(variables_);
    for (Selected& selected : selection.variables) selected.ghosts = query_.ghosts;
    return selection;
  }

  int passes() const override { return preparation_.passes(); }

  Bytes local(const LocalInput& input) override {
    if (preparation_.comes_before(input.pass)) {
      return preparation_.local(input, [&](const Variable& variable, const BlockView& view) {
        return stored_box(view, input.metadata.mesh_of(variable).index_dimensions());
      });
    }
    try {
      return preparation_.write(input, [this, &input] { return write_blocks(input); });
    } catch (...) {
      pending_.discard();
      throw;
    }
  }

  Bytes combine(const CombineInput& input) override {
    if (preparation_.comes_before(input.pass)) return preparation_.combine(input);
    preparation_.commit(input, pending_, [&](const std::vector<Bytes>& partials) {
      pending_.place(path_, [&](const std::string& temporary) {
        write_whole_file(temporary, directory_->provenance(), input, variables_, preparation_.forms(), times_,
                         partials);
      });
      pending_.enter(query_.file, input.iteration, path_);
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
  [[nodiscard]] Box stored_box(const BlockView& view, int dimensions) const {
    return query_.ghosts ? with_ghosts(view, dimensions) : view.points;
  }

  std::shared_ptr<const OutputDirectory> directory_;
  PendingFiles pending_;
  FileNames names_;
  Hdf5Query query_;
  std::vector<std::int32_t> variables_;
  Preparation preparation_;
  std::string path_;           ///< path in this iteration, between local and combine
  std::vector<double> times_;  ///< times of levels in this iteration; empty: the time of the iteration
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
        describe_file(file->root(), "sidestream-blocks", input.iteration, directory_->provenance(), input.servers,
                      preparation_.forms().any_scaled());
        file->root().set("server", static_cast<std::int64_t>(input.server));
        describe_meshes(file->root(), input.metadata, variables_, times_);
      }
      if (!group) {
        group.emplace(file->root().group(variable_path(variable)));
        describe_variable(*group, variable, input.metadata);
        describe_form(*group, preparation_.forms().of(variable));
      }
      const int dimensions = input.metadata.mesh_of(variable).index_dimensions();
      const Box box = stored_box(view, dimensions);
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
  const StoredForm& form = preparation_.forms().of(variable);
  const ChunkPlan plan = plan_chunks(variable, form, dimensions, box, query_.compression, query_.checksum, chunk_bytes);
  const hdf5::Element element{form.type, form.is_half};
  hdf5::Dataset dataset = group.dataset(block_name(view.block.id, view.block.level), element,
                                        extents_of(variable, dimensions, extents), plan.layout);
  describe_scale(dataset, form);
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
  if (plan.packs_here()) return write_packed(dataset, variable, form, dimensions, view.array, box, plan);
  Bytes made;
  const std::uint64_t limit = plan.layout.chunk.empty() ? copy_bytes : chunk_bytes;
  for_each_slab(view.array, box, variable.order, limit, [&](std::span<const std::byte> values, const Box& slab) {
    dataset.write(element, part_of(variable, dimensions, slab, box), form.apply(values, made));
  });
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
