#include "sidestream/restart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>

#include "base/mpi/communicator.hpp"
#include "base/own_environment.hpp"
#include "base/paths.hpp"
#include "session/opening/configuration.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/base/records.hpp"
#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"
#include "storage/files/output_file.hpp"
#include "storage/results/agreed_commit.hpp"

namespace sidestream {

using database::Context;
using database::Journal;

struct Restart::Implementation {
  std::unique_ptr<Context> context;
  std::vector<std::string> remarks;
  std::optional<std::int32_t> deepest;

  [[nodiscard]] bool leaves_out(const Block& block) const { return deepest && block.level > *deepest; }
  /// True if a block has a tree whose finer levels are left out.
  [[nodiscard]] bool cuts(const Block& block) const {
    const Mesh& mesh = context->metadata().meshes[static_cast<std::size_t>(block.mesh)];
    return deepest && mesh.kind() == MeshKind::octree && block.cells.extent(0) > 0;
  }
  /// The block without the parts that are left out.
  [[nodiscard]] Block seen(std::size_t group, std::uint32_t number) const {
    Block block = context->blocks(group)[number];
    if (cuts(block)) block.cells.hi[0] = starts(group, number).back();
    return block;
  }
  /// First index of each level of a cut block down to the deepest one, then the end.
  [[nodiscard]] std::vector<Index> starts(std::size_t group, std::uint32_t number) const {
    std::vector<Index> all = context->tree(group, number).starts();
    all.resize(std::min(all.size(), static_cast<std::size_t>(*deepest) + 2));
    return all;
  }
  /// Position of a variable's values on a block.
  struct Place {
    std::int64_t block = 0;  ///< id of the block
    std::size_t group = 0;
    const database::PieceRow* row = nullptr;
  };
  /// All visible pieces of a variable, by ascending id of their block. Valid until the next call.
  [[nodiscard]] std::span<const Place> places(const Variable& variable);
  std::optional<std::int32_t> placed;  ///< the variable of `found_places`
  std::vector<Place> found_places;
  /// Reads the visible part of a piece.
  void read(std::size_t group, const database::PieceRow& row, std::span<std::byte> out) const;

  [[nodiscard]] const Variable& variable(const std::string& name) const {
    const Variable* found = context->metadata().find_variable(name);
    if (found != nullptr) return *found;
    std::vector<std::string> known;
    for (const Variable& v : context->metadata().variables) known.push_back(v.name);
    fail(Code::usage, "the checkpoint has no variable '{}', but {}; {}", name, listed(known),
         suggestion(name, known, "correct the name"));
  }
};

void Restart::Implementation::read(std::size_t group, const database::PieceRow& row, std::span<std::byte> out) const {
  const Variable& of = context->metadata().variables[row.variable];
  if (!cuts(context->blocks(group)[row.block]) || of.centering != Centering::cell) {
    return database::read_piece(*context, group, row, out);
  }
  database::read_levels(*context, group, row, *deepest, out);
  if (of.role != Role::refined) return;
  const std::vector<Index> levels = starts(group, row.block);
  if (levels.size() < static_cast<std::size_t>(*deepest) + 2) return;  // the tree is no deeper
  const auto last = static_cast<std::size_t>(levels[levels.size() - 2]) * size_of(of.type);
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(last), out.end(), std::byte{0});
}

std::span<const Restart::Implementation::Place> Restart::Implementation::places(const Variable& variable) {
  if (placed != variable.id) {
    placed.reset();
    found_places.clear();
    for (std::size_t group = 0; group < context->groups().size(); ++group) {
      for (const database::PieceRow& row : context->pieces(group).pieces) {
        if (row.variable != static_cast<std::uint32_t>(variable.id)) continue;
        const Block& block = context->blocks(group)[row.block];
        if (!leaves_out(block)) found_places.push_back({block.id, group, &row});
      }
    }
    std::stable_sort(found_places.begin(), found_places.end(),
                     [](const Place& a, const Place& b) { return a.block < b.block; });
    placed = variable.id;
  }
  return found_places;
}

