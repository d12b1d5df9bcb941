// The configuration: from YAML text to checked values. No MPI, no files but the text given.
//
// Two steps, because a program says what $nx is, and registers analyses of its own, only after the session is open:
//   parse + read_opening   at open: syntax, unknown sections, the options that do not depend on parameters
//   read_config            at start: everything, with parameters, declarations and registered kinds
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "data/steering.hpp"
#include "sidestream/extend/registry.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

class Condition;

/// A parsed YAML file with the place of every node.
class Document;

/// Parses `text`; `file` names it in messages. Throws Error(configuration) with file:line:column.
[[nodiscard]] std::shared_ptr<const Document> parse_document(const std::string& text, const std::string& file);

enum class PlacementMode { inline_, cores, nodes, sidecar, job, off };
/// Its name as in configurations.
[[nodiscard]] const char* name_of(PlacementMode mode) noexcept;

/// What stands between clients and servers of `nodes`.
enum class Forward { none, blocks, partials };
/// What moves data while a client computes.
enum class Progress { automatic, thread, calls };

/// `when_full: spill`: where blocks go that find no room in the buffer.
struct SpillConfig {
  std::string directory;   ///< on the node; empty: $TMPDIR, or /tmp
  std::uint64_t size = 0;  ///< bytes on each node
};

/// Servers that run some of the tasks, apart from the others: docs/groups.md.
struct ServerGroup {
  std::string name;
  /// Servers, with `cores` and `sidecar` of each node, with `job` of the endpoint; 0: `auto`, until the start.
  int size = 0;
  Location where;
};

struct PlacementConfig {
  PlacementMode mode = PlacementMode::inline_;
  int per_node = 1;                     ///< cores, sidecar: servers on each node; nodes: forwarders on each
  int servers = 1;                      ///< nodes: dedicated ranks in all
  int whole_nodes = 0;                  ///< nodes: all ranks of so many; 0: not given
  std::vector<int> ranks;               ///< nodes: these ranks; empty: not given
  std::vector<ServerGroup> groups;      ///< in the file's order; empty: all servers run everything
  std::string measured;                 ///< for groups of the size `auto`: file of their costs
  std::vector<int> bind;                ///< CPU cores for servers and forwarders; empty: as they are
  std::uint64_t buffer = 512ull << 20;  ///< bytes per node
  WhenFull when_full = WhenFull::wait;
  SpillConfig spill;
  int max_in_flight = 8;  ///< iterations published and not yet released, 1 to 64
  double poll = 0.001;    ///< cores, sidecar: seconds, see Anticipation
  int pretend_nodes = 0;  ///< testing: split this machine into so many nodes; 0: no
  std::string partitioner = "block";
  Settings partitioner_settings;  ///< its options; read at start, when the kinds of plug-ins are known
  bool move_all = false;          ///< nodes: blocks that nobody needs too
  Forward forward = Forward::none;
  Progress progress = Progress::automatic;
  std::string session = "default";    ///< sidecar
  double attach_limit = 60;           ///< sidecar: seconds
  Settings stream;                    ///< job: see stream_config.hpp
  Location where;                     ///< of the placement entry
  std::vector<std::string> warnings;  ///< options that this placement ignores, each with its place; rank 0 prints them
  std::vector<std::string> notes;     ///< what else rank 0 says when a session opens
};

/// What happens if the output directory holds an earlier run.
enum class Existing { refuse, replace, resume };

/// The part that opening a session needs.
struct OpeningConfig {
  PlacementConfig placement;
  std::vector<std::pair<std::string, Location>> plugins;  ///< paths of shared libraries
  std::string directory = ".";                            ///< output.directory: relative to the working directory
  Existing existing = Existing::refuse;
  bool same_session = false;   ///< with resume: servers before these left what is there, not another run
  bool stop_on_error = false;  ///< on_error: stop
  double drain_limit = 60;     ///< seconds
  bool timings = true;         ///< output.timings: leave timings.csv
  bool fsync = true;           ///< output.fsync: files of results wait for the disk
};

/// When a task runs.
struct Schedule {
  enum class Unit { iterations, cycles, time, wall, automatic };
  Unit unit = Unit::iterations;
  double every = 1;  ///< in the unit; iterations and cycles: whole
  std::optional<double> start,
      end;             ///< inclusive bounds in the unit (automatic: iterations; wall: seconds since start)
  bool first = false;  ///< of iterations, cycles and times: also in the first one within these bounds
  std::string event;   ///< `on`: only in iterations in which it was signalled; empty: always
  std::shared_ptr<const Condition> when;  ///< only where it holds; null: always
};

/// One entry under `analyses:` or `outputs:`.
struct TaskConfig {
  std::string kind;
  std::string name;  ///< for messages and timings: given or "kind", "kind-2", ...
  bool writer = false;
  Schedule schedule;
  Settings settings;
  std::size_t group = 0;           ///< of `placement.groups`; 0 where there are none
  bool isolated = false;           ///< `isolate: process`
  double limit = 0;                ///< seconds; 0: none
  std::uint64_t memory_limit = 0;  ///< bytes; 0: none
};

struct Config {
  OpeningConfig opening;
  Metadata metadata;              ///< declared in the file and by calls, ids given
  std::vector<TaskConfig> tasks;  ///< analyses, then outputs, in the file's order
  /// Those that read_events finds, at most 64; index = bit in EndRecord::events.
  std::vector<std::string> events;
  std::vector<SteeredParameter> steering;
  int steering_ahead = 0;  ///< iterations; 0 with `inline` alone
};

/// Values of $names.
using Parameters = std::map<std::string, std::variant<std::int64_t, double>, std::less<>>;

[[nodiscard]] OpeningConfig read_opening(const Document& document);

/// `declared` holds meshes and variables declared by calls; ids are given anew, those of the file first. A name that
/// both declare is an error unless they agree. A declared mesh without geometry stands for one of the file. Expressions
/// in `derived` become variables, as if an analysis before all others had them in place of names. Throws
/// Error(configuration).
[[nodiscard]] Config read_config(const Document& document, const Registry& registry, const Parameters& parameters,
                                 const Metadata& declared, const std::vector<std::string>& derived = {});
/// The expressions that analyses have in place of names, in the order in which they became variables.
[[nodiscard]] std::vector<std::string> expressions_in_place(const Metadata& metadata);

/// The reference manual in Markdown, made from the option declarations.
[[nodiscard]] std::string reference_manual(const Registry& registry);

/// The entry of `known` that `unknown` was probably meant to be; empty if none is near.
[[nodiscard]] std::string did_you_mean(const std::string& unknown, const std::vector<std::string>& known);

}  // namespace sidestream
