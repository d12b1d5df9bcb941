// Opens a database by several processes: the first one reads what all need, and the others get it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sidestream/extend/communicator.hpp"
#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"

namespace sidestream::database {

/// The result of `read` on rank 0, on all ranks; all throw its exceptions as Error(file). Collective. Without a
/// communicator (null) only calls `read`.
[[nodiscard]] Bytes shared(Communicator* comm, const std::function<Bytes()>& read);

/// The contexts in a directory. Collective, as above.
[[nodiscard]] Journal shared_journal(Communicator* comm, const std::string& directory);

/// A context with the tables of all blocks. Verifies no values. Collective, as above. Throws Error(file), which says so
/// if a run has removed the context meanwhile.
[[nodiscard]] std::unique_ptr<Context> shared_context(Communicator* comm, const std::string& directory,
                                                      const Entry& entry);

/// Runs `read`. If it throws Error(file) because a run has removed the context meanwhile, the error says that.
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
