#include "sidestream/restart.hpp"

#include <fmt/format.h>

#include <span>

#include "base/mpi/communicator.hpp"
#include "base/own_environment.hpp"
#include "base/paths.hpp"
#include "session/opening/modules.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/storage/results/agreed_commit.hpp"
#include "storage/database/shared_opening.hpp"
#include "storage/database/stored_values.hpp"

namespace sidestream {

using database::Context;
using database::Journal;

struct Restart::Implementation {
  database::StoredValues values;
  std::vector<std::string> remarks;
};

namespace {

/// The first damage that any rank finds in its share, on all ranks; empty if there is none. Collective.
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

/// Opens a context. Throws Error(file) on all ranks if it is damaged. Collective.
std::unique_ptr<Context> open_whole(Communicator& comm, const std::string& directory, const database::Entry& entry) {
  std::unique_ptr<Context> context = database::shared_context(&comm, directory, entry);
  const std::string damage = first_damage(comm, *context);
  if (!damage.empty()) throw Error(Code::file, damage);
  return context;
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
  std::vector<std::string> remarks;
  std::optional<std::uint64_t> tried;
  for (;;) {
    const Journal journal = database::shared_journal(ranks.get(), directory);
    const std::vector<database::Entry> entries =
        database::candidates(journal, {cycle, database::Kind::checkpoint}, directory);
    // Retries only if a concurrent run has replaced all entries by newer ones.
    if (tried == entries.front().slot) break;
    tried = entries.front().slot;
    remarks = journal.remarks;
    for (const database::Entry& entry : entries) {
      try {
        database::StoredValues values(open_whole(*ranks, directory, entry), "checkpoint");
        return Restart(std::make_unique<Implementation>(Implementation{std::move(values), std::move(remarks)}));
      } catch (const Error& error) {
        if (error.code() != Code::file) throw;
        remarks.push_back(
            fmt::format("the checkpoint of {} is passed over: {}", database::name_of(entry), error.what()));
      }
    }
  }
  fail(Code::file, "no checkpoint in '{}' is whole: {}", directory, fmt::join(remarks, "; "));
}

const Iteration& Restart::iteration() const noexcept { return implementation_->values.context().entry().iteration; }
const Metadata& Restart::metadata() const noexcept { return implementation_->values.metadata(); }
const std::vector<std::string>& Restart::remarks() const noexcept { return implementation_->remarks; }

std::string Restart::codec(const std::string& variable) const {
  return implementation_->values.codec(implementation_->values.variable(variable));
}

std::vector<Block> Restart::blocks(const std::string& mesh) const {
  const database::StoredValues& values = implementation_->values;
  std::vector<Block> found;
  const Mesh& of = values.mesh(mesh);
  for (const database::PlacedBlock& placed : values.blocks(of)) {
    Block& block = found.emplace_back(values.seen(placed));
    block.cells = of.declared(block.cells);
  }
  return found;
}

void Restart::limit_levels(std::optional<std::int32_t> deepest) { implementation_->values.limit_levels(deepest); }

void Restart::read_box(const std::string& variable, std::int32_t level, const Box& box, const Box& array, void* data) {
  const FloatEnvironment environment;
  const database::StoredValues& values = implementation_->values;
  values.read_box(values.variable(variable), level, box, array, data);
}

void Restart::read_list(const std::string& variable, std::int64_t first, std::int64_t count, void* data) {
  const FloatEnvironment environment;
  database::StoredValues& values = implementation_->values;
  values.read_list(values.variable(variable), first, count, static_cast<std::byte*>(data));
}

std::int64_t Restart::list_length(const std::string& variable) const {
  database::StoredValues& values = implementation_->values;
  return values.list_length(values.variable(variable));
}

void Restart::read_block(const std::string& variable, std::int64_t block, void* data, std::uint64_t bytes) {
  const FloatEnvironment environment;
  database::StoredValues& values = implementation_->values;
  values.read_block(values.variable(variable), block, {static_cast<std::byte*>(data), bytes});
}

}  // namespace sidestream
