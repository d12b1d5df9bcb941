#include "sidestream/reader.hpp"

#include <fmt/format.h>

#include <array>
#include <span>

#include "base/mpi/communicator.hpp"
#include "base/own_environment.hpp"
#include "base/paths.hpp"
#include "session/opening/configuration.hpp"
#include "session/stored_context.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "storage/database/shared_opening.hpp"

namespace sidestream {

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

/// Collective. Throws Error(usage) on all ranks if they give different numbers.
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
  // Throws, with what there is.
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
