// Output `vtk`: a file for each block, and one for each mesh that lists them.
//
// 1. Passes before the last, if some precision needs them: servers agree on forms (Preparation).
// 2. local: writes blocks under temporary names, and describes each to rank 0.
// 3. combine (collective): rank 0 sorts the descriptions and writes the lists. Where VTK refuses gaps, it fills them
//    with blocks of missing values. Missing parts are logged when they change.
// 4. All files get their names or none; then the series are extended.
#include "storage/writers/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <span>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "sidestream/kit/storage/results/agreed_commit.hpp"
#include "storage/formats/vtk_block.hpp"
#include "storage/hdf5/hdf5_layout.hpp"
#include "storage/writers/preparation.hpp"

namespace sidestream {

namespace {

namespace fs = std::filesystem;

/// The variables of one mesh and their file name pattern.
struct MeshOutput {
  std::int32_t mesh = -1;
  std::vector<std::int32_t> variables;
  std::string pattern;
  std::string path{};  ///< path in this iteration, between write and commit
};

/// Description of one block, sent to rank 0.
struct WrittenBlock {
  Block block;
  std::int32_t absent = 0;     ///< number of variables without values
  std::int32_t placeless = 0;  ///< 1 if the block's geometry is missing, so that no file has the block
  Index counted = 0;           ///< for a box: number of cells that no finer level covers
};

/// The blocks of a mesh by id.
using BlocksById = std::map<std::int64_t, VtkBlock>;

/// Counts of missing parts in the files of a mesh.
struct Missing {
  Index cells = 0;      ///< cells in no block
  Index arrays = 0;     ///< missing arrays of written blocks
  Index placeless = 0;  ///< blocks without geometry
  bool operator==(const Missing&) const = default;
};

Index counted_cells(const Block& block, const std::vector<Box>& covered) {
  std::vector<Box> left{block.cells};
  for (const Box& cells : covered) left = difference(left, cells);
  Index count = 0;
  for (const Box& box : left) count += box.count();
  return count;
}

/// Number of cells of level 0 that are in no block of any level. Blocks of several levels may tile the mesh. Partly
/// covered cells count as present.
Index missing_cells(const Mesh& mesh, const std::vector<WrittenBlock>& blocks) {
  if (mesh.is_list()) return 0;
  double there = 0;
  for (const WrittenBlock& written : blocks) {
    if (written.placeless != 0) continue;
    const Index3 ratio = mesh.ratio_to(written.block.level);
    there += static_cast<double>(written.counted) / static_cast<double>(ratio[0] * ratio[1] * ratio[2]);
  }
  const auto all = static_cast<double>(mesh.cells.count());
  const double missing = all - there;
  return missing < 1e-9 * all ? 0 : static_cast<Index>(std::ceil(missing));
}

std::vector<MeshOutput> outputs_of(const std::string& file, const std::vector<std::int32_t>& variables,
                                   const Metadata& metadata) {
  std::map<std::int32_t, MeshOutput> by_mesh;
  for (const std::int32_t id : variables) {
    MeshOutput& output = by_mesh[metadata.variables[id].mesh];
    output.mesh = metadata.variables[id].mesh;
    output.variables.push_back(id);
  }
  std::vector<MeshOutput> outputs;
  const std::string stem = file.substr(0, file.size() - fs::path(file).extension().string().size());
  for (auto& [id, output] : by_mesh) {
    const Mesh& mesh = metadata.meshes[id];
    output.pattern = stem + (by_mesh.size() > 1 ? "-" + mesh.name : "") + vtk_list_ending(mesh);
    outputs.push_back(std::move(output));
  }
  return outputs;
}

/// "fields-000030.pvti" and block 12 -> "fields-000030/block-000012.vti"
std::string piece_path(const std::string& path, const char* kind, std::int64_t number, const Mesh& mesh) {
  const fs::path whole(path);
  const std::string name = fmt::format("{}-{:06}{}", kind, number, vtk_block_ending(mesh));
  return (whole.parent_path() / whole.stem() / name).string();
}

/// `file` relative to the directory of `path`.
std::string relative_to(const std::string& path, const std::string& file) {
  return fs::path(file).lexically_relative(fs::path(path).parent_path()).generic_string();
}

/// Refuses variables that VTK cannot represent.
void check_variable(const Settings& settings, const Metadata& metadata, const Variable& variable) {
  const Mesh& mesh = metadata.mesh_of(variable);
  if (variable.centering != Centering::cell && variable.centering != nodes_of(mesh.dimensions)) {
    settings.fail("variables", fmt::format("the variable '{}' lies at {}s, but VTK has values in cells and at nodes "
                                           "only; write it with the output 'hdf5'",
                                           variable.name, name_of(variable.centering, mesh.dimensions)));
  }
  if (const std::string why = why_not_vtk(mesh); !why.empty()) {
    settings.fail("variables", fmt::format("the variable '{}' is on the mesh '{}', {}; write it with the output 'hdf5'",
                                           variable.name, mesh.name, why));
  }
}

struct VtkQuery {
  NamedVariables named{};
  std::string file{};
  OptionPairs precision{};
  bool stagger = false;
  Compression compression{};
  std::string level_times{};  ///< event with the times of levels; empty: none
};

FormsOfOutput vtk_forms(bool compresses) {
  using Kind = Precision::Kind;
  return {{Kind::bit_round, Kind::round, Kind::single, Kind::half},
          HalfAs::float32,
          compresses,
          "compression: zlib",
          "for which VTK has no form; choose bit-round:BITS, round:BOUND, single or half, or the output 'hdf5'"};
}

OptionTable<VtkQuery> vtk_options() {
  return {
      variables_option(&VtkQuery::named),
      option<OptionType::file>(
          "file", &VtkQuery::file,
          "Name of the file that lists the blocks, which go into a folder of that name. The ending becomes that of "
          "the kind of mesh: .pvti (uniform), .pvtr (rectilinear), .pvts (curvilinear), .pvtu (unstructured), "
          ".pvtp (points), .vtm (with refinement levels); with several meshes the mesh's name is added.",
          {.standard = "fields-{cycle:06}.pvti"}),
      precision_option(&VtkQuery::precision, vtk_forms(true),
                       "VTK has no reals of 16 bits: `half` stores the same numbers as float32, for `compression`."),
      options_of(&VtkQuery::compression,
                 compression_options({{"zlib", Packer::zlib}}, "Lossless compression that every VTK reader knows.")),
      stagger_option(&VtkQuery::stagger),
      level_times_option(&VtkQuery::level_times)};
}

class VtkWriter final : public Task {
 public:
  VtkWriter(const Settings& settings, const Metadata& metadata, std::shared_ptr<const OutputDirectory> directory)
      : directory_(directory),
        pending_(directory),
        names_(directory),
        query_(vtk_options().read(settings, metadata)),
        variables_(chosen_variables(query_.named, metadata)),
        preparation_(
            AgreedForms(settings, query_.precision, variables_, metadata, vtk_forms(query_.compression.used())),
            query_.stagger, agreed_writers(settings, query_.stagger, *directory)) {
    check_file_option(settings, query_.file, {".pvti", ".pvtr", ".pvts", ".pvtu", ".pvtp", ".vtm"});
    for (const std::int32_t id : variables_) check_variable(settings, metadata, metadata.variables[id]);
    outputs_ = outputs_of(query_.file, variables_, metadata);
  }

