#include "sidestream/kit/base/wait_notes.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <string_view>
#include <utility>

#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

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
