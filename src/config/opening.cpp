// The first reading of the configuration, before any rank knows its role: sections and everything without parameters of
// the program.
//
// 1. check_sections: unknown sections are refused, with a suggestion.
// 2. read_placement: rewrites short forms, reads the options, refuses those that the placement would ignore, and checks
//    combinations. Groups set the number of servers.
// 3. read_opening: the rest, in order: output, plug-ins, errors, drain limit, ending.
#include "config/opening.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/groups.hpp"
#include "config/options/former_names.hpp"
#include "config/sections.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

Settings read_section(const Document& document, const std::string& name, const ReadContext& context) {
  Node alone;
  alone.kind = Node::Kind::map;
  alone.where = {document.file(), 1, 1};
  if (const Entry* entry = document.root().find(name)) {
    alone.where = entry->where;
    alone.entries.push_back(*entry);
  }
  const std::vector<Option>& options = section(name).options;
  const Settings settings = read_settings(alone, options, "the configuration", alone.where, context);
  return options.front().type == OptionType::map ? settings.map(name) : settings;
}

namespace {

/// `placement: off` stands for `placement: {mode: off}`.
Node placement_node(const Document& document) {
  const Entry* entry = document.root().find("placement");
  if (entry == nullptr) return {};
  if (entry->value.kind != Node::Kind::scalar) return entry->value;
  Node map;
  map.kind = Node::Kind::map;
  map.where = entry->value.where;
  map.entries.push_back({"mode", entry->value.where, entry->value});
  return map;
}

/// Replaces `partitioner: {stripe: {width: 4}}` by `partitioner: stripe`; its options are read at start.
void name_partitioner(Node& placement) {
  for (Entry& entry : placement.entries) {
    if (entry.key != "partitioner" || entry.value.kind == Node::Kind::scalar) continue;
    const Node& node = entry.value;
    if (node.kind != Node::Kind::map || node.entries.size() != 1) {
      fail_at(node.kind == Node::Kind::map && node.entries.size() > 1 ? node.entries[1].where : node.where,
              "found {} for 'partitioner', expected the name of a partitioner, or a map with its name and its options; "
              "write 'partitioner: block' or 'partitioner: {{stripe: {{width: 4}}}}'",
              node.entries.size() > 1 ? fmt::format("'{}' beside '{}'", node.entries[1].key, node.entries[0].key)
                                      : node.description());
    }
    Node name;
    name.kind = Node::Kind::scalar;
    name.where = node.entries.front().where;
    name.text = node.entries.front().key;
    entry.value = name;
  }
}

/// An option that only some placements use.
struct Use {
  const char* option;
  bool counts = true;   ///< true if this placement uses it
  const char* with;     ///< the placements that use it
  bool refused = true;  ///< otherwise a warning: a line that is used in several modes may be kept when one word changes
  const char* remedy = "remove it";
};

/// Remedy for a mode whose servers cannot be divided.
constexpr const char* without_groups =
    "the ranks of the simulation run one task after the other; remove it, or write 'mode: nodes'";

std::vector<Use> uses(PlacementMode mode, Forward forward) {
  const bool cores = mode == PlacementMode::cores, nodes = mode == PlacementMode::nodes;
  const bool job = mode == PlacementMode::job, sidecar = mode == PlacementMode::sidecar;
  const bool forwards = nodes && forward != Forward::none, partials = nodes && forward == Forward::partials;
  return {
      {"per_node", cores || sidecar || job || forwards,
       "with 'cores', 'sidecar' and 'job', or with 'nodes' and 'forward',", true,
       nodes ? "write 'servers' for the number of servers in all" : "remove it"},
      {"servers", nodes, "with 'nodes'", true,
       cores ? "write 'per_node' for the number of servers on each node" : "remove it"},
      {"groups", cores || sidecar || nodes || job, "with 'nodes', 'cores', 'sidecar' and 'job'", true, without_groups},
      {"measured", cores || sidecar || nodes || job, "with 'groups' and 'nodes', 'cores', 'sidecar' or 'job'"},
      {"whole_nodes", nodes, "with 'nodes'"},
      {"ranks", nodes, "with 'nodes'"},
      {"forward", nodes, "with 'nodes'"},
      {"move", nodes && !partials, "with 'nodes', but not with 'forward: partials', where no blocks move,"},
      {"progress", nodes && !forwards, "with 'nodes' and without 'forward'"},
      {"session", sidecar, "with 'sidecar'"},
      {"attach_limit", sidecar, "with 'sidecar'"},
      {"stream", job, "with 'job'", true, "remove it, or add the output 'stream' under 'outputs:'"},
      {"bind", cores || nodes || job, "with 'cores', 'nodes' and 'job'", true,
       sidecar ? "let the launcher of `sidestream serve` bind its processes" : "remove it"},
      {"partitioner", job || (nodes && !partials), "with 'nodes' and 'job', but not with 'forward: partials',", false},
      {"max_in_flight", mode != PlacementMode::inline_, "where servers are other processes", false},
      {"poll", cores || sidecar || job, "with 'cores', 'sidecar' and 'job'", false},
  };
}

/// Refuses options that the placement would ignore. `off` is exempt, so that one word switches it on and off. Returns
/// warnings, each with its place.
std::vector<std::string> check_uses(const Settings& settings, const PlacementConfig& placement) {
  std::vector<std::string> warnings;
  if (placement.mode == PlacementMode::off) return warnings;
  const std::string& forward = placement_options().name(&PlacementConfig::forward);
  for (const Use& use : uses(placement.mode, placement.forward)) {
    if (use.counts || !settings.given(use.option)) continue;
    const std::string text =
        fmt::format("found '{}' with the mode '{}'{}, expected it {} only; {}", use.option, name_of(placement.mode),
                    settings.given(forward) ? fmt::format(" and '{}: {}'", forward, settings.text(forward)) : "",
                    use.with, use.refused ? use.remedy : "it is ignored");
    if (use.refused) settings.fail(use.option, text);
    warnings.push_back(fmt::format("{}: {}", settings.where(use.option).text(), text));
  }
  return warnings;
}

void check_placement(const Settings& settings, const PlacementConfig& placement) {
  const bool ranks = !placement.ranks.empty(), nodes = placement.whole_nodes > 0;
  if (placement_options().given(settings, &PlacementConfig::servers) + nodes + ranks > 1) {
    settings.fail(
        ranks ? "ranks" : "whole_nodes",
        "found more than one of 'servers', 'whole_nodes' and 'ranks', expected one of them; remove the others");
  }
}

}  // namespace

