// The contract of streams between MPI jobs: their options, what a session gives to the sending end, and the reading
// end. A module that moves iterations between jobs registers a StreamKind (stream_kind.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/event.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/options.hpp"
#include "sidestream/extend/stream_kind.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// The options of a stream, under `placement.stream` and of the output.
[[nodiscard]] std::vector<Option> stream_options();

/// The values of those options.
struct StreamConfig {
  std::string name, directory;
  std::string group;   ///< the server group it is for; empty: all
  std::string engine;  ///< or "auto"
  std::map<std::string, std::string> parameters;
  WhenFull when_full = WhenFull::wait;
  double reader_limit = 60;  ///< seconds
  bool ranges = true;

  /// Path of its files.
  [[nodiscard]] std::string path() const { return directory + "/" + name + (group.empty() ? "" : "-" + group); }
};
/// Throws Error(configuration) through Settings::fail.
[[nodiscard]] StreamConfig read_stream(const Settings& settings, WhenFull when_full = WhenFull::wait);

/// Data of the session for its streams, filled before the first iteration. Empty without streams.
struct StreamContext {
  std::uint64_t session = 0;                             ///< drawn at random, the same on every server
  Bytes declarations;                                    ///< parameters, meshes and variables, for the reader
  std::vector<std::string> events;                       ///< names; the index is the bit in `signalled`
  std::function<std::uint64_t(std::int64_t)> signalled;  ///< events of an iteration from this server's clients
  std::vector<Event> raised{};                           ///< events of the current iteration, as this server sees them
  std::function<std::vector<Block>(std::int64_t)> blocks;  ///< blocks of this server's clients, as of an iteration
  std::function<bool()> given_up;  ///< processes clients' messages; true if a client has stopped waiting for outcomes

  /// True if these servers read a stream themselves. An ADIOS2 process that read one SST stream and wrote another was
  /// seen to send answers to the wrong partner.
  bool reads = false;

  /// Placement `job`: the stream is the only task, and an iteration that no reader acknowledged is refused.
  bool decides = false;
  std::string group;                    ///< with `decides`: the only group of servers that receives the stream
  WhenFull when_full = WhenFull::wait;  ///< used where the stream's own options do not say
  std::optional<std::vector<std::int32_t>> variables;  ///< with `decides`: variables to send; nothing: all
  std::vector<std::int32_t> with_ghosts{};             ///< with `decides`: variables sent with their ghost points
};

/// The reader of a stream, as the servers' end of a transport; the endpoint uses the same engine as a simulation's
/// servers. Iterations keep their numbers of the simulation; iterations that the stream did not carry count as refused.
class StreamReader : public ServerTransport {
 public:
  /// The simulation's declarations, the same everywhere.
  [[nodiscard]] virtual const Bytes& declarations() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t session() const noexcept = 0;
  /// Maps the stream's meshes, variables and events to those here by name. Called once, before the first `receive`.
  virtual void translate(const Metadata& there, const Metadata& here, const std::vector<std::string>& events) = 0;
  /// The newest iteration that was offered; -1 if none was.
  [[nodiscard]] virtual std::int64_t current() const noexcept = 0;
  [[nodiscard]] virtual bool has_ended() const noexcept = 0;
  /// True if the simulation died without closing the stream.
  [[nodiscard]] virtual bool writer_died() const noexcept = 0;

 protected:
  using ServerTransport::ServerTransport;
};

/// Exists while a session opens that is going to write a stream. If that has not written by then, the destructor tells
/// waiting endpoints that there will be no stream.
class StreamOpening {
 public:
  virtual ~StreamOpening() = default;
};

}  // namespace sidestream