namespace {

/// Collective: the result of `read` on rank 0, on all ranks. All throw its exceptions.
Bytes shared(Communicator& comm, const std::function<Bytes()>& read) {
  Bytes message;
  if (comm.rank() == 0) {
    Bytes content;
    const std::string failure = failure_of([&] { content = read(); });
    ByteWriter writer;
    writer.put(failure);
    writer.put(content);
    message = writer.take();
  }
  comm.broadcast(message, 0);
  ByteReader reader(message);
  std::string failure;
  Bytes content;
  reader.get(failure);
  reader.get(content);
  if (!failure.empty()) throw Error(Code::file, failure);
  return content;
}

Bytes read_whole(const std::string& path) {
  const std::string text = read_file(path);
  const BytesView bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Collective: the first damage that any rank finds in its share, on all ranks; empty if there is none.
std::string first_damage(Communicator& comm, Context& context) {
  std::string mine;
  const std::string failure = failure_of([&] {
    const std::vector<std::string> damages = database::verify(context, comm.rank(), comm.size());
    if (!damages.empty()) mine = damages.front();
  });
  if (mine.empty()) mine = failure;
  std::int64_t speaker = mine.empty() ? comm.size() : comm.rank();
  comm.minimum(std::span(&speaker, 1));
  if (speaker == comm.size()) return {};
  Bytes text;
  const BytesView view = std::as_bytes(std::span(mine));
  if (speaker == comm.rank()) text.assign(view.begin(), view.end());
  comm.broadcast(text, static_cast<int>(speaker));
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

/// Collective. Throws Error(file) on all ranks if it is damaged.
std::unique_ptr<Context> open_context(Communicator& comm, const std::string& directory, const database::Entry& entry) {
  const Bytes record = shared(comm, [&] { return database::read_record(directory, entry); });
  auto context = std::make_unique<Context>(directory, entry, record);
  for (std::size_t group = 0; group < context->groups().size(); ++group) {
    context->give_blocks(group, shared(comm, [&] { return context->read_blocks(group); }));
  }
  const std::string damage = first_damage(comm, *context);
  if (!damage.empty()) throw Error(Code::file, damage);
  return context;
}

Journal shared_journal(Communicator& comm, const std::string& directory) {
  const std::string path = directory + "/" + database::journal_name;
  const Bytes bytes = shared(comm, [&] {
    static_cast<void>(database::read_journal(directory));  // called for its error about the directory
    return read_whole(path);
  });
  return database::parse_journal(bytes, path);
}

}  // namespace

Restart::Restart(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Restart::Restart(Restart&&) noexcept = default;
Restart& Restart::operator=(Restart&&) noexcept = default;
Restart::~Restart() = default;

Restart Restart::open(MPI_Comm comm, const std::string& given, std::optional<std::int64_t> cycle) {
  const OwnEnvironment environment;
  const auto ranks = MpiCommunicator::over(comm);
  const std::string directory = path_from(common_folder(*ranks), given);
  auto made = std::make_unique<Implementation>();
  std::optional<std::uint64_t> tried;
  for (;;) {
    const Journal journal = shared_journal(*ranks, directory);
    const std::vector<database::Entry> entries =
        database::candidates(journal, {cycle, database::Kind::checkpoint}, directory);
    // Retries only if a concurrently writing run has replaced all entries by newer ones.
    if (tried == entries.front().slot) break;
    tried = entries.front().slot;
    made->remarks = journal.remarks;
    for (const database::Entry& entry : entries) {
      try {
        made->context = open_context(*ranks, directory, entry);
        return Restart(std::move(made));
      } catch (const Error& error) {
        if (error.code() != Code::file) throw;
        made->remarks.push_back(
            fmt::format("the checkpoint of {} is passed over: {}", database::name_of(entry), error.what()));
      }
    }
  }
  fail(Code::file, "no checkpoint in '{}' is whole: {}", directory, fmt::join(made->remarks, "; "));
}

const Iteration& Restart::iteration() const noexcept { return implementation_->context->entry().iteration; }
const Metadata& Restart::metadata() const noexcept { return implementation_->context->metadata(); }
const std::vector<std::string>& Restart::remarks() const noexcept { return implementation_->remarks; }

std::vector<Block> Restart::blocks(const std::string& mesh) const {
  Context& context = *implementation_->context;
  const Mesh* of = context.metadata().find_mesh(mesh);
  if (of == nullptr) fail(Code::usage, "the checkpoint has no mesh '{}'; correct the name", mesh);
  std::vector<Block> found;
  for (std::size_t group = 0; group < context.groups().size(); ++group) {
    for (std::uint32_t n = 0; n < context.blocks(group).size(); ++n) {
      const Block& block = context.blocks(group)[n];
      if (block.mesh == of->id && !implementation_->leaves_out(block)) found.push_back(implementation_->seen(group, n));
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Block& a, const Block& b) {
    return std::tuple(a.level, a.id) < std::tuple(b.level, b.id);
  });
  return found;
}

void Restart::limit_levels(std::optional<std::int32_t> deepest) {
  if (deepest && *deepest < 0) fail(Code::usage, "limit_levels: level {}; give a number from 0 on, or none", *deepest);
  implementation_->deepest = deepest;
  implementation_->placed.reset();
}

void Restart::read_box(const std::string& variable, std::int32_t level, const Box& box, const Box& array, void* data) {
  const FloatEnvironment environment;
  const Variable& of = implementation_->variable(variable);
  if (metadata().mesh_of(of).is_list())
    fail(Code::usage, "'{}' is a list; read it with read_list or read_block", variable);
  if (implementation_->deepest && level > *implementation_->deepest) {
    fail(Code::usage, "read_box of '{}': level {}, but the levels were limited to {}", variable, level,
         *implementation_->deepest);
  }
  if (!array.contains(box)) {
    fail(Code::usage, "read_box of '{}': the array does not cover the box; give an array that does, or a smaller box",
         variable);
  }
  const database::Target target{data, array, packed_strides(array, of.components, of.order)};
  const auto missing =
      database::read_box(*implementation_->context, static_cast<std::uint32_t>(of.id), level, box, target);
  if (missing > 0) {
    fail(
        Code::file,
        "{} of the {} points of '{}' that were asked for on level {} are in no block of the checkpoint; ask for points that were "
        "published",
        missing, box.count(), variable, level);
  }
}

void Restart::read_list(const std::string& variable, std::int64_t first, std::int64_t count, void* data) {
  const FloatEnvironment environment;
  const Variable& of = implementation_->variable(variable);
  if (!metadata().mesh_of(of).is_list())
    fail(Code::usage, "'{}' is no list; read it with read_box or read_block", variable);
  if (first < 0 || count < 0)
    fail(Code::usage, "read_list of '{}': {} values from {} on; give numbers from 0 on", variable, count, first);
  auto* const out = static_cast<std::byte*>(data);
  if (!implementation_->deepest || metadata().mesh_of(of).kind() != MeshKind::octree) {
    return database::read_list(*implementation_->context, static_cast<std::uint32_t>(of.id), first, count, out);
  }
  std::vector<std::int64_t> ends;  // ends of the visible parts of the concatenated blocks
  for (const auto& place : implementation_->places(of)) {
    const Block block = implementation_->seen(place.group, place.row->block);
    ends.push_back((ends.empty() ? 0 : ends.back()) + of.points(block).extent(0));
  }
  const std::int64_t all = ends.empty() ? 0 : ends.back();
  if (first > all || count > all - first) {
    fail(Code::file, "{} entries of '{}' from {} on were asked for, but its blocks have {} down to level {}", count,
         variable, first, all, *implementation_->deepest);
  }
  const std::uint64_t element = size_of(of.type) * static_cast<std::uint64_t>(of.components);
  Bytes room;
  for (std::size_t n = 0; n < ends.size(); ++n) {
    const std::int64_t begin = n == 0 ? 0 : ends[n - 1];
    const std::int64_t from = std::max(first, begin), to = std::min(first + count, ends[n]);
    if (from >= to) continue;
    const auto& place = implementation_->found_places[n];
    room.resize(static_cast<std::uint64_t>(ends[n] - begin) * element);
    implementation_->read(place.group, *place.row, room);
    const auto at = static_cast<std::uint64_t>(from - begin) * element;
    std::memcpy(out + static_cast<std::uint64_t>(from - first) * element, room.data() + at,
                static_cast<std::uint64_t>(to - from) * element);
  }
}

std::int64_t Restart::list_length(const std::string& variable) const {
  const Variable& of = implementation_->variable(variable);
  std::int64_t length = 0;
  for (const auto& place : implementation_->places(of)) {
    length += of.points(implementation_->seen(place.group, place.row->block)).extent(0);
  }
  return length;
}

void Restart::read_block(const std::string& variable, std::int64_t block, void* data, std::uint64_t bytes) {
  const FloatEnvironment environment;
  const Variable& of = implementation_->variable(variable);
  const std::span<const Implementation::Place> all = implementation_->places(of);
  const auto place = std::lower_bound(all.begin(), all.end(), block,
                                      [](const Implementation::Place& a, std::int64_t id) { return a.block < id; });
  if (place != all.end() && place->block == block) {
    const std::uint64_t has =
        database::bytes_of_piece(of, implementation_->seen(place->group, place->row->block), variable);
    if (has != bytes) {
      fail(Code::usage, "read_block: '{}' has {} bytes on block {}, but room for {} was given", variable, has, block,
           bytes);
    }
    return implementation_->read(place->group, *place->row, {static_cast<std::byte*>(data), bytes});
  }
  fail(Code::file, "the checkpoint has no values of '{}' on block {}; see which blocks there are", variable, block);
}

}  // namespace sidestream
