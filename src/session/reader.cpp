#include <fmt/format.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "base/own_environment.hpp"
#include "base/paths.hpp"
#include "session/opening/modules.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/float_environment.hpp"
#include "sidestream/reader.hpp"
#include "storage/database/cell_list.hpp"
#include "storage/database/shared_opening.hpp"
#include "storage/database/stored_values.hpp"

namespace sidestream {

struct StoredContext::Implementation {
  Implementation(std::unique_ptr<database::Context> context, std::string place)
      : values(std::move(context), "context"), directory(std::move(place)) {}

  /// Runs `read`. If a run has removed the context since, the error says so.
  template <class Read>
  auto reading(Read&& read) {
    return database::of_context(directory, values.context().entry(), std::forward<Read>(read));
  }
  /// The visible blocks of a mesh.
  [[nodiscard]] const std::vector<database::PlacedBlock>& blocks(const Mesh& mesh);
  /// One of these blocks, by number. Throws Error(usage).
  [[nodiscard]] const database::PlacedBlock& block(const Mesh& mesh, std::int64_t number);

  database::StoredValues values;
  std::string directory;
  std::map<std::int32_t, std::vector<database::PlacedBlock>> found{};  ///< by id, for meshes that were requested
};

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

struct Reader::Implementation {
  MPI_Comm comm = MPI_COMM_NULL;  ///< the caller's
  std::string directory;
  database::Journal journal;
  std::vector<ListedContext> contexts;
};

namespace {

ListedContext listed_context(const database::Entry& entry) {
  return {entry.slot,   entry.iteration, entry.run,   entry.kind == database::Kind::checkpoint,
          entry.blocks, entry.bytes,     entry.stored};
}

/// The library's communicator over the caller's, or null.
std::unique_ptr<MpiCommunicator> over(MPI_Comm comm) {
  return comm == MPI_COMM_NULL ? nullptr : MpiCommunicator::over(comm);
}

/// Throws Error(usage) on all ranks if they give different numbers. Collective.
void check_same(Communicator& comm, std::int64_t number) {
  std::array<std::int64_t, 2> ends{number, ~number};
  comm.minimum(ends);
  if (ends[0] == ~ends[1]) return;
  fail(Code::usage, "open_context: the ranks ask for contexts {} to {}; give the same number on all of them", ends[0],
       ~ends[1]);
}

}  // namespace

Reader::Reader(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Reader Reader::open(MPI_Comm comm, const std::string& directory) {
  const OwnEnvironment environment;
  const std::unique_ptr<MpiCommunicator> ranks = over(comm);
  auto made = std::make_unique<Implementation>();
  made->comm = comm;
  made->directory = path_from(ranks ? common_folder(*ranks) : working_directory(), directory);
  made->journal = database::shared_journal(ranks.get(), made->directory);
  for (const database::Entry& entry : made->journal.contexts) made->contexts.push_back(listed_context(entry));
  return Reader(std::move(made));
}

Reader Reader::open(const std::string& directory) { return open(MPI_COMM_NULL, directory); }

const std::vector<ListedContext>& Reader::contexts() const noexcept { return implementation_->contexts; }
const std::vector<std::string>& Reader::remarks() const noexcept { return implementation_->journal.remarks; }

std::int64_t Reader::find_cycle(std::int64_t cycle) const {
  const std::vector<ListedContext>& all = implementation_->contexts;
  for (std::size_t n = all.size(); n > 0; --n) {
    if (all[n - 1].iteration.cycle == cycle) return static_cast<std::int64_t>(n - 1);
  }
  // Throws, with a list of the available contexts.
  static_cast<void>(database::candidates(implementation_->journal, {cycle, {}}, implementation_->directory));
  return -1;
}

StoredContext Reader::open_context(std::int64_t number) const {
  const OwnEnvironment environment;
  const std::unique_ptr<MpiCommunicator> ranks = over(implementation_->comm);
  if (ranks) check_same(*ranks, number);
  const std::vector<database::Entry>& entries = implementation_->journal.contexts;
  if (number < 0 || static_cast<std::size_t>(number) >= entries.size()) {
    fail(Code::usage, "open_context: number {} of {} contexts in '{}', counted from 0", number, entries.size(),
         implementation_->directory);
  }
  std::unique_ptr<database::Context> context =
      database::shared_context(ranks.get(), implementation_->directory, entries[static_cast<std::size_t>(number)]);
  context->prepare_codecs();
  return StoredContext(std::make_unique<StoredContext::Implementation>(std::move(context), implementation_->directory));
}

}  // namespace sidestream
