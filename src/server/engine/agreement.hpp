// Agreement of the servers before each iteration: if there is one, if it counts, and its content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/engine/scheduled_task.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// The combined words, decoded; the same on every server. Words are combined by bitwise or: equal values from the
/// servers that know them, zero from the others.
struct Agreement {
  bool iteration = false, closing = false, refused = false, lagging = false, changed = false, broken = false;
  bool signals = false;  ///< true if some server has signals that concern other servers
  bool absent = false;   ///< true if the set of missing blocks changed on some server
  bool died = false;     ///< true if a process died before it ended the iteration
  bool asked = false;    ///< true if some client or server was told to end the run
  bool unasked = false;  ///< true if some client that ended the iteration had not heard that the run is told to end
  bool late = false;     ///< true if tasks that have not begun are dropped, except the checkpoint of the last iteration
  std::uint64_t events = 0;
  Iteration at;
  std::uint32_t why = 0;             ///< bits of Refusal
  int client = -1;                   ///< the client that refused; -1: none, or several
  std::vector<std::uint64_t> words;  ///< the combined words
  std::size_t variables = 0;         ///< number of variables that fit into the words
  std::size_t tasks = 0;             ///< number of tasks whose times are in the words; later ones have none

  /// True if any client published the variable, or all inputs of a derived one.
  [[nodiscard]] bool has(std::int32_t variable) const;
  /// Marks the derived variables whose inputs were published. Allocates nothing. Call it again after variables were
  /// added.
  void mark_derived(const Metadata& metadata);
  /// True if the wall-clock time of a task has come.
  [[nodiscard]] bool wall_due(std::size_t task) const;
  /// True if two clients gave different cycles, or times.
  [[nodiscard]] bool cycles_differ() const;
  [[nodiscard]] bool times_differ() const;
};

/// A server's contribution to an agreement, besides the state of its transport.
struct Contribution {
  std::int64_t index = 0;  ///< the iteration; the transport has advanced to it
  bool changed = false;    ///< blocks of its clients have changed since the tables were updated
  bool absent = false;     ///< its missing blocks differ from those it reported last
  bool broken = false;     ///< true if this server cannot continue
  bool clock = false;      ///< true if this server's clock decides about wall-clock schedules
  double seconds = 0;      ///< seconds since the session's start
  std::size_t more = 0;    ///< number of variables that requests may add
  bool asked = false;      ///< true if this server, or a client of it in a later iteration, was told to end the run
  bool late = false;       ///< true if the time for iterations is over
  std::uint64_t last = 0;  ///< bit of the event of the last iteration; 0: none
};

/// Returns the words of one server.
[[nodiscard]] std::vector<std::uint64_t> agreement_words(const Contribution& mine, ServerTransport& transport,
                                                         const Metadata& metadata, std::vector<ScheduledTask>& tasks);
/// Decodes the combined words. `variables`: their number, including those that requests may add. Allocates nothing.
[[nodiscard]] Agreement read_agreement(std::vector<std::uint64_t> words, std::int64_t index, std::size_t variables);

}  // namespace sidestream
