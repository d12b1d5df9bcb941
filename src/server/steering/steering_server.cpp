#include "server/steering/steering_server.hpp"

#include <fmt/format.h>
#include <cstring>

#include "config/sections.hpp"
#include "sidestream/error.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

/// Number of longest notices that fit in a client's ring (shared memory) while the client does not read.
constexpr std::size_t most_told = 3;
static_assert(most_steered * sizeof(SteeredChange) <= longest_notice);

/// Seconds between two looks. Reading a directory of a parallel file system costs more than a short iteration.
constexpr double seconds_between_reads = 0.1;

}  // namespace

SteeringServer::SteeringServer(const std::vector<SteeredParameter>& parameters, int ahead,
                               std::optional<SteeringChannel> channel)
    : parameters_(parameters), ahead_(ahead), channel_(std::move(channel)) {
  for (const SteeredParameter& parameter : parameters_) values_.push_back(parameter.initial);
  if (channel_) channel_->record(values_);
}

void SteeringServer::set(std::size_t parameter, const SteeredParameter::Value& value) {
  if (!channel_) return;
  for (Change& change : waiting_) {
    if (change.parameter == parameter && change.id.empty()) {
      change.bits = bits_of(value);
      return;
    }
  }
  waiting_.push_back({parameter, bits_of(value), {}});
}

/// True if fewer than most_told of the last `ahead_` iterations, including this one, sent a notice. Clients have read
/// earlier notices.
bool SteeringServer::may_tell(std::int64_t index) const noexcept {
  return accepted_at_.size() < most_told || accepted_at_[accepted_at_.size() - most_told] <= index - ahead_;
}

void SteeringServer::take_requests() {
  for (const SteeringRequest& request : channel_->requests()) {
    try {
      const std::size_t parameter = find_steered(parameters_, request.name);
      const SteeredParameter::Value value = parse_steered(parameters_[parameter], request.value);
      waiting_.push_back({parameter, bits_of(value), request.id});
    } catch (const Error& error) {
      channel_->answer(request.id, fmt::format("refused: {}", error.what()));
    }
  }
}

void SteeringServer::contribute(std::span<std::uint64_t> words, std::int64_t index, double seconds) {
  if (!channel_) return;
  if (polled_ < 0 || seconds - polled_ >= seconds_between_reads) {
    polled_ = seconds;
    take_requests();
  }
  if (!may_tell(index)) return;
  for (Change& change : waiting_) {
    const std::uint64_t bit = std::uint64_t{1} << change.parameter;
    change.offered = (words[0] & bit) == 0;  // only the first of several changes of one parameter; the others come
                                             // later
    if (!change.offered) continue;
    words[0] |= bit;
    words[1 + change.parameter] = change.bits;
  }
}

/// Decides on the offered changes, on the first server.
void SteeringServer::settle(std::int64_t effective) {
  for (const Change& change : waiting_) {
    if (!change.offered) continue;
    values_[change.parameter] = value_of(parameters_[change.parameter], change.bits);
    if (change.id.empty()) continue;
    answers_.emplace_back(
        change.id, fmt::format("accepted: '{}' is {} from the end of iteration {} on",
                               parameters_[change.parameter].name, text_of(values_[change.parameter]), effective));
  }
  std::erase_if(waiting_, [](const Change& change) { return change.offered; });
  channel_->record(values_);
}

std::optional<Notice> SteeringServer::take_up(std::span<const std::uint64_t> words, std::int64_t index) {
  if (words[0] == 0) return std::nullopt;
  std::vector<SteeredChange> changes;
  for (std::size_t n = 0; n < parameters_.size(); ++n) {
    if ((words[0] >> n) & 1) changes.push_back({static_cast<std::int32_t>(n), 0, words[1 + n]});
  }
  Notice notice{index + ahead_, steering_notice, {}};
  notice.payload.resize(changes.size() * sizeof(SteeredChange));
  std::memcpy(notice.payload.data(), changes.data(), notice.payload.size());
  accepted_at_.push_back(index);
  if (accepted_at_.size() > most_told) accepted_at_.pop_front();
  if (channel_) settle(notice.iteration);
  return notice;
}

void SteeringServer::confirm() {
  for (const auto& [id, sentence] : std::exchange(answers_, {})) channel_->answer(id, sentence);
}

void SteeringServer::close() {
  if (!channel_) return;
  take_requests();
  for (const Change& change : waiting_) {
    if (!change.id.empty()) channel_->answer(change.id, "refused: the run is ending; no iteration comes any more");
  }
  waiting_.clear();
}

void SteeringCalls::add(std::string_view name, const SteeredParameter::Value& value) {
  static const std::vector<SteeredParameter> none;
  const std::vector<SteeredParameter>& parameters = sink_ ? sink_->parameters : none;
  try {
    const std::size_t parameter = find_steered(parameters, name);
    check_steered(parameters[parameter], value);
    calls_.emplace_back(parameter, value);
  } catch (const Error& error) {
    fail(Code::analysis, "steering: {}", error.what());
  }
}

void SteeringCalls::keep() {
  for (const auto& [parameter, value] : calls_) sink_->take(parameter, value);
}

}  // namespace sidestream
