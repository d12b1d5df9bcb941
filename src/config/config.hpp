// The configuration: YAML text converted to checked values. No MPI; reads no files.
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

#include "base/file_rules.hpp"
#include "base/run_log.hpp"
#include "data/steering.hpp"
#include "sidestream/extend/registry.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

class Condition;

/// A parsed YAML file with the position of every node.
class Document;

/// Parses `text`; `file` names it in messages. Throws Error(configuration) with file:line:column.
[[nodiscard]] std::shared_ptr<const Document> parse_document(const std::string& text, const std::string& file);

enum class PlacementMode { inline_, cores, nodes, sidecar, job, off };
/// Name of the mode in configurations.
[[nodiscard]] const char* name_of(PlacementMode mode) noexcept;

/// The role of forwarders between clients and servers of `nodes`.
enum class Forward { none, blocks, partials };
/// The way in which data move while a client computes.
enum class Progress { automatic, thread, calls };

/// `when_full: spill`: storage for blocks that do not fit the buffer.
struct SpillConfig {
  std::string directory;   ///< on the node; empty: $TMPDIR, or /tmp
  std::uint64_t size = 0;  ///< bytes per node
};

/// Servers that run some of the tasks, separate from the others: docs/groups.md.
struct ServerGroup {
  std::string name;
  /// Number of servers: per node with `cores` and `sidecar`, of the endpoint with `job`; 0: `auto`, until the start.
  int size = 0;
  Location where;
};

struct PlacementConfig {
  PlacementMode mode = PlacementMode::inline_;
  int per_node = 1;                     ///< cores, sidecar: servers per node; nodes: forwarders per node
  int servers = 1;                      ///< nodes: total number of dedicated ranks
  int whole_nodes = 0;                  ///< nodes: number of nodes whose ranks all serve; 0: not given
  std::vector<int> ranks;               ///< nodes: these ranks; empty: not given
  std::vector<ServerGroup> groups;      ///< in the file's order; empty: all servers run everything
  std::string measured;                 ///< for groups of the size `auto`: path of the file with measured costs
  std::vector<int> bind;                ///< CPU cores for servers and forwarders; empty: not bound
  std::uint64_t buffer = 512ull << 20;  ///< bytes per node
  WhenFull when_full = WhenFull::wait;
  SpillConfig spill;
  int max_in_flight = 8;  ///< iterations published and not yet released, 1 to 64
  double poll = 0.001;    ///< cores, sidecar: seconds, see Anticipation
  int pretend_nodes = 0;  ///< testing: number of nodes into which this machine is split; 0: none
  std::string partitioner = "block";
  Settings partitioner_settings;  ///< its options; read at start, when the kinds of plug-ins are known
  bool move_all = false;          ///< nodes: true if blocks that no task needs move, too
  Forward forward = Forward::none;
  Progress progress = Progress::automatic;
  std::string session = "default";    ///< sidecar
  double attach_limit = 60;           ///< sidecar: seconds
  Settings stream;                    ///< job: see stream_config.hpp
  Location where;                     ///< of the placement entry
  std::vector<std::string> warnings;  ///< options that this placement ignores, each with its place; rank 0 logs them
  std::vector<std::string> notes;     ///< other messages that rank 0 logs when a session opens
};

/// The reaction to an output directory that holds an earlier run.
enum class Existing { refuse, replace, resume };

/// The section `ending`: what tells a run to end, and how long that may take.
struct EndingConfig {
  std::vector<int> signals;
  double limit = 0;         ///< seconds since the session was opened; 0: none
  bool end_of_job = false;  ///< the limit is the end of the batch system's job
  double margin = 0;        ///< seconds between the order to end and the end; 0: there is no section

  [[nodiscard]] bool any() const noexcept { return margin > 0; }
};
/// The event of the last iteration of a run that is told to end; the program cannot signal it.
inline constexpr const char* ending_event = "ending";

