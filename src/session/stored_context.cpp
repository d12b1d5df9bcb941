#include "session/stored_context.hpp"

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/float_environment.hpp"
#include "storage/database/cell_list.hpp"

namespace sidestream {

struct Cells::Implementation {
  database::CellList list;
};

Cells::Cells(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Cells::Cells(Cells&&) noexcept = default;
Cells& Cells::operator=(Cells&&) noexcept = default;
Cells::~Cells() = default;
const std::vector<std::int32_t>& Cells::level() const noexcept { return implementation_->list.level; }
const std::vector<Index3>& Cells::index() const noexcept { return implementation_->list.index; }
const std::vector<std::uint8_t>& Cells::refined() const noexcept { return implementation_->list.refined; }
const std::vector<std::int64_t>& Cells::owner() const noexcept { return implementation_->list.owner; }

const std::vector<database::PlacedBlock>& StoredContext::Implementation::blocks(const Mesh& mesh) {
  const auto known = found.find(mesh.id);
  return known != found.end() ? known->second : found.emplace(mesh.id, values.blocks(mesh)).first->second;
}

const database::PlacedBlock& StoredContext::Implementation::block(const Mesh& mesh, std::int64_t number) {
  const std::vector<database::PlacedBlock>& all = blocks(mesh);
  if (number < 0 || static_cast<std::size_t>(number) >= all.size()) {
    fail(Code::usage, "number {} of {} blocks of '{}', counted from 0", number, all.size(), mesh.name);
  }
  return all[static_cast<std::size_t>(number)];
}

StoredContext::StoredContext(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
StoredContext::StoredContext(StoredContext&&) noexcept = default;
StoredContext& StoredContext::operator=(StoredContext&&) noexcept = default;
StoredContext::~StoredContext() = default;

const Iteration& StoredContext::iteration() const noexcept {
  return implementation_->values.context().entry().iteration;
}
const Metadata& StoredContext::metadata() const noexcept { return implementation_->values.metadata(); }
const std::string& StoredContext::provenance() const noexcept {
  return implementation_->values.context().schema().provenance;
}
std::uint64_t StoredContext::bytes_read() const noexcept { return implementation_->values.context().bytes_read(); }

std::string StoredContext::codec(const std::string& variable) const {
  return implementation_->values.codec(implementation_->values.variable(variable));
}

std::vector<double> StoredContext::level_times(const std::string& mesh) const {
  const auto& times = implementation_->values.context().schema().level_times;
  const auto found = times.find(implementation_->values.mesh(mesh).id);
  return found == times.end() ? std::vector<double>() : found->second;
}

void StoredContext::limit_levels(std::optional<std::int32_t> deepest) {
  implementation_->values.limit_levels(deepest);
  implementation_->found.clear();
}

std::int64_t StoredContext::block_count(const std::string& mesh) const {
  return static_cast<std::int64_t>(implementation_->blocks(implementation_->values.mesh(mesh)).size());
}

Block StoredContext::block(const std::string& mesh, std::int64_t number) const {
  Implementation& own = *implementation_;
  const database::PlacedBlock& placed = own.block(own.values.mesh(mesh), number);
  return own.reading([&] { return own.values.seen(placed); });
}

std::optional<std::uint64_t> StoredContext::block_bytes(const std::string& variable, std::int64_t number) const {
  Implementation& own = *implementation_;
  const Variable& of = own.values.variable(variable);
  const database::PlacedBlock& placed = own.block(metadata().mesh_of(of), number);
  return own.reading([&] { return own.values.bytes_on(of, placed); });
}

void StoredContext::read_block(const std::string& variable, std::int64_t number, void* data, std::uint64_t bytes) {
  const FloatEnvironment environment;
  Implementation& own = *implementation_;
  const Variable& of = own.values.variable(variable);
  const database::PlacedBlock& placed = own.block(metadata().mesh_of(of), number);
  own.reading([&] {
    const std::optional<std::uint64_t> has = own.values.bytes_on(of, placed);
    if (has && *has != bytes) {
      fail(Code::usage, "read_block: '{}' has {} bytes on block number {}, but room for {} was given", variable, *has,
           number, bytes);
    }
    own.values.read(of, placed, {static_cast<std::byte*>(data), bytes});
  });
}

void StoredContext::read_box(const std::string& variable, std::int32_t level, const Box& box, const Box& array,
                             void* data) {
  const FloatEnvironment environment;
  Implementation& own = *implementation_;
  own.reading([&] { own.values.read_box(own.values.variable(variable), level, box, array, data); });
}

void StoredContext::read_list(const std::string& variable, std::int64_t first, std::int64_t count, void* data) {
  const FloatEnvironment environment;
  Implementation& own = *implementation_;
  own.reading(
      [&] { own.values.read_list(own.values.variable(variable), first, count, static_cast<std::byte*>(data)); });
}

std::int64_t StoredContext::list_length(const std::string& variable) {
  Implementation& own = *implementation_;
  const Variable& of = own.values.variable(variable);
  if (!metadata().mesh_of(of).is_list()) fail(Code::usage, "list_length: '{}' is no list; it has a box", variable);
  return own.reading([&] { return own.values.list_length(of); });
}

StoredTree StoredContext::tree(const std::string& mesh, std::int64_t number) {
  const FloatEnvironment environment;
  Implementation& own = *implementation_;
  const Mesh& of = own.values.mesh(mesh);
  if (of.kind() != MeshKind::octree) fail(Code::usage, "tree: the mesh '{}' is no octree", mesh);
  const database::PlacedBlock& placed = own.block(of, number);
  return own.reading([&] {
    StoredTree tree;
    const Block block = own.values.seen(placed);
    const auto cells = static_cast<std::size_t>(block.cells.extent(0));
    if (cells == 0) {
      tree.starts.assign(1, 0);
      return tree;
    }
    tree.starts = own.values.starts(placed);
    tree.refined = own.values.flags(placed, Role::refined).value();
    tree.owned = own.values.flags(placed, Role::owned).value_or(std::vector<std::uint8_t>(cells, 1));
    for (std::vector<std::uint8_t>* flags : {&tree.refined, &tree.owned}) {
      for (std::uint8_t& flag : *flags) flag = flag != 0 ? 1 : 0;
    }
    return tree;
  });
}

Cells StoredContext::list_cells(const std::string& mesh, const CellSelection& selection) {
  Implementation& own = *implementation_;
  const database::CellChoice choice{selection.level, selection.box, selection.coarsest, selection.deepest,
                                    selection.leaves};
  const Mesh& of = own.values.mesh(mesh);
  return own.reading([&] {
    return Cells(
        std::make_unique<Cells::Implementation>(Cells::Implementation{database::list_cells(own.values, of, choice)}));
  });
}

std::int64_t StoredContext::read_cells(const std::string& variable, const Cells& cells, void* data,
                                       std::uint64_t bytes) {
  const FloatEnvironment environment;
  Implementation& own = *implementation_;
  const Variable& of = own.values.variable(variable);
  const std::uint64_t has = cells.size() * static_cast<std::uint64_t>(of.components) * size_of(of.type);
  if (has != bytes) {
    fail(Code::usage, "read_cells: '{}' has {} bytes in {} cells, but room for {} was given", variable, has,
         cells.size(), bytes);
  }
  return own.reading(
      [&] { return database::read_cells(own.values, of, cells.implementation_->list, static_cast<std::byte*>(data)); });
}

}  // namespace sidestream