const char* name_of(PlacementMode mode) noexcept {
  switch (mode) {
    case PlacementMode::inline_:
      return "inline";
    case PlacementMode::cores:
      return "cores";
    case PlacementMode::nodes:
      return "nodes";
    case PlacementMode::sidecar:
      return "sidecar";
    case PlacementMode::job:
      return "job";
    case PlacementMode::off:
      break;
  }
  return "off";
}

namespace {

/// The session's name becomes part of the name of a socket, which has at most 107 bytes.
void check_session(const Settings& settings, const std::string& session) {
  constexpr std::size_t longest = 64;
  const bool printable = std::none_of(session.begin(), session.end(),
                                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (session.empty() || session.size() > longest || !printable) {
    settings.fail("session", fmt::format("found a session of {} bytes{}, expected a name of 1 to {} bytes without "
                                         "control characters; rename it",
                                         session.size(), printable ? "" : " with a control character", longest));
  }
}

/// Clients that keep their own copies, or are the servers, cannot put them elsewhere.
void check_when_full(const Settings& settings, const PlacementConfig& placement) {
  const PlacementMode mode = placement.mode;
  if (placement.when_full != WhenFull::spill) {
    if (mode == PlacementMode::off || !placement_options().given(settings, &PlacementConfig::spill)) return;
    settings.fail("spill", fmt::format("found 'spill' with 'when_full: {}', expected it with 'when_full: spill' only; "
                                       "write that, or remove it",
                                       placement.when_full == WhenFull::skip ? "skip" : "wait"));
  }
  if (mode != PlacementMode::inline_ && mode != PlacementMode::nodes) return;
  settings.fail("when_full", fmt::format("found 'when_full: spill' with the mode '{}', expected it with 'cores', "
                                         "'sidecar' and 'job' only; write 'wait' or 'skip'",
                                         name_of(mode)));
}

/// Divides forwarders that reduce, or send to another job, among the groups: each serves one group.
void divide_forwarders(PlacementConfig& placement, const Settings& settings) {
  const bool sends = placement.mode == PlacementMode::job;
  const int least = static_cast<int>(placement.groups.size());
  if (!placement_options().given(settings, &PlacementConfig::per_node)) placement.per_node = least;
  if (placement.per_node >= least) return;
  settings.fail("per_node",
                fmt::format("found {} {}{} on each node for {} groups, expected at least one for each group, {}; write "
                            "'per_node: {}'",
                            placement.per_node, sends ? "sender" : "forwarder", placement.per_node == 1 ? "" : "s",
                            least, sends ? "to which it sends" : "for which it reduces", least));
}

/// With `job`, names become parts of folder names.
void check_groups_of_job(const std::vector<ServerGroup>& groups) {
  for (const ServerGroup& group : groups) {
    if (group.name.find('/') == std::string::npos) continue;
    fail_at(group.where,
            "found the group '{}', expected a name without '/': the folder of its stream ends in it; rename it",
            group.name);
  }
}

/// Groups with known sizes set the number of servers. With `job` those are the endpoint's.
void count_servers(PlacementConfig& placement, const Settings& settings, bool all_known) {
  const bool nodes = placement.mode == PlacementMode::nodes;
  const char* const which = !placement.ranks.empty() ? "ranks" : nodes ? "servers" : "per_node";
  int& servers = nodes ? placement.servers : placement.per_node;
  if (!settings.given(which) && all_known) servers = servers_of(placement.groups);
  check_group_sizes(placement.groups, servers, which);
}

/// Combinations that compatibility promises leave out (docs/compatibility.md).
void note_experiments(PlacementConfig& placement) {
  const auto note = [&](const char* what) {
    placement.notes.push_back(fmt::format("{} are experimental: a minor version may change or remove them", what));
  };
  if (placement.mode == PlacementMode::job) note("groups of servers with the placement 'job'");
  if (placement.forward == Forward::partials) note("groups of servers with 'forward: partials'");
}

void divide_servers(PlacementConfig& placement, const Settings& settings, const Node& node,
                    const ReadContext& context) {
  placement.groups = read_groups(node, context.expressions);
  const bool all_known = placement.groups.empty() || servers_of(placement.groups) > 0;
  if (placement_options().given(settings, &PlacementConfig::measured) && all_known) {
    settings.fail("measured",
                  "found 'measured' without a group of the size 'auto', expected both; write 'groups: {halos: auto, "
                  "spectra: auto}', or remove it");
  }
  if (placement.groups.empty()) return;
  const bool job = placement.mode == PlacementMode::job;
  note_experiments(placement);
  if (job) check_groups_of_job(placement.groups);
  if (job || placement.forward == Forward::partials) divide_forwarders(placement, settings);
  if (placement.whole_nodes == 0 && !job) count_servers(placement, settings, all_known);
  if (all_known || !placement.measured.empty()) return;
  settings.fail("groups",
                "found a group of the size 'auto' without 'measured', expected the file that `sidestream groups` made "
                "from earlier runs; name it, or write the size");
}

PlacementConfig read_placement(const Document& document, const ReadContext& context) {
  const Entry* entry = document.root().find("placement");
  const Location where = entry ? entry->where : Location{document.file(), 0, 0};
  Node node = placement_node(document);
  name_partitioner(node);
  const Settings settings = read_settings(node, section("placement").options[0].options, "'placement'", where, context);
  PlacementConfig placement = placement_options().read(settings);
  placement.warnings = check_uses(settings, placement);
  check_placement(settings, placement);
  check_when_full(settings, placement);
  constexpr int most_in_flight = 64;
  if (placement.when_full == WhenFull::spill && !placement_options().given(settings, &PlacementConfig::max_in_flight)) {
    placement.max_in_flight = most_in_flight;
  }
  if (!placement.ranks.empty()) placement.servers = static_cast<int>(placement.ranks.size());
  check_session(settings, placement.session);
  divide_servers(placement, settings, node, context);
  placement.where = where;
  return placement;
}

}  // namespace

void check_sections(const Document& document) {
  std::vector<std::string> known;
  for (const Section& candidate : sections()) known.push_back(candidate.name);
  for (const Entry& entry : document.root().entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    fail_at(entry.where, "found the unknown section '{}', expected one of {}; {}", entry.key, listed(known),
            suggestion(entry.key, known, "correct or remove it"));
  }
}

Parameters read_parameters(const Document& document) {
  Parameters parameters;
  const Entry* section_entry = document.root().find("parameters");
  if (section_entry == nullptr || section_entry->value.kind == Node::Kind::null) return parameters;
  const Node& node = section_entry->value;
  if (node.kind != Node::Kind::map) {
    fail_at(node.where,
            "found {} for 'parameters', expected a map of names and numbers; write 'parameters: {{nx: 64}}'",
            node.description());
  }
  const Parameters none;
  for (const Entry& entry : node.entries) {
    check_name(entry.key, "parameter", entry.where);
    if (entry.value.kind != Node::Kind::scalar) {
      fail_at(entry.value.where, "found {} for the parameter '{}', expected a number; write '{}: 64'",
              entry.value.description(), entry.key, entry.key);
    }
    parameters[entry.key] = evaluate(entry.value.text, {none, Stage::opening},
                                     fmt::format("the parameter '{}'", entry.key), entry.value.where);
  }
  return parameters;
}

void check_name(const std::string& name, const std::string& what, const Location& where) {
  const bool parameter = what == "parameter";
  for (const char c : name) {
    const bool control = static_cast<unsigned char>(c) < 0x20;
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (control || c == '/' || (parameter && !word)) {
      fail_at(where, "found '{}' in the {} name '{}', expected {}; rename it", c, what, name,
              parameter ? "letters, digits and _" : "no '/' and no control characters");
    }
  }
  const bool digit_first = parameter && !name.empty() && name.front() >= '0' && name.front() <= '9';
  if (name.empty() || name == "." || name == ".." || digit_first) {
    fail_at(where, "found the {} name '{}', expected {}; rename it", what, name,
            digit_first ? "a letter or _ first" : "a name of letters");
  }
}

bool reads_latin_1(const Document& document) {
  const Parameters none;
  return read_section(document, "encoding", context_of(document, {none, Stage::opening}, nullptr)).text("encoding") ==
         "latin-1";
}

OpeningConfig read_opening(const Document& document) {
  check_sections(document);
  const Parameters parameters = read_parameters(document);
  const ReadContext context = context_of(document, {parameters, Stage::opening}, nullptr);
  OpeningConfig config;
  config.former_names = former_names_in(document);
  config.placement = read_placement(document, context);
  output_options().fill(read_section(document, "output", context), {}, config);
  const Settings plugins = read_section(document, "plugins", context);
  if (const Entry* entry = document.root().find("plugins")) {
    const std::vector<std::string> paths = plugins.texts("plugins");
    for (std::size_t n = 0; n < paths.size(); ++n) {
      const bool is_list = entry->value.kind == Node::Kind::list;
      config.plugins.emplace_back(paths[n], is_list ? entry->value.items[n].where : entry->value.where);
    }
  }
  on_error_options().fill(read_section(document, "on_error", context), {}, config);
  const Settings drain = read_section(document, "drain_limit", context);
  drain_limit_options().fill(drain, {}, config);
  config.drain_given = drain.given("drain_limit");
  config.ending = read_ending(document, context);
  return config;
}

}  // namespace sidestream
