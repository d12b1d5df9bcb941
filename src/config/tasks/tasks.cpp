// The sections `analyses` and `outputs`.
//
// 1. read_task: finds the kind, reads its options and those of all tasks, then schedule, containment and kept
//    iterations.
// 2. After each task, its source is found and its made mesh declared, so that tasks below can use it.
// 3. give_names: tasks without a name get their kind and a number. Then files are checked.
// 4. read_events: events of the file and of tasks get their bits, in this order on all processes.
#include "config/tasks/tasks.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "config/expressions/condition.hpp"
#include "config/options/option_text.hpp"
#include "config/sections.hpp"
#include "config/tasks/made_meshes.hpp"
#include "config/tasks/module_files.hpp"
#include "config/tasks/schedule_text.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

/// The kind and options of one entry: `- histogram: {...}`, or `- histogram` without options.
Entry task_entry(const Node& item, const std::string& section_name) {
  if (item.kind == Node::Kind::scalar) {
    Entry entry{item.text, item.where, {}};
    entry.value.where = item.where;
    return entry;
  }
  if (item.kind != Node::Kind::map || item.entries.empty()) {
    fail_at(item.where, "found {} as an entry of '{}', expected a kind and its options; write '- KIND: {{...}}'",
            item.description(), section_name);
  }
  if (item.entries.size() > 1) {
    const Entry &first = item.entries[0], &second = item.entries[1];
    fail_at(second.where,
            "found '{}' beside '{}' in one entry of '{}', expected one kind; indent the options of '{}' "
            "below it, or begin another entry with '-'",
            second.key, first.key, section_name, first.key);
  }
  return item.entries.front();
}

/// Options of the kind; throws if there is no such kind in this section.
const std::vector<Option>& kind_options(const Entry& entry, bool writer, const Registry& registry) {
  const auto analysis = registry.analyses().find(entry.key);
  const auto output = registry.writers().find(entry.key);
  if (!writer && analysis != registry.analyses().end()) return analysis->second.options;
  if (writer && output != registry.writers().end()) return output->second.options;
  if (writer && analysis != registry.analyses().end()) {
    fail_at(entry.where, "found the analysis '{}' under 'outputs:', expected an output; move it to 'analyses:'",
            entry.key);
  }
  if (!writer && output != registry.writers().end()) {
    fail_at(entry.where, "found the output '{}' under 'analyses:', expected an analysis; move it to 'outputs:'",
            entry.key);
  }
  if (writer && registry.streams().contains(entry.key)) {
    fail_at(
        entry.where,
        "found the output '{}', which the servers of a sidecar cannot send; remove it, or choose another placement, "
        "such as 'cores' or 'nodes'",
        entry.key);
  }
  if (const ModuleKind* const absent = module_with(KindOf::task, entry.key)) {
    fail_at(entry.where, "{}", missing_module(*absent));
  }
  const std::vector<std::string> known = writer ? keys_of(registry.writers()) : keys_of(registry.analyses());
  const char* what = writer ? "output" : "analysis";
  fail_at(entry.where, "found the unknown {} '{}', expected one of {}; {}", what, entry.key, listed(known),
          suggestion(entry.key, known,
                     std::string("name the library that has it under 'plugins:' or register it in the program")));
}

/// The task in messages about its options.
std::string owner_of(const Entry& entry, bool writer) {
  return fmt::format("the {} '{}'", writer ? "output" : "analysis", entry.key);
}

std::optional<double> read_bound(const Settings& settings, const char* name, Schedule::Unit unit) {
  if (!settings.has(name)) return std::nullopt;
  const double bound = settings.real(name);
  const bool counts = unit != Schedule::Unit::time && unit != Schedule::Unit::wall;
  if (counts && bound != std::floor(bound)) {
    settings.fail(name,
                  fmt::format("found {} for '{}', expected a whole number because 'every' counts {}; write one, or "
                              "give 'every' in time or seconds",
                              bound, name, unit == Schedule::Unit::cycles ? "cycles" : "iterations"));
  }
  return bound;
}

