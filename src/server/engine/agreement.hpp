// What servers agree on before each iteration: whether there is one, whether it counts, and what is in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/engine/scheduled_task.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Made of words that are combined by bitwise or: equal values of those that know, zero of others. The same on every
/// server.
struct Agreement {
  bool iteration = false, closing = false, refused = false, lagging = false, changed = false, broken = false;
  bool signals = false;  ///< some server has signals that others must hear of
  bool absent = false;   ///< on some server other blocks did not come than before
  bool died = false;     ///< a process that had not ended the iteration has died
  std::uint64_t events = 0;
  Iteration at;
  std::uint32_t why = 0;             ///< bits of Refusal
  int client = -1;                   ///< the one that refused, if it was one
  std::vector<std::uint64_t> words;  ///< as they were combined
  std::size_t variables = 0;         ///< of the metadata

  /// Whether somebody published it, or everything that it is computed from.
  [[nodiscard]] bool has(std::int32_t variable) const;
  /// Notes which derived variables there are. Allocates nothing.
  void mark_derived(const Metadata& metadata);
  /// Whether the wall-clock time of a task has come.
  [[nodiscard]] bool wall_due(std::size_t task) const;
  /// Whether two clients gave different cycles, or times.
  [[nodiscard]] bool cycles_differ() const;
  [[nodiscard]] bool times_differ() const;
};

/// What a server brings to an agreement besides what its transport knows.
struct Contribution {
  std::int64_t index = 0;  ///< the iteration; the transport has advanced to it
  bool changed = false;    ///< blocks of its clients have changed since the tables were updated
  bool absent = false;     ///< other blocks did not come than it said last
  bool broken = false;     ///< it can not go on
  bool clock = false;      ///< its clock counts
  double seconds = 0;      ///< since the session's start
};

/// One server's words.
[[nodiscard]] std::vector<std::uint64_t> agreement_words(const Contribution& mine, ServerTransport& transport,
                                                         const Metadata& metadata, std::vector<ScheduledTask>& tasks);
/// What the combined words say. Allocates nothing.
[[nodiscard]] Agreement read_agreement(std::vector<std::uint64_t> words, std::int64_t index, std::size_t variables);

}  // namespace sidestream