  Selection selection() const override {
    Selection selection = selection_of(variables_);
    for (Selected& selected : selection.variables) selected.completed = true;
    return selection;
  }

  int passes() const override { return preparation_.passes(); }

  Bytes local(const LocalInput& input) override {
    if (preparation_.comes_before(input.pass)) {
      return preparation_.local(
          input, [](const Variable& variable, const BlockView& view) { return variable.points(view.block); });
    }
    try {
      return preparation_.write(input, [this, &input] {
        ByteWriter written;
        const std::vector<double> times = level_times_of(input, query_.level_times);
        written.put(times);
        for (MeshOutput& output : outputs_) {
          output.path = names_.choose(output.pattern, input.iteration);
          write_mesh(input, output, times, written);
        }
        return written.take();
      });
    } catch (...) {
      pending_.discard();
      throw;
    }
  }

  Bytes combine(const CombineInput& input) override {
    if (preparation_.comes_before(input.pass)) return preparation_.combine(input);
    preparation_.commit(input, pending_, [&](const std::vector<Bytes>& partials) { list_blocks(input, partials); });
    for (const MeshOutput& output : outputs_) names_.written(output.path);
    return {};
  }

  void discard(const Iteration&) noexcept override { pending_.discard(); }

 private:
  [[nodiscard]] std::vector<BlockArray> arrays_of(const Metadata& metadata, const MeshOutput& output) const;
  void write_mesh(const LocalInput& input, const MeshOutput& output, std::span<const double> times,
                  ByteWriter& written);
  void list_blocks(const CombineInput& input, const std::vector<Bytes>& partials);
  void list_mesh(const CombineInput& input, const MeshOutput& output, const std::vector<WrittenBlock>& blocks,
                 std::span<const double> times);
  [[nodiscard]] std::vector<VtkPiece> fill_gaps(const CombineInput& input, const MeshOutput& output,
                                                const std::vector<WrittenBlock>& blocks);
  void report(const Mesh& mesh, const Iteration& iteration, const Missing& missing);

