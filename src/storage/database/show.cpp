#include "storage/database/show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/database/context.hpp"
#include "storage/hdf5/hdf5_layout.hpp"
#include "storage/hdf5/named_arrays.hpp"

namespace sidestream::database {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_counted = 4096;  ///< counting gaps costs the square of the blocks

class ContextView {
 public:
  ContextView(const std::string& directory, Context& context) : directory_(directory), context_(context) { gather(); }

  /// Meshes without values, such as packed trees whose flags are not packed, do not justify a file. Variables without
  /// any points count: programs expect them, with length 0.
  [[nodiscard]] bool shows_values() const {
    const std::vector<std::vector<std::string>>& codecs = context_.schema().codecs;
    const std::vector<Variable>& variables = context_.metadata().variables;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      if (variables[v].role == Role::none && (v >= codecs.size() || codecs[v].empty())) return true;
    }
    return false;
  }

  void write(const std::string& path) {
    hdf5::File file(path);
    hdf5::Group& root = file.root();
    const Metadata& metadata = context_.metadata();
    describe_file(root, "sidestream-fields", context_.entry().iteration, context_.schema().provenance,
                  static_cast<int>(context_.entry().contributors));
    root.set("files", std::vector<std::string>(files_.begin(), files_.end()));
    std::vector<std::int32_t> shown;
    for (const auto& [variable, pieces] : pieces_) shown.push_back(variable);
    describe_meshes(root, metadata, shown);
    {
      NamedArrays named(root, metadata, on_several_meshes(metadata, shown));
      for (auto& [variable, pieces] : pieces_)
        show_variable(root, named, metadata.variables[static_cast<std::size_t>(variable)], pieces);
      named.finish();
    }
    show_to_vtk(root, metadata, pieces_, context_.entry().iteration);
    file.close();
  }

 private:
  void gather() {
    for (std::size_t group = 0; group < context_.groups().size(); ++group) {
      for (const PieceRow& row : context_.pieces(group).pieces) {
        const Variable& variable = context_.metadata().variables[row.variable];
        const Block& block = context_.blocks(group)[row.block];
        if (!context_.schema().codecs[row.variable].empty() || block.level != 0) continue;
        const std::string name = segment_name(context_.entry().run, context_.groups()[group].group, row.number);
        files_.insert(name);
        const std::uint64_t length = length_of(name);
        const std::uint64_t element = size_of(variable.type);
        pieces_[variable.id].push_back(
            {block.id, variable.points(block), name, (row.offset - overlay_bytes) / element, length / element});
      }
    }
    for (auto& [variable, pieces] : pieces_) {
      std::stable_sort(pieces.begin(), pieces.end(), [](const Shown& a, const Shown& b) { return a.id < b.id; });
    }
  }

  std::uint64_t length_of(const std::string& name) {
    const auto found = lengths_.find(name);
    if (found != lengths_.end()) return found->second;
    return lengths_[name] = size_of_file((fs::path(directory_) / name).string()) - overlay_bytes;
  }

  void show_variable(hdf5::Group& root, NamedArrays& named, const Variable& variable,
                     const std::vector<Shown>& pieces) {
    const Mesh& mesh = context_.metadata().mesh_of(variable);
    const int dimensions = mesh.index_dimensions();
    Index points = 0;
    for (const Shown& piece : pieces) points += piece.points.count();
    const Box whole = mesh.is_list() ? list_box(points) : mesh.points(variable.centering);
    const std::vector<hdf5::VirtualPart> parts = parts_of(variable, dimensions, mesh.is_list(), whole, pieces);
    const std::string path = variable_path(variable);
    const std::size_t slash = path.rfind('/');
    hdf5::Group group = root.group(path.substr(0, slash));
    const Index3 extents{whole.extent(0), whole.extent(1), whole.extent(2)};
    hdf5::Dataset dataset =
        group.virtual_dataset(path.substr(slash + 1), variable.type, extents_of(variable, dimensions, extents), parts);
    describe_variable(dataset, variable, context_.metadata());
    describe_axes(dataset, variable, dimensions);
    describe_box(dataset, whole);
    if (mesh.is_list()) {
      describe_blocks(dataset, pieces);
      dataset.set("missing", std::int64_t{0});
    } else if (pieces.size() <= most_counted) {
      dataset.set("missing", missing(whole, pieces));
    }
    named.add(dataset, variable, whole);
  }

  static void describe_blocks(hdf5::Dataset& dataset, const std::vector<Shown>& pieces) {
    std::vector<std::int64_t> blocks, lengths;
    for (const Shown& piece : pieces) {
      blocks.push_back(piece.id);
      lengths.push_back(piece.points.extent(0));
    }
    dataset.set("blocks", blocks);
    dataset.set("lengths", lengths);
  }

  static std::int64_t missing(const Box& whole, const std::vector<Shown>& pieces) {
    std::vector<Box> rest{whole};
    for (const Shown& piece : pieces) rest = difference(rest, piece.points);
    std::int64_t count = 0;
    for (const Box& box : rest) count += box.count();
    return count;
  }

  /// Parts with the block of lowest id last: HDF5 reads parts in sequence, and the last part determines a point that
  /// several have.
  static std::vector<hdf5::VirtualPart> parts_of(const Variable& variable, int dimensions, bool is_list,
                                                 const Box& whole, const std::vector<Shown>& pieces) {
    std::vector<hdf5::VirtualPart> parts;
    Index begin = 0;
    for (const Shown& piece : pieces) {
      Box here = piece.points;
      if (is_list) here = {{begin, 0, 0}, {begin + piece.points.extent(0), 1, 1}};
      begin += piece.points.extent(0);
      const auto count = static_cast<hsize_t>(piece.points.count() * variable.components);
      hdf5::VirtualPart part;
      part.here = part_of(variable, dimensions, here, whole);
      part.file = piece.file;
      part.dataset = fmt::format("/{}", name_of(variable.type));
      part.extents = {piece.length};
      part.there = {{piece.first}, {count}};
      parts.push_back(std::move(part));
    }
    std::reverse(parts.begin(), parts.end());
    return parts;
  }

  std::string directory_;
  Context& context_;
  ShownPieces pieces_;
  std::map<std::string, std::uint64_t> lengths_;
  std::set<std::string> files_;
};

}  // namespace

void show(const std::string& directory, const Entry& entry) {
  Context context(directory, entry);
  ContextView view(directory, context);
  if (!view.shows_values()) return;
  const std::string path = (fs::path(directory) / shown_name(entry.slot)).string();
  // Slot numbers are never reused, so this file does not belong to the database.
  if (fs::exists(fs::symlink_status(path))) {
    fail(Code::file, "'{}' is there, and no part of the database; move it away, and give what wrote it another name",
         path);
  }
  const std::string temporary = hidden_beside(path, ".part");
  try {
    view.write(temporary);
    rename_file(temporary, path);
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
}

}  // namespace sidestream::database
