// Opening of a database by several processes: the first reads what all need, and shares it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sidestream/extend/communicator.hpp"
#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"

namespace sidestream::database {

/// Calls `read` on rank 0 and returns its result on all ranks; all throw its exceptions as Error(file). Collective.
/// Without a communicator (null) only calls `read`.
[[nodiscard]] Bytes shared(Communicator* comm, const std::function<Bytes()>& read);

/// The contexts in a directory. Collective like shared().
[[nodiscard]] Journal shared_journal(Communicator* comm, const std::string& directory);

/// A context with the tables of all blocks. Verifies no values. Collective like shared(). Throws Error(file), which
/// mentions if a run has removed the context since.
[[nodiscard]] std::unique_ptr<Context> shared_context(Communicator* comm, const std::string& directory,
                                                      const Entry& entry);

/// Runs `read`. If it throws Error(file) because a run has removed the context since, the error says so.
template <class Read>
auto of_context(const std::string& directory, const Entry& entry, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.code() != Code::file || !is_removed(directory, entry.slot)) throw;
  }
  throw Error(Code::file, "the context of " + name_of(entry) + " in '" + directory +
                              "' was removed by a run that writes at the same time; open the database again");
}

}  // namespace sidestream::database
