// Connects the session's requests: mailbox, steering and asked analyses.
//
// SteeringLink: the first server opens the mailbox. A value goes to the steering server, which tells the clients;
// servers that do not tell them post it as a request of the run itself. Servers that continue a session take over the
// recorded values.
// RequestLink: the first server reads requests; every server makes the analysis from the same text. Expressions become
// new variables, in a limited number.
// A mailbox that cannot be opened is a warning: the run continues without requests.
#include "session/serving/steering_link.hpp"

#include <fmt/format.h>

#include <exception>

#include "base/own_environment.hpp"
#include "config/expressions/derived_section.hpp"
#include "config/sections.hpp"
#include "config/tasks/tasks.hpp"
#include "sidestream/error.hpp"
#include "sidestream/kit/base/log.hpp"
#include "storage/files/json.hpp"

namespace sidestream {

std::vector<SteeringRequest> requests_in(Mailbox* mailbox) {
  std::vector<SteeringRequest> requests;
  if (mailbox == nullptr) return requests;
  for (const Mailbox::Request& one : mailbox->take()) requests.push_back({one.id, one.name, one.value});
  return requests;
}

SteeringLink::SteeringLink(const Config& config, bool first, bool tells)
    : config_(config),
      first_(first),
      sink_{config.steering,
            [this](std::size_t parameter, const SteeredParameter::Value& value) { take(parameter, value); }} {
  if (config_.steering.empty() || !tells) return;
  std::optional<SteeringChannel> mine;
  if (first_) {
    open_mailbox();
    mine = channel();
  }
  std::vector<std::pair<std::string, std::string>> before;
  if (mailbox_ && config_.opening.same_session) before = mailbox_->recorded();
  server_.emplace(config_.steering, config_.steering_ahead, std::move(mine));
  // Clients of killed servers may have received different values, so these servers send all values.
  for (const auto& [name, text] : before) {
    try {
      const std::size_t parameter = find_steered(config_.steering, name);
      server_->set(parameter, parse_steered(config_.steering[parameter], text));
    } catch (const Error& error) {
      log::warning("steering: values that earlier servers left are not taken over: {}", error.what());
    }
  }
}

SteeringLink::~SteeringLink() {
  try {
    close(false);
  } catch (const std::exception& error) {
    log::warning("steering: requests stay without an answer: {}", error.what());
  }
}

/// Opens the mailbox. Analyses can steer even without it.
void SteeringLink::open_mailbox() {
  try {
    mailbox_ = std::make_unique<Mailbox>(steering_mailbox, config_.opening.directory, config_.opening.same_session);
    if (config_.opening.placement.mode == PlacementMode::sidecar) mailbox_->keep(true);
  } catch (const Error& error) {
    log::warning("'sidestream set' cannot reach this run: {}", error.what());
  }
}

SteeringChannel SteeringLink::channel() {
  SteeringChannel channel;
  channel.requests = [this] { return requests_in(mailbox_.get()); };
  channel.answer = [this](const std::string& id, const std::string& sentence) {
    if (mailbox_) mailbox_->answer(id, sentence, closing_);
  };
  channel.record = [this](const std::vector<SteeredParameter::Value>& values) { record(values); };
  return channel;
}

void SteeringLink::record(const std::vector<SteeredParameter::Value>& values) {
  if (!mailbox_) return;
  std::string lines;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const SteeredParameter& parameter = config_.steering[n];
    lines += fmt::format("{} = {} ({}", parameter.name, text_of(values[n]), parameter.is_real() ? "real" : "integer");
    if (parameter.minimum) lines += fmt::format(", from {}", *parameter.minimum);
    if (parameter.maximum) lines += fmt::format(", to {}", *parameter.maximum);
    lines += ")\n";
  }
  mailbox_->record(lines);
}

/// Takes the value that an analysis has set, on every server; the first server's counts.
void SteeringLink::take(std::size_t parameter, const SteeredParameter::Value& value) {
  if (!first_) return;
  if (server_) return server_->set(parameter, value);
  try {
    post_from_run(steering_mailbox, config_.opening.directory, posted_++, config_.steering[parameter].name,
                  text_of(value));
  } catch (const Error& error) {
    log::error("steering: '{}' cannot be set: {}", config_.steering[parameter].name, error.what());
  }
}

