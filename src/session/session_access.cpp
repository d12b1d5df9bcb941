#include "session/session_access.hpp"

#include "session/c/as_error.hpp"
#include "session/implementation.hpp"

namespace sidestream {

Session SessionAccess::open(MPI_Comm comm, const std::string& file, const EditDocument& edit) try {
  return Session(Session::Implementation::open(comm, file, std::nullopt, edit));
} catch (...) {
  rethrow_as_error("open");
}

void SessionAccess::expect_gaps(Session& session) { session.implementation_->expect_gaps(); }

}  // namespace sidestream