Schedule read_schedule(const Settings& settings, const ReadContext& context) {
  Schedule schedule = parse_every(settings.text("every"), context.expressions, "'every'", settings.where("every"));
  schedule.start = read_bound(settings, "start", schedule.unit);
  schedule.end = read_bound(settings, "end", schedule.unit);
  if (schedule.end && schedule.start && *schedule.end < *schedule.start) {
    settings.fail("end",
                  fmt::format("found the end {} before the start {}, expected it after; exchange or correct them",
                              *schedule.end, *schedule.start));
  }
  const bool from_zero = schedule.unit != Schedule::Unit::time && schedule.unit != Schedule::Unit::cycles;
  if (from_zero && schedule.end && *schedule.end < 0) {
    settings.fail("end",
                  fmt::format("found {} for 'end', expected at least 0; otherwise it never runs: correct or remove "
                              "it",
                              *schedule.end));
  }
  schedule.first = settings.boolean("first");
  if (schedule.first && (schedule.unit == Schedule::Unit::wall || schedule.unit == Schedule::Unit::automatic)) {
    settings.fail(
        "first", fmt::format("found `first: yes` with 'every: {}', which runs in the first iteration anyway; remove it",
                             settings.text("every")));
  }
  schedule.event = settings.text("on");
  if (settings.given("on") && schedule.event.empty()) {
    settings.fail("on", "found an empty 'on', expected the name of an event; write one or remove it");
  }
  if (settings.given("from")) {
    const std::string& from = settings.text("from");
    schedule.from = from == "one" ? EventFrom::one : from == "node" ? EventFrom::node : EventFrom::all;
    if (schedule.event.empty()) {
      settings.fail("from", fmt::format("found 'from: {}' without 'on', expected the event that it is for; add "
                                        "'on: NAME' or remove it",
                                        from));
    }
  }
  if (settings.given("when")) {
    schedule.when = std::make_shared<const Condition>(settings.text("when"), context.expressions, *context.metadata,
                                                      "'when'", settings.where("when"));
  }
  return schedule;
}

/// Seconds in `10 s`.
double read_limit(const Settings& settings) {
  const std::string& text = settings.text("limit");
  if (const std::optional<double> seconds = parse_seconds(text)) return *seconds;
  settings.fail("limit",
                fmt::format("found '{}' for 'limit', expected a time above 0; write '10 s', '500 ms', '2 min' or "
                            "'1 h'",
                            text));
}

/// Reads the options that contain a failing task.
void read_containment(TaskConfig& task, const Registry& registry) {
  const Settings& settings = task.settings;
  task.isolated = settings.text("isolate") == "process";
  if (settings.has("limit")) task.limit = read_limit(settings);
  if (settings.has("memory_limit")) task.memory_limit = settings.integer<std::uint64_t>("memory_limit");
  if (task.memory_limit > 0 && !task.isolated) {
    settings.fail(
        "memory_limit",
        "found 'memory_limit' without 'isolate: process', expected both: several analyses share the memory of "
        "a server; add 'isolate: process' or remove it");
  }
  if (task.isolated && task.writer) {
    settings.fail("isolate",
                  "found 'isolate: process' for an output, expected an analysis: an output's files are the "
                  "server's; remove it");
  }
  if (!task.isolated || registry.analyses().at(task.kind).takes_any_partials(settings)) return;
  settings.fail(
      "isolate",
      fmt::format("found 'isolate: process' for '{}', whose servers exchange values of their blocks while they "
                  "combine, expected an analysis that combines reduced results only; remove it",
                  task.kind));
}

/// Checks the options about kept iterations.
void check_keeping(const TaskConfig& task) {
  const Settings& settings = task.settings;
  if (!settings.given("keep_back")) return;
  const auto wrong = [&](const char* found, const char* expected) {
    settings.fail("keep_back", fmt::format("found 'keep_back' {}, expected {}", found, expected));
  };
  if (!task.writer) wrong("for an analysis", "an output; give it to one that writes the variables, or remove it");
  if (!task.schedule.when) wrong("without 'when'", "the condition in which they are written; add it");
  if (task.for_restart) {
    wrong("for a checkpoint, which restarts read", "an output of fields; use `hdf5`, or a database with `kind: post`");
  }
}

}  // namespace