/// The part of the configuration needed to open a session.
struct OpeningConfig {
  PlacementConfig placement;
  std::vector<std::string> former_names;  ///< of keys in the file: warnings with their places; rank 0 prints them
  std::vector<std::pair<std::string, Location>> plugins;  ///< paths of shared libraries
  std::string directory = ".";                            ///< output.directory: relative to the working directory
  Existing existing = Existing::refuse;
  bool same_session = false;   ///< with resume: earlier servers of this session left the results, not another run
  bool stop_on_error = false;  ///< on_error: stop
  double drain_limit = 60;     ///< seconds
  bool drain_given = false;    ///< the file says how many
  EndingConfig ending;
  bool timings = true;                 ///< output.timings: write timings.csv
  LogLevel messages = LogLevel::note;  ///< output.messages: the slightest ones that go into messages.txt
  bool fsync = true;                   ///< output.fsync: flush files of results to the disk
  FileRules files;                     ///< output.writers, output.striping
};

/// The clients that must have raised the event of a task, and the servers that give it their blocks then. `any`: one
/// client or, for barriers, all of them; all servers.
enum class EventFrom { any, one, node, all };

/// The iterations in which a task runs.
struct Schedule {
  enum class Unit { iterations, cycles, time, wall, automatic };
  Unit unit = Unit::iterations;
  double every = 1;  ///< in the unit; integer for iterations and cycles
  std::optional<double> start,
      end;             ///< inclusive bounds in the unit (automatic: iterations; wall: seconds since start)
  bool first = false;  ///< for iterations, cycles and times: also run in the first one within these bounds
  std::string event;   ///< `on`: only in iterations in which it was signalled; empty: always
  EventFrom from = EventFrom::any;
  std::shared_ptr<const Condition> when;  ///< condition for running; null: always
};

/// One entry under `analyses:` or `outputs:`.
struct TaskConfig {
  std::string kind;
  std::string name;  ///< for messages and timings: given or "kind", "kind-2", ...
  bool writer = false;
  Schedule schedule;
  Settings settings;
  std::size_t group = 0;           ///< index in `placement.groups`; 0 without groups
  bool isolated = false;           ///< `isolate: process`
  double limit = 0;                ///< seconds; 0: none
  std::uint64_t memory_limit = 0;  ///< bytes; 0: none
  std::int32_t makes = -1;         ///< id of the mesh that its result becomes; -1: none
  bool for_restart = false;        ///< also runs in the last iteration of a run that is told to end
  std::int32_t uses = -1;          ///< id of the made mesh whose variables it uses; -1: those of the simulation
};

/// The section `live`: what people may ask of a running session.
struct LiveConfig {
  bool requests = false;             ///< analyses that are not in the configuration
  double budget = 2;                 ///< seconds for them in one iteration
  std::vector<std::int32_t> held{};  ///< variables whose last values servers keep for them, with arrays of their meshes
};

struct Config {
  OpeningConfig opening;
  Metadata metadata;              ///< declared in the file and by calls, with ids
  std::size_t own_variables = 0;  ///< number of variables that the file and the program declare, derived ones included
  std::vector<TaskConfig> tasks;  ///< analyses, then outputs, in the file's order
  /// Result of read_events, at most 64; the index is the bit in EndRecord::events.
  std::vector<std::string> events;
  std::vector<SteeredParameter> steering;
  int steering_ahead = 0;  ///< iterations; 0 for `inline`
  LiveConfig live;
};

/// Variables that tasks add: expressions that they use instead of names, and those of meshes that they make.
struct FurtherVariables {
  Metadata all;                                       ///< those of the file and of the program, then the further ones
  std::map<std::int32_t, std::string> expressions{};  ///< by id
};

/// Values of $names.
using Parameters = std::map<std::string, std::variant<std::int64_t, double>, std::less<>>;

[[nodiscard]] OpeningConfig read_opening(const Document& document);

/// Reads the whole configuration. `declared` holds meshes and variables declared by calls; ids are reassigned, those of
/// the file first. A name that both declare is an error unless they agree. A declared mesh without geometry refers to
/// one of the file. `further` are added before the tasks are read. Throws Error(configuration).
[[nodiscard]] Config read_config(const Document& document, const Registry& registry, const Parameters& parameters,
                                 const Metadata& declared, const FurtherVariables& further = {});
/// The variables that tasks have added to those of the file and of the program.
[[nodiscard]] FurtherVariables further_variables(const Config& config);

/// The reference manual in Markdown, generated from the option declarations.
[[nodiscard]] std::string reference_manual(const Registry& registry);

}  // namespace sidestream
