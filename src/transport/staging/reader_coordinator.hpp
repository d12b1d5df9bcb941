// The readers' side of the messages with writers: finding the stream, becoming its reader, taking and answering steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sidestream/extend/transport.hpp"
#include "transport/staging/folder.hpp"
#include "transport/staging/format.hpp"
#include "transport/staging/heartbeat.hpp"

namespace sidestream::staging {

/// The announcement of a stream.
struct Announcement {
  std::uint64_t session = 0;
  std::string engine;
  int writers = 0;
  bool ended = false;
  double limit = 60;  ///< seconds of silence that both sides take for death
  std::string process;
};

/// Used only on rank 0 of the readers. Functions throw Error(file) if files are wrong.
class ReaderCoordinator {
 public:
  explicit ReaderCoordinator(const Folder& folder) : folder_(folder) {}
  ~ReaderCoordinator();
  ReaderCoordinator(const ReaderCoordinator&) = delete;
  ReaderCoordinator& operator=(const ReaderCoordinator&) = delete;

  /// Looks for a stream whose simulation lives. Throws if there is one of another version.
  [[nodiscard]] bool find();
  /// Becomes its reader. False: another reader lives, as far as is known yet; ask again later.
  [[nodiscard]] bool take();
  /// True if the stream that was found has been closed, or another has taken its place.
  [[nodiscard]] bool has_closed() const;
  [[nodiscard]] const Announcement& stream() const noexcept { return stream_; }
  [[nodiscard]] Announced announced() const;
  [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }

  /// The next thing to do.
  enum class News : std::int64_t { nothing = 0, step = 1, ended = 2, writer_died = 3, replaced = 4 };
  /// `after`: the iteration that was taken last. With `step`, `step()` is what was offered.
  [[nodiscard]] News look(std::int64_t after);
  [[nodiscard]] const Bytes& step() const noexcept { return step_; }
  [[nodiscard]] std::int64_t step_number() const noexcept { return step_number_; }

  /// Acknowledges a step. False: the writers have withdrawn it.
  [[nodiscard]] bool answer(std::int64_t iteration, Outcome outcome, const std::string& message);

 private:
  [[nodiscard]] std::optional<Announcement> read() const;
  [[nodiscard]] bool somebody_reads();

  Folder folder_;
  Announcement stream_;
  std::int64_t epoch_ = 0;
  std::unique_ptr<Heartbeat> heartbeat_;
  std::optional<HeartbeatMonitor> writer_;
  std::int64_t rival_epoch_ = 0;  ///< of the reader that was found to be there
  std::optional<HeartbeatMonitor> rival_;
  Bytes step_;
  std::int64_t step_number_ = -1;
};

}  // namespace sidestream::staging