TaskConfig read_task(const Node& item, bool writer, const Registry& registry, const ReadContext& context) {
  const Entry entry = task_entry(item, writer ? "outputs" : "analyses");
  std::vector<Option> options = kind_options(entry, writer, registry);
  options.insert(options.begin(), task_options().begin(), task_options().end());
  TaskConfig task;
  task.kind = entry.key;
  task.writer = writer;
  const Node whole = made_whole(entry.value, options);
  task.settings = read_settings(whole, options, owner_of(entry, writer), entry.where, context);
  task.schedule = read_schedule(task.settings, context);
  read_containment(task, registry);
  if (writer) {
    const auto& for_restart = registry.writers().at(task.kind).for_restart;
    task.for_restart = for_restart && for_restart(task.settings);
  }
  check_keeping(task);
  task.name = task.settings.text("name");
  if (task.settings.given("name") && task.name.empty()) {
    task.settings.fail("name", "found an empty 'name', expected a text; write one or remove it");
  }
  return task;
}

namespace {

/// The items of the section; null if it is empty.
const std::vector<Node>* items_of(const Document& document, const std::string& section_name) {
  const Entry* found = document.root().find(section_name);
  if (found == nullptr || found->value.kind == Node::Kind::null) return nullptr;
  if (found->value.kind == Node::Kind::list) return &found->value.items;
  fail_at(found->value.where, "found {} for '{}', expected a list; begin each entry with '- '",
          found->value.description(), section_name);
}

void read_section(std::vector<TaskConfig>& tasks, const Document& document, bool writer, const Registry& registry,
                  const ReadContext& context, Metadata& metadata) {
  const std::vector<Node>* const items = items_of(document, writer ? "outputs" : "analyses");
  if (items == nullptr) return;
  for (const Node& item : *items) {
    tasks.push_back(read_task(item, writer, registry, context));
    find_source(tasks.back(), std::span(tasks).first(tasks.size() - 1), registry, metadata);
    declare_made_mesh(tasks, registry, metadata);
  }
}

/// Checks that names in the file differ, and gives unique names to the other tasks.
void give_names(std::vector<TaskConfig>& tasks) {
  std::map<std::string, Location> taken;
  for (const TaskConfig& task : tasks) {
    if (task.name.empty()) continue;
    const auto [first, is_new] = taken.emplace(task.name, task.settings.where("name"));
    if (is_new) continue;
    task.settings.fail("name", fmt::format("found the name '{}' a second time (first in line {}), expected different "
                                           "names; rename one",
                                           task.name, first->second.line));
  }
  std::map<std::string, int> last;  // number per kind
  for (TaskConfig& task : tasks) {
    while (task.name.empty()) {
      const std::string name = unnamed_task(task.kind, ++last[task.kind]);
      if (taken.emplace(name, Location{}).second) task.name = name;
    }
  }
}

}  // namespace

void check_task_names(const Document& document, const Registry& registry) {
  for (const bool writer : {false, true}) {
    const char* const section_name = writer ? "outputs" : "analyses";
    const std::vector<Node>* const items = items_of(document, section_name);
    for (const Node& item : items ? *items : std::vector<Node>()) {
      const Entry entry = task_entry(item, section_name);
      std::vector<Option> options = kind_options(entry, writer, registry);
      options.insert(options.begin(), task_options().begin(), task_options().end());
      check_option_names(entry.value, options, owner_of(entry, writer));
    }
  }
}

const std::vector<Option>& options_of(const TaskConfig& task, const Registry& registry) {
  return task.writer ? registry.writers().at(task.kind).options : registry.analyses().at(task.kind).options;
}

std::vector<TaskConfig> read_tasks(const Document& document, const Registry& registry, const ReadContext& context,
                                   Metadata& metadata) {
  std::vector<TaskConfig> tasks;
  mark_made_meshes(document, metadata);
  read_section(tasks, document, false, registry, context, metadata);
  // Outputs name variables in files; expressions are not accepted.
  ReadContext of_outputs = context;
  of_outputs.derive = nullptr;
  read_section(tasks, document, true, registry, of_outputs, metadata);
  give_names(tasks);
  return tasks;
}

