#include "session/serving/request_link.hpp"

#include <exception>
#include <utility>

#include "base/own_environment.hpp"
#include "config/expressions/derived_section.hpp"
#include "config/tasks/tasks.hpp"
#include "session/serving/steering_link.hpp"
#include "sidestream/error.hpp"
#include "sidestream/kit/base/log.hpp"
#include "storage/files/json.hpp"

namespace sidestream {

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

/// Makes a variable of an expression, which the same one finds from then on.
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

/// Describes in one line of JSON which analyses can be asked for.
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
