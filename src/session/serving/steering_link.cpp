#include "session/serving/steering_link.hpp"

#include <fmt/format.h>

#include <exception>

#include "config/sections.hpp"
#include "sidestream/error.hpp"
#include "sidestream/kit/base/log.hpp"

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
  desk_.emplace(config_.steering, config_.steering_ahead, std::move(mine));
  // Clients of killed servers may have received different values; these servers tell them all.
  for (const auto& [name, text] : before) {
    try {
      const std::size_t parameter = find_steered(config_.steering, name);
      desk_->set(parameter, parse_steered(config_.steering[parameter], text));
    } catch (const Error& error) {
      log::warning("steering: what the servers before these left is not taken over: {}", error.what());
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

/// Opens the mailbox; without it, analyses can steer nevertheless.
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
  if (desk_) return desk_->set(parameter, value);
  try {
    post_from_run(steering_mailbox, config_.opening.directory, posted_++, config_.steering[parameter].name,
                  text_of(value));
  } catch (const Error& error) {
    log::error("steering: '{}' cannot be set: {}", config_.steering[parameter].name, error.what());
  }
}

void SteeringLink::close(bool over) {
  closing_ = true;
  if (desk_) desk_->close();
  if (mailbox_ && over) mailbox_->keep(false);
}

}  // namespace sidestream
