#include "base/mpi/polite_wait.hpp"

#include <exception>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail(Code::system, "{} failed: {}", call, std::string(text, static_cast<std::size_t>(length)));
}

void polite_poll(const std::function<bool()>& done, const std::function<void()>& meanwhile) {
  // Most collectives between servers that are in step end within microseconds: spin a little before sleeping.
  Backoff backoff(std::chrono::microseconds(2), std::chrono::microseconds(100), 200);
  // The pending operation writes to the caller's memory: an exception from `meanwhile` has to wait until it is
  // complete.
  std::exception_ptr thrown;
  for (;; backoff.pause()) {
    if (done()) break;
    try {
      if (meanwhile && !thrown) meanwhile();
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

void polite_wait(MPI_Request& request, const std::function<void()>& meanwhile) {
  // The reference keeps std::function from allocating; there may be no memory.
  const auto tested = [&request] {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  };
  polite_poll(std::cref(tested), meanwhile);
}

}  // namespace sidestream
