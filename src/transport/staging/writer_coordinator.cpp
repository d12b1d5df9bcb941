#include "transport/staging/writer_coordinator.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/waiting.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/version.h"
#include "transport/staging/folder.hpp"

namespace sidestream::staging {

namespace {
constexpr const char* open_state = "open";
constexpr const char* ended_state = "ended";
}  // namespace

WriterCoordinator::~WriterCoordinator() {
  if (!heartbeat_) return;
  heartbeat_.reset();
  try {
    // This tells a reader that nothing more comes. A reader that finds neither it nor a heartbeat knows that we died.
    retry_while_out_of_memory([&] { put_announcement(ended_state); });
  } catch (const std::exception& e) {
    log::warning("{}", e.what());
  }
}

void WriterCoordinator::put_announcement(const char* state) {
  folder_.put(
      names::announcement,
      fmt::format(
          "# A stream of Sidestream, written by the simulation; docs/format-streams.md describes it.\n"
          "format: sidestream-stream\nversion: {}\nlayout: {:08x}\nsidestream: {}\nsession: {:016x}\nengine: {}\n"
          "writers: {}\nstate: {}\nlimit: {}\nprocess: {}\n",
          format_version, layout_hash(), SIDESTREAM_VERSION, session_, engine_, writers_, state, limit_,
          this_process()));
}

/// Throws if a stream of that name has a living writer. One that a dead session left is taken over.
void WriterCoordinator::refuse_running() const {
  const std::optional<std::string> text = folder_.text(names::announcement);
  if (!text || line_of(*text, "state") != open_state || has_ended(line_of(*text, "process"))) return;
  constexpr int beats = 30;  // of a tenth of a second: three counts
  const std::optional<std::string> before = folder_.text(names::writer_beat);
  for (int n = 0; before && n < beats; ++n) {
    pause_for(std::chrono::milliseconds(100));
    const std::optional<std::string> after = folder_.text(names::writer_beat);
    if (!after || *after == *before) continue;
    fail(
        Code::file,
        "the stream '{}' is being written by another simulation (process {}); give streams that are open at a time names or "
        "directories of their own",
        folder_.path(), line_of(*text, "process"));
  }
}

void WriterCoordinator::announce(const Announced& announced, const std::string& engine, int writers) {
  refuse_running();
  engine_ = engine;
  writers_ = writers;
  // The old announcement goes first: its readers would take one session's files for another's.
  folder_.remove(names::announcement);
  folder_.clear({names::reader, names::gone, names::step, names::done, names::withdrawn, names::outcome, "beat-",
                 "data-", "sst-", ".data-", ".step-"});
  folder_.put(names::declarations, encode_announced(announced, session_));
  heartbeat_ = std::make_unique<Heartbeat>(folder_, names::writer_beat, limit_);
  put_announcement(open_state);
  folder_.remove(names::opening);
}

void WriterCoordinator::look_for_reader() {
  const std::vector<std::int64_t> epochs = folder_.numbers(names::reader);
  if (epochs.empty() || epochs.back() <= epoch_) return;
  const std::optional<std::string> claim = folder_.text(names::of(names::reader, epochs.back()));
  if (!claim || line_of(*claim, "session") != fmt::format("{:016x}", session_)) return;
  // The new reader took the ones with lower numbers for dead. One that lives finds out by this.
  for (const std::int64_t epoch : epochs) {
    if (epoch < epochs.back())
      static_cast<void>(folder_.rename(names::of(names::reader, epoch), names::of(names::gone, epoch)));
  }
  epoch_ = epochs.back();
  monitor_.emplace(folder_, names::reader_beat(epoch_), line_of(*claim, "process"));
}

std::int64_t WriterCoordinator::reader() {
  look_for_reader();
  if (!monitor_) return 0;
  const std::string name = names::of(names::reader, epoch_);
  std::string death = monitor_->death(limit_);
  if (death.empty() && !folder_.text(name)) death = "it left";
  if (death.empty()) return epoch_;
  // A reader that was stopped finds out by this when it goes on, and may come back as a new one.
  static_cast<void>(folder_.rename(name, names::of(names::gone, epoch_)));
  folder_.remove(names::reader_beat(epoch_));
  monitor_.reset();
  loss_ = death;
  return 0;
}

void WriterCoordinator::offer(const StepIndex& step) {
  folder_.put(names::of(names::step, step.iteration.index), encode_step(step));
}

Answer WriterCoordinator::answer(std::int64_t iteration) {
  if (!folder_.text(names::of(names::done, iteration))) return {};
  const std::string said = folder_.text(names::of(names::outcome, iteration)).value_or("");
  Answer answer{Outcome::delivered, {}};
  const std::string word = line_of(said, "outcome");
  if (word == "failed") answer.outcome = Outcome::failed;
  if (word == "refused") answer.outcome = Outcome::refused;
  constexpr std::string_view key = "\nmessage: ";
  const auto at = said.find(key);
  if (at != std::string::npos) answer.message = said.substr(at + key.size());
  return answer;
}

bool WriterCoordinator::withdraw(std::int64_t iteration) {
  return folder_.rename(names::of(names::step, iteration), names::of(names::withdrawn, iteration));
}

void WriterCoordinator::forget(std::int64_t iteration) noexcept {
  // The step goes first: a reader that has not answered yet finds that it cannot.
  for (const char* prefix : {names::step, names::done, names::withdrawn, names::outcome}) {
    try {
      retry_while_out_of_memory([&] { folder_.remove(names::of(prefix, iteration)); });
    } catch (const std::exception&) {  // the next session clears the folder
    }
  }
}

}  // namespace sidestream::staging
