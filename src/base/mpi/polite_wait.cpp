#include "base/mpi/polite_wait.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <exception>
#include <string_view>
#include <utility>

#include "base/waiting.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"

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

namespace {

/// Nobody wonders about shorter waits (seconds).
constexpr double moment = 0.5;

/// Rewrites the line: to its beginning, the text, and erase the rest of a longer one.
void show(std::string_view text) noexcept {
  for (const std::string_view part : {std::string_view("\r"), text, std::string_view("\x1b[K")}) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, part.data(), part.size());
  }
}

}  // namespace

WaitNote::WaitNote(bool speaks, std::string what, double limit)
    : what_(std::move(what)), limit_(limit), began_(now()), speaks_(speaks), terminal_(isatty(STDERR_FILENO) == 1) {}

WaitNote::~WaitNote() {
  if (speaks_ && terminal_ && shown_ >= 0) show("");
}

void WaitNote::check() noexcept {
  if (!speaks_) return;
  const double waited = now() - began_;
  if (waited < moment || (shown_ >= 0 && (!terminal_ || waited < shown_ + 1))) return;
  shown_ = waited;
  if (terminal_) {
    try {
      show(fmt::format("sidestream: waiting for {} ({:.0f} s{})", what_, waited,
                       limit_ > 0 ? fmt::format(" of {:g} s", limit_) : ""));
    } catch (const std::exception&) {  // others wait for us: say nothing instead
    }
  } else {
    if (limit_ > 0) {
      log::info("waiting for {}, at most {:g} s", what_, limit_);
    } else {
      log::info("waiting for {}", what_);
    }
  }
}

LateNote::LateNote(bool speaks, double patience, std::string text)
    : text_(std::move(text)), end_(now() + patience), speaks_(speaks) {}

void LateNote::check() noexcept {
  if (!speaks_ || now() < end_) return;
  speaks_ = false;
  log::warning("{}", text_);
}

}  // namespace sidestream