  std::shared_ptr<const OutputDirectory> directory_;
  PendingFiles pending_;
  FileNames names_;
  VtkQuery query_;
  std::vector<std::int32_t> variables_;
  Preparation preparation_;
  std::vector<MeshOutput> outputs_;
  std::map<std::int32_t, Missing> reported_;  ///< last reported gaps, by mesh
};

/// The times of a mesh's levels, if it has levels.
std::span<const double> of_levels(const Mesh& mesh, std::span<const double> times) {
  return has_level_times(mesh) ? times : std::span<const double>();
}

/// The arrays of a mesh, without values.
std::vector<BlockArray> VtkWriter::arrays_of(const Metadata& metadata, const MeshOutput& output) const {
  std::vector<BlockArray> arrays;
  for (const std::int32_t id : output.variables) {
    arrays.push_back({{&metadata.variables[id], preparation_.forms().of(metadata.variables[id])}, nullptr});
  }
  return arrays;
}

BlocksById blocks_of(const LocalInput& input, const MeshOutput& output, const std::vector<BlockArray>& none) {
  const Mesh& mesh = input.metadata.meshes[output.mesh];
  BlocksById blocks;
  for (std::size_t n = 0; n < output.variables.size(); ++n) {
    for (const BlockView& view : input.of(output.variables[n])) {
      if (view.copy || view.block.empty()) continue;
      if (view.block.level > static_cast<std::int32_t>(mesh.refinement.size())) {
        fail(Code::analysis,
             "block {} of the mesh '{}' is on level {}, but the mesh is declared with {} refinements; declare as many",
             view.block.id, mesh.name, view.block.level, mesh.refinement.size());
      }
      VtkBlock& block = blocks.try_emplace(view.block.id, VtkBlock{view.block, none, view.covered}).first->second;
      block.arrays[n].values = &view;
    }
  }
  return blocks;
}

void VtkWriter::write_mesh(const LocalInput& input, const MeshOutput& output, std::span<const double> times,
                           ByteWriter& written) {
  const Mesh& mesh = input.metadata.meshes[output.mesh];
  for (const auto& [id, block] : blocks_of(input, output, arrays_of(input.metadata, output))) {
    if (!has_structure(mesh, block)) {
      written.put(WrittenBlock{block.block, 0, 1, 0});
      continue;
    }
    write_vtk_block(pending_.begin(piece_path(output.path, "block", id, mesh)), mesh, block, input.iteration,
                    directory_->provenance(), {query_.compression.level}, of_levels(mesh, times));
    const auto absent = std::count_if(block.arrays.begin(), block.arrays.end(), [&](const BlockArray& array) {
      return array.values == nullptr && !array.variable->points(block.block).empty();
    });
    const Index counted = mesh.is_list() ? 0 : counted_cells(block.block, block.covered);
    written.put(WrittenBlock{block.block, static_cast<std::int32_t>(absent), 0, counted});
  }
}

void VtkWriter::list_blocks(const CombineInput& input, const std::vector<Bytes>& partials) {
  std::vector<WrittenBlock> blocks;
  std::vector<double> times;  // the same on all servers
  for (const Bytes& partial : partials) {
    ByteReader source(partial);
    source.get(times);
    while (!source.at_end()) source.get(blocks.emplace_back());
  }
  std::sort(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) {
    return std::pair(a.block.level, a.block.id) < std::pair(b.block.level, b.block.id);
  });
  for (const MeshOutput& output : outputs_) {
    std::vector<WrittenBlock> of_mesh;
    std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(of_mesh),
                 [&](const WrittenBlock& written) { return written.block.mesh == output.mesh; });
    list_mesh(input, output, of_mesh, times);
  }
  // Files are entered after the lists of all meshes are renamed, so that a failure there leaves the indices unchanged.
  for (const MeshOutput& output : outputs_) {
    pending_.enter(output.pattern, input.iteration, output.path);
  }
}

