#include "import/imported.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <iostream>

#include "base/mpi/communicator.hpp"
#include "base/paths.hpp"
#include "progress.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "storage/codecs/pipeline.hpp"
#include "storage/database/domain.hpp"
#include "storage/database/journal.hpp"
#include "storage/database/schema.hpp"
#include "storage/database/tree_storing.hpp"

namespace sidestream::importing {

namespace {

/// Packing of a variable's values that do not go through the tree codec.
using PackingOf = std::function<const Packing&(std::int32_t variable)>;

/// Cell variables of one block, including flags. Values must stay until the domain is written.
class TreeBlock {
 public:
  TreeBlock(const database::Schema& schema, const PackingOf& packing, const database::Encoding& encoding,
            database::StoredTrees& trees)
      : schema_(schema), packing_(packing), encoding_(encoding), trees_(trees) {}

  /// Sets the contiguous view of a variable on the block.
  void give(std::int32_t variable, const BlockView& view) { views_[variable] = &view; }
  /// Adds the variables to the domain. Returns their sizes there in bytes, by variable.
  [[nodiscard]] std::map<std::int32_t, std::uint64_t> store(database::Domain& domain);
  /// Number of stored cells; valid after `store`.
  [[nodiscard]] Index cells() const noexcept { return cells_; }

