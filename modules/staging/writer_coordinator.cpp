// The two coordinators of a stream, which exchange messages as files (docs/format-streams.md).
//
// Writers: announce (refuse if a living writer has the name, clear the directory, write declarations, start the
// heartbeat, write the announcement last), then for each step offer, answer, and withdraw or forget.
// Readers: find the stream, take the next epoch by creating its file (only one can), then look for steps and answer
// them.
// Each step has one file whose renaming decides: to `done` by the reader, to `withdrawn` by the writers. Only one of
// the two succeeds.
// Either side counts as dead when its process has ended or its heartbeat is silent for the limit. A reader that was
// given up finds its file renamed, and may attach again.
#include "staging/writer_coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "sidestream/version.h"

namespace sidestream::staging {

namespace {
constexpr const char* open_state = "open";
constexpr const char* ended_state = "ended";
}  // namespace

WriterCoordinator::~WriterCoordinator() {
  if (!heartbeat_) return;
  heartbeat_.reset();
  try {
    // The announcement tells a reader that nothing more comes. A reader that finds neither it nor a heartbeat concludes
    // that the writers died.
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

/// Throws if a stream of that name has a living writer. A stream of a dead session is taken over.
void WriterCoordinator::refuse_running() const {
  const std::optional<std::string> text = folder_.text(names::announcement);
  if (!text || line_of(*text, "state") != open_state || has_ended(line_of(*text, "process"))) return;
  constexpr int beats = 30;  // three counts, looked for in intervals of a tenth of a second
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
  // The new reader considered readers with lower numbers dead. A living one learns of that here.
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
  // A reader that was stopped learns of this when it continues, and may return as a new reader.
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
  const std::string outcome_text = folder_.text(names::of(names::outcome, iteration)).value_or("");
  Answer answer{Outcome::delivered, {}};
  const std::string word = line_of(outcome_text, "outcome");
  if (word == "failed") answer.outcome = Outcome::failed;
  if (word == "refused") answer.outcome = Outcome::refused;
  constexpr std::string_view key = "\nmessage: ";
  const auto at = outcome_text.find(key);
  if (at != std::string::npos) answer.message = outcome_text.substr(at + key.size());
  return answer;
}

bool WriterCoordinator::withdraw(std::int64_t iteration) {
  return folder_.rename(names::of(names::step, iteration), names::of(names::withdrawn, iteration));
}

void WriterCoordinator::forget(std::int64_t iteration) noexcept {
  // Remove the step first: a reader that has not answered yet then finds that it cannot.
  for (const char* prefix : {names::step, names::done, names::withdrawn, names::outcome}) {
    try {
      retry_while_out_of_memory([&] { folder_.remove(names::of(prefix, iteration)); });
    } catch (const std::exception&) {  // the next session clears the folder
    }
  }
}

ReaderCoordinator::~ReaderCoordinator() {
  heartbeat_.reset();
  if (epoch_ == 0) return;
  try {
    // The writers see at once that this reader left; the number stays taken.
    retry_while_out_of_memory(
        [&] { static_cast<void>(folder_.rename(names::of(names::reader, epoch_), names::of(names::gone, epoch_))); });
  } catch (const std::exception&) {  // the writers will notice the silence
  }
}

std::optional<Announcement> ReaderCoordinator::read() const {
  const std::optional<std::string> text = folder_.text(names::announcement);
  if (!text) return std::nullopt;
  const std::string version = line_of(*text, "version"), layout = line_of(*text, "layout");
  if (line_of(*text, "format") != "sidestream-stream") {
    fail(Code::file, "'{}' is not the announcement of a stream; name another directory",
         folder_.path(names::announcement));
  }
  if (version != std::to_string(format_version) || layout != fmt::format("{:08x}", layout_hash())) {
    fail(Code::file,
         "the stream '{}' has version {} and layout {} (Sidestream {}), expected {} and {:08x}; run the simulation and "
         "the endpoint with the same version of Sidestream",
         folder_.path(), version, layout, line_of(*text, "sidestream"), format_version, layout_hash());
  }
  Announcement stream;
  stream.session = whole_of<std::uint64_t>(line_of(*text, "session"), 16).value_or(0);
  stream.engine = line_of(*text, "engine");
  stream.writers = whole_of<int>(line_of(*text, "writers")).value_or(0);
  stream.ended = line_of(*text, "state") != "open";
  stream.limit = real_of(line_of(*text, "limit")).value_or(0);
  stream.process = line_of(*text, "process");
  return stream;
}

bool ReaderCoordinator::find() {
  const std::optional<Announcement> stream = read();
  if (!stream || stream->ended || has_ended(stream->process)) return false;
  stream_ = *stream;
  writer_.emplace(folder_, names::writer_beat, stream_.process);
  return true;
}

Announced ReaderCoordinator::announced() const {
  const std::optional<Bytes> file = folder_.get(names::declarations);
  if (!file) fail(Code::file, "'{}' is missing; somebody removed it", folder_.path(names::declarations));
  return decode_announced(*file, folder_.path(names::declarations));
}

/// True if a living reader of this session is attached. A reader out of reach counts as living until it is silent for
/// the limit.
bool ReaderCoordinator::somebody_reads() {
  const std::vector<std::int64_t> epochs = folder_.numbers(names::reader);
  if (epochs.empty()) return false;
  const std::optional<std::string> claim = folder_.text(names::of(names::reader, epochs.back()));
  if (!claim || line_of(*claim, "session") != fmt::format("{:016x}", stream_.session)) return false;
  const std::string process = line_of(*claim, "process");
  const ProcessState state = state_of(process);
  if (state != ProcessState::unknown) return state == ProcessState::running;
  if (!rival_ || rival_epoch_ != epochs.back()) {
    rival_epoch_ = epochs.back();
    rival_.emplace(folder_, names::reader_beat(rival_epoch_), process);
  }
  return rival_->silent() <= stream_.limit;
}

bool ReaderCoordinator::take() {
  // Take the number first: another reader may take it while we check for readers.
  std::int64_t next = epoch_;
  for (const char* prefix : {names::reader, names::gone}) {
    const std::vector<std::int64_t> epochs = folder_.numbers(prefix);
    if (!epochs.empty()) next = std::max(next, epochs.back());
  }
  ++next;
  if (somebody_reads()) return false;
  heartbeat_.reset();
  const std::string text =
      fmt::format("format: sidestream-reader\nsession: {:016x}\nprocess: {}\n", stream_.session, this_process());
  if (!folder_.put_new(names::of(names::reader, next), text)) return false;
  // The number is ours now, and with it the heartbeat's name.
  epoch_ = next;
  heartbeat_ = std::make_unique<Heartbeat>(folder_, names::reader_beat(epoch_), stream_.limit);
  return true;
}

bool ReaderCoordinator::has_closed() const {
  const std::optional<Announcement> stream = read();
  return !stream || stream->ended || stream->session != stream_.session;
}

ReaderCoordinator::News ReaderCoordinator::poll(std::int64_t after) {
  if (!folder_.text(names::of(names::reader, epoch_))) {
    // The writers gave this reader up, or another session has begun here.
    const std::optional<Announcement> stream = read();
    return stream && stream->session == stream_.session && !stream->ended ? News::replaced : News::ended;
  }
  const std::vector<std::int64_t> steps = folder_.numbers(names::step);
  if (!steps.empty() && steps.back() > after) {
    std::optional<Bytes> file = folder_.get(names::of(names::step, steps.back()));
    if (!file) return News::nothing;  // withdrawn just now
    step_ = std::move(*file);
    step_number_ = steps.back();
    return News::step;
  }
  const auto over = [this] {
    const std::optional<Announcement> stream = read();
    return stream && (stream->ended || stream->session != stream_.session);
  };
  if (over()) return News::ended;
  if (writer_->death(stream_.limit).empty()) return News::nothing;
  // The writer may have closed the stream and ended since the last look.
  return over() ? News::ended : News::writer_died;
}

bool ReaderCoordinator::answer(std::int64_t iteration, Outcome outcome, const std::string& message) {
  const char* word = outcome == Outcome::failed ? "failed" : outcome == Outcome::refused ? "refused" : "delivered";
  std::string text = fmt::format("outcome: {}\n", word);
  if (!message.empty()) text += "message: " + message;
  if (!folder_.text(names::of(names::reader, epoch_))) return false;
  folder_.put(names::of(names::outcome, iteration), text);
  return folder_.rename(names::of(names::step, iteration), names::of(names::done, iteration));
}

}  // namespace sidestream::staging