void check_then(const TaskConfig& task, const OpeningConfig& opening, const std::vector<SteeredParameter>& steering) {
  if (!task.settings.given("then")) return;
  const std::string& text = task.settings.text("then");
  const auto wrong = [&](const std::string& problem) {
    task.settings.fail("then", fmt::format("found '{}' for 'then', {}", text, problem));
  };
  if (!task.schedule.when && task.schedule.event.empty()) {
    wrong("which also needs 'when' or 'on': otherwise it happens in the first iteration; add one");
  }
  if (text != "end") {
    try {
      static_cast<void>(steered_after_run(text, steering));
    } catch (const Error& error) {
      wrong(error.what());
    }
    return;
  }
  if (!opening.ending.any())
    wrong("expected the section 'ending', which says how the run ends; add 'ending: {signals: [TERM], margin: 5 min}'");
  if (opening.placement.mode == PlacementMode::job) {
    wrong("but servers of another job cannot end the simulation; set a parameter of 'steering' that it reads");
  }
}

SteeredAfterRun steered_after_run(const std::string& text, const std::vector<SteeredParameter>& steering) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos) {
    fail(Code::configuration, "expected 'end', or a steered parameter and its value; write it as in 'stop = 1'");
  }
  const auto part = [&](std::size_t first, std::size_t count) {
    const std::string_view whole = std::string_view(text).substr(first, count);
    const std::size_t begin = whole.find_first_not_of(' '), last = whole.find_last_not_of(' ');
    return begin == std::string_view::npos ? std::string_view{} : whole.substr(begin, last - begin + 1);
  };
  const SteeredParameter& parameter = steering[find_steered(steering, part(0, sign))];
  return {parameter.name, parse_steered(parameter, part(sign + 1, text.size()))};
}

std::vector<std::string> read_events(const Document& document, const std::vector<TaskConfig>& tasks,
                                     const Registry& registry, const ReadContext& context) {
  std::vector<std::string> events;
  // The number of bits in EndRecord::events.
  constexpr std::size_t limit = 64;
  const auto add = [&](const std::string& name, const Location& where) {
    if (std::find(events.begin(), events.end(), name) != events.end()) return;
    if (name.empty()) fail_at(where, "found an empty event name, expected a text; write one or remove it");
    if (events.size() == limit) {
      fail_at(where, "found the event '{}' after {} others, expected at most {}; use fewer", name, limit, limit);
    }
    events.push_back(name);
  };
  if (const Entry* found = document.root().find("events")) {
    const Settings::Value value = read_value(found->value, section("events").options[0], context);
    for (const auto& entry : *std::get<std::shared_ptr<Settings::List>>(value.content)) {
      add(std::get<std::string>(entry.content), entry.location);
    }
  }
  for (const TaskConfig& task : tasks) {
    if (!task.schedule.event.empty()) add(task.schedule.event, task.settings.where("on"));
    for (const Option& option : options_of(task, registry)) {
      if (option.type != OptionType::event || !task.settings.has(option.name)) continue;
      add(task.settings.text(option.name), task.settings.where(option.name));
    }
  }
  const Entry* const ending = document.root().find("ending");
  if (ending && ending->value.kind != Node::Kind::null) add(ending_event, ending->where);
  return events;
}

namespace {

std::string text_at(const Node& map, const char* key) {
  const Entry* const found = map.kind == Node::Kind::map ? map.find(key) : nullptr;
  return found ? found->value.text : std::string();
}

}  // namespace

std::string unnamed_task(const std::string& kind, int number) {
  return number == 1 ? kind : fmt::format("{}-{}", kind, number);
}

std::vector<WrittenTask> written_tasks(const Document& document) {
  std::vector<WrittenTask> tasks;
  for (const char* const section : {"analyses", "outputs"}) {
    const Entry* const found = document.root().find(section);
    if (found == nullptr || found->value.kind != Node::Kind::list) continue;
    for (const Node& item : found->value.items) {
      if (item.kind == Node::Kind::scalar) tasks.push_back({item.text, "", "", item.where});
      if (item.kind != Node::Kind::map || item.entries.empty()) continue;
      const Entry& entry = item.entries.front();
      tasks.push_back({entry.key, text_at(entry.value, "name"), text_at(entry.value, "group"), entry.where});
    }
  }
  std::set<std::string> taken;
  for (const WrittenTask& task : tasks) taken.insert(task.name);
  std::map<std::string, int> last;  // number per kind
  for (WrittenTask& task : tasks) {
    while (task.name.empty()) {
      const std::string name = unnamed_task(task.kind, ++last[task.kind]);
      if (taken.insert(name).second) task.name = name;
    }
  }
  return tasks;
}

}  // namespace sidestream