 private:
  const database::Schema& schema_;
  const PackingOf& packing_;
  const database::Encoding& encoding_;
  database::StoredTrees& trees_;
  std::map<std::int32_t, const BlockView*> views_;
  Index cells_ = 0;
};

std::map<std::int32_t, std::uint64_t> TreeBlock::store(database::Domain& domain) {
  const Variable& first = schema_.metadata.variables.at(static_cast<std::size_t>(views_.begin()->first));
  const Mesh& mesh = schema_.metadata.mesh_of(first);
  const BlockView& refined = *views_.at(mesh.array(Role::refined));
  trees_.add(mesh, refined, views_.at(mesh.array(Role::owned)));
  database::StoredTree* const tree = trees_.find(mesh.id, refined.block.id);
  if (tree == nullptr) fail(Code::internal, "import: the flags of block {} are not those of a tree", refined.block.id);
  cells_ = tree->tree.cells();
  const database::TreeValues values{[this](const Variable& variable) {
                                      const auto found = views_.find(variable.id);
                                      return found == views_.end() ? nullptr : found->second;
                                    },
                                    packing_};
  database::TreeStoring storing(schema_, values, encoding_, trees_);
  std::map<std::int32_t, std::uint64_t> stored;
  for (const auto& [id, view] : views_) {
    storing.add(schema_.metadata.variables[static_cast<std::size_t>(id)], *view, *tree, domain);
    stored[id] = domain.pieces().back().row.bytes;
  }
  return stored;
}

}  // namespace

Imported::Imported(const ImportOptions& options, std::string provenance)
    : options_(options), kinds_(codecs_for_readers()), trees_(options.prune) {
  if (options_.codec == std::vector<std::string>{"none"}) options_.codec.clear();
  schema_.provenance = std::move(provenance);
  schema_.chunk = database::chunk_bytes;
  encoding_.pool = &pool_;
}

std::int32_t Imported::add(Mesh mesh) {
  mesh.id = static_cast<std::int32_t>(schema_.metadata.meshes.size());
  schema_.metadata.meshes.push_back(std::move(mesh));
  return schema_.metadata.meshes.back().id;
}

/// False if `auto` has to do without the codec, since its module is not there.
bool Imported::has_tree_codec(bool by_name) {
  if (encoding_.of_trees) return true;
  FoundTreeCodec found = find_tree_codec(database::tree_codec, kinds_, working_directory());
  if (!found.codec && by_name) fail(Code::configuration, "--codec: {}", found.missing);
  encoding_.of_trees = std::move(found.codec);
  return encoding_.of_trees != nullptr;
}

/// True if the tree codec applies, as in the output `database`: for flags of trees wherever anything is encoded, for
/// values with `auto` or by name.
bool Imported::goes_as_tree(const Variable& variable) {
  const std::vector<std::string>& codec = options_.codec;
  const Mesh& mesh = schema_.metadata.mesh_of(variable);
  if (mesh.kind() != MeshKind::octree || variable.centering != Centering::cell || codec.empty()) return false;
  if (variable.role != Role::none) return true;
  const bool by_name = codec == std::vector<std::string>{database::tree_codec};
  return (by_name || codec == std::vector<std::string>{"auto"}) && has_tree_codec(by_name);
}

std::int32_t Imported::add(Variable variable, VariableRelations relations) {
  Metadata& metadata = schema_.metadata;
  if (metadata.find_variable(variable.name)) {
    fail(Code::file, "import: there are two variables '{}', and a database has each name once", variable.name);
  }
  variable.id = static_cast<std::int32_t>(metadata.variables.size());
  if (variable.role != Role::none) {
    metadata.meshes.at(static_cast<std::size_t>(variable.mesh)).arrays[static_cast<std::size_t>(variable.role)] =
        variable.id;
  }
  schema_.relations.push_back(std::move(relations));
  if (goes_as_tree(variable)) {
    packings_.emplace_back();
    schema_.codecs.push_back({database::tree_codec});
    schema_.other_codecs.emplace_back();
  } else {
    const bool elsewhere = options_.codec == std::vector<std::string>{database::tree_codec};
    const std::vector<std::string> names = elsewhere ? std::vector<std::string>{"auto"} : options_.codec;
    add_codecs_of_modules({names}, working_directory(), kinds_);
    packings_.push_back(Packing::chosen(names, variable.type, kinds_));
    const auto& lists = packings_.back().lists();
    schema_.codecs.push_back(lists.front());
    schema_.other_codecs.emplace_back(lists.begin() + 1, lists.end());
  }
  if (!packings_.back().lossless()) {
    fail(Code::usage, "--codec: '{}' loses something; what is imported keeps every bit",
         fmt::join(options_.codec, " "));
  }
  metadata.variables.push_back(std::move(variable));
  return metadata.variables.back().id;
}

const BlockView& Imported::keep(std::int32_t variable, const Block& block, Bytes values) {
  const Variable& declared = schema_.metadata.variables.at(static_cast<std::size_t>(variable));
  auto view = std::make_unique<BlockView>();
  view->block = block;
  view->points = declared.points(block);
  view->owned = {view->points};
  view->array.data = values.data();
  view->array.type = declared.type;
  view->array.box = view->points;
  view->array.components = declared.components;
  view->array.strides = packed_strides(view->points, declared.components, declared.order);
  if (packed_bytes(view->points, declared.components, declared.type) != values.size()) {
    fail(Code::internal, "import: '{}' has {} bytes on block {}", declared.name, values.size(), block.id);
  }
  values_.push_back(std::move(values));
  views_.push_back(std::move(view));
  return *views_.back();
}

void Imported::give_up() {
  trees_.clear();
  views_.clear();
  values_.clear();
}

std::uint64_t Imported::Part::add(std::int32_t variable, const Block& block, Bytes values) {
  const BlockView& view = imported_.keep(variable, block, std::move(values));
  const auto number = static_cast<std::size_t>(variable);
  domain_.add(static_cast<std::uint32_t>(variable), imported_.schema_.metadata.variables[number], view,
              imported_.packings_[number], imported_.encoding_);
  if (domain_.pieces().back().is_encoded) imported_.values_.back() = {};
  return domain_.pieces().back().row.bytes;
}

Imported::Part::StoredBlock Imported::Part::add_tree(const Block& block,
                                                     std::vector<std::pair<std::int32_t, Bytes>> values) {
  const PackingOf packing = [&](std::int32_t variable) -> const Packing& {
    return imported_.packings_[static_cast<std::size_t>(variable)];
  };
  TreeBlock tree(imported_.schema_, packing, imported_.encoding_, imported_.trees_);
  for (auto& [variable, bytes] : values) tree.give(variable, imported_.keep(variable, block, std::move(bytes)));
  StoredBlock stored;
  stored.bytes = tree.store(domain_);
  stored.cells = tree.cells();
  return stored;
}

void Imported::store(Communicator& all, int parts, const char* unit,
                     const std::function<void(int part, Part& to)>& fill, const Iteration& iteration,
                     const std::function<bool()>& stop) {
  database::StoringOptions how;
  how.directory = options_.target;
  how.kind = database::Kind::post;
  how.max_file_size = std::uint64_t{2} << 30;
  how.flush = options_.flush;
  how.show = options_.codec.empty();  // HDF5's readers only see values without codecs
  agree_on_tree_codec(all, encoding_.of_trees != nullptr);
  database::Storing storing(how);
  schema_.pruned = options_.prune && database::has_trees(schema_.metadata);
  const int size = all.size(), rounds = (parts + size - 1) / size;
  const ProgressLine progress(unit, parts, all.rank() == 0);
  const auto next = [&](int round, database::Domain& domain) {
    give_up();
    const int number = round * size + all.rank();
    if (number >= parts) return;
    if (stop()) fail(Code::system, "import: a signal has asked it to end; nothing was imported");
    progress.at(number);
    Part part(*this, domain);
    fill(number, part);
  };
  storing.store(all, rounds, next, schema_, iteration);
}

}  // namespace sidestream::importing

namespace sidestream {

namespace {

/// Collective. Removes the files of a failed import, if there were none before.
void run_import(Communicator& all, const ImportOptions& options, const std::function<bool()>& stop) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool fresh = all.rank() == 0 && !fs::exists(options.target, ignored);
  try {
    const std::string text = options.format == "ramses" ? importing::import_ramses(all, options, stop)
                                                        : importing::import_amrex(all, options, stop);
    if (all.rank() == 0) std::cout << text << std::flush;
  } catch (...) {
    if (fresh && database::is_database(options.target)) fs::remove_all(options.target, ignored);
    throw;
  }
}

}  // namespace

int import_files(const ImportOptions& options) {
  return run_group("import", [&](MPI_Comm group, const std::function<bool()>& stop) {
    run_import(*MpiCommunicator::over(group), options, stop);
  });
}

}  // namespace sidestream