void SteeringLink::close(bool over) {
  closing_ = true;
  if (server_) server_->close();
  if (mailbox_ && over) mailbox_->keep(false);
}

RequestLink::RequestLink(const Parts& parts)
    : config_(parts.config),
      most_variables_(config_.metadata.variables.size() + AskedTasks::most_new),
      registry_(parts.registry) {
  std::optional<RequestChannel> mine;
  if (parts.servers.rank() == 0) {
    open_mailbox();
    mine = channel();
  }
  const auto make_one = [this](const std::string& text, const std::string& name,
                               const std::vector<TaskConfig>& running) { return make(text, name, running); };
  asked_.emplace(AskedTasks::Parts{parts.tasks, config_.metadata, parts.servers, make_one, std::move(mine),
                                   &parts.watchdog, config_.live.budget});
}

void RequestLink::open_mailbox() {
  try {
    mailbox_ = std::make_unique<Mailbox>(request_mailbox, config_.opening.directory, false);
  } catch (const Error& error) {
    log::warning("nobody can ask this run for analyses: {}", error.what());
  }
}

RequestChannel RequestLink::channel() {
  RequestChannel channel;
  channel.requests = [this] { return requests_in(mailbox_.get()); };
  channel.answer = [this](const std::string& id, const std::string& sentence) {
    if (mailbox_) mailbox_->answer(id, sentence, false);
  };
  channel.record = [this](const std::vector<std::pair<std::string, std::string>>& running) {
    if (mailbox_) mailbox_->record(description(running));
  };
  return channel;
}

/// Makes a variable of an expression. Later uses of the same expression find it.
void RequestLink::derive(const Node& expression) {
  if (config_.metadata.variables.size() >= most_variables_) {
    fail_at(expression.where,
            "found the expression {}, and {} other ones were asked for in this run, expected at most as many; use one "
            "of them, or give it a name under 'derived:' before the next run",
            expression.description(), AskedTasks::most_new);
  }
  const Parameters none;
  derive_in_place(expression, ExpressionContext{none, Stage::start}, config_.metadata);
}

AskedTasks::Made RequestLink::make(const std::string& text, const std::string& name,
                                   const std::vector<TaskConfig>& running) {
  const OwnEnvironment environment;
  AskedTask asked =
      read_asked_task(text, name, running, config_, registry_, [this](const Node& node) { derive(node); });
  std::unique_ptr<Task> task =
      registry_.analyses().at(asked.config.kind).create(asked.config.settings, config_.metadata);
  return {std::move(asked.config), std::move(task), asked.once};
}

/// Describes, in one line of JSON, the analyses that can be requested.
std::string RequestLink::description(const std::vector<std::pair<std::string, std::string>>& running) const {
  std::vector<JsonObject> variables, meshes, asked;
  for (const Variable& one : config_.metadata.variables) {
    if (one.role != Role::none || config_.metadata.mesh_of(one).made) continue;
    JsonObject& about = variables.emplace_back();
    about.add("name", one.name).add("mesh", config_.metadata.mesh_of(one).name).add("components", one.components);
    about.add("centering", name_of(one.centering)).add("unit", one.unit);
  }
  for (const Mesh& mesh : config_.metadata.meshes) {
    if (mesh.made) continue;
    JsonObject& about = meshes.emplace_back();
    about.add("name", mesh.name).add("type", mesh.geometry ? mesh.geometry->kind() : "none");
    about.add("dimensions", mesh.dimensions);
  }
  for (const auto& [name, text] : running) asked.emplace_back().add("name", name).add("analysis", text);
  JsonObject all;
  all.add("variables", variables).add("meshes", meshes).add("analyses", kinds_to_ask_for(registry_));
  all.add("running", asked);
  return all.text() + "\n";
}

RequestLink::~RequestLink() {
  try {
    asked_->close();
  } catch (const std::exception& error) {
    log::warning("requests stay without an answer: {}", error.what());
  }
}

}  // namespace sidestream