void VtkWriter::list_mesh(const CombineInput& input, const MeshOutput& output, const std::vector<WrittenBlock>& blocks,
                          std::span<const double> times) {
  const Mesh& mesh = input.metadata.meshes[output.mesh];
  const std::string& path = output.path;
  std::vector<VtkPiece> pieces;
  Missing missing{missing_cells(mesh, blocks), 0, 0};
  for (const WrittenBlock& written : blocks) {
    missing.placeless += written.placeless;
    if (written.placeless != 0) continue;
    pieces.push_back({written.block, relative_to(path, piece_path(path, "block", written.block.id, mesh))});
    missing.arrays += written.absent;
  }
  report(mesh, input.iteration, missing);
  if (missing.cells > 0 && vtk_wants_all_cells(mesh)) {
    // Gaps come before the blocks, so that values of blocks win at shared nodes.
    auto fillers = fill_gaps(input, output, blocks);
    pieces.insert(pieces.begin(), fillers.begin(), fillers.end());
  }
  const std::vector<BlockArray> arrays = arrays_of(input.metadata, output);
  const std::vector<VtkVariable> variables(arrays.begin(), arrays.end());
  pending_.place(path, [&](const std::string& temporary) {
    write_vtk_list(temporary, mesh, variables, pieces, input.iteration, directory_->provenance(),
                   of_levels(mesh, times));
  });
}

/// Fills gaps in the mesh with missing values, since VTK's readers refuse a list with gaps. The values are always
/// compressed, since all are equal.
std::vector<VtkPiece> VtkWriter::fill_gaps(const CombineInput& input, const MeshOutput& output,
                                           const std::vector<WrittenBlock>& blocks) {
  const Mesh& mesh = input.metadata.meshes[output.mesh];
  std::vector<Box> gaps{mesh.cells};
  for (const WrittenBlock& written : blocks) {
    if (written.placeless == 0) gaps = difference(gaps, written.block.cells);
  }
  VtkBlock filler;
  filler.gap = true;
  filler.arrays = arrays_of(input.metadata, output);
  std::vector<VtkPiece> pieces;
  for (const Box& gap : gaps) {
    filler.block.cells = gap;
    const std::string file = piece_path(output.path, "gap", static_cast<std::int64_t>(pieces.size()), mesh);
    pending_.place(file, [&](const std::string& temporary) {
      write_vtk_block(temporary, mesh, filler, input.iteration, directory_->provenance(), {1});
    });
    pieces.push_back({filler.block, relative_to(output.path, file)});
  }
  return pieces;
}

/// Logs missing parts when they change.
void VtkWriter::report(const Mesh& mesh, const Iteration& iteration, const Missing& missing) {
  Missing& last = reported_[mesh.id];
  if (missing != last && missing != Missing{}) {
    std::vector<std::string> what;
    if (missing.cells > 0) {
      what.push_back(fmt::format("{} of {} cells of the mesh '{}' are in no block that was published", missing.cells,
                                 mesh.cells.count(), mesh.name));
    }
    if (missing.arrays > 0) {
      what.push_back(fmt::format("{} arrays of blocks of the mesh '{}' did not come", missing.arrays, mesh.name));
    }
    if (missing.placeless > 0) {
      what.push_back(
          fmt::format("{} blocks of the mesh '{}' came without the arrays that say where they are and are "
                      "left out",
                      missing.placeless, mesh.name));
    }
    log::warning("iteration {}: {}; the VTK files have not-a-number for what is missing, or 0 for whole numbers",
                 iteration.index, fmt::join(what, ", "));
  }
  last = missing;
}

}  // namespace

std::vector<std::string> vtk_list_files(const Settings& settings, const Metadata& metadata) {
  const VtkQuery query = vtk_options().read(settings, metadata);
  std::vector<std::string> files;
  for (MeshOutput& output : outputs_of(query.file, chosen_variables(query.named, metadata), metadata)) {
    files.push_back(std::move(output.pattern));
  }
  return files;
}

WriterKind vtk_writer() {
  WriterKind kind;
  kind.name = "vtk";
  kind.text =
      "Writes blocks of every kind of mesh as VTK XML, for ParaView and VisIt, with an index over time. Values at faces "
      "and edges, which VTK does not have, are refused. docs/format-vtk.md describes the files.";
  kind.options = vtk_options().declarations();
  kind.create = [](const Settings& settings, const Metadata& metadata,
                   std::shared_ptr<const OutputDirectory> directory) {
    return std::make_unique<VtkWriter>(settings, metadata, std::move(directory));
  };
  return kind;
}

}  // namespace sidestream
