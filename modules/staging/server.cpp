// A stream's reader. Rank 0 talks to the writers through files (ReaderCoordinator); each result reaches all members.
//
// 1. connect: rank 0 waits for the stream and becomes its reader; all get the declarations and the engine of values.
// 2. receive: rank 0 looks for news. A new step is broadcast, decoded and checked by all, and its blocks are divided
//    evenly. An unusable step is refused with the reason, and the stream continues.
// 3. fetch: each rank reads the pieces that it needs, through the engine.
// 4. release: when no member reads any more, rank 0 answers the step.
// If the writers gave this group up in the meantime, it connects again, and repeats an answer that they missed.
// Collective: connect, receive, release. Failures of one member are thrown on all.
#include "staging/server.hpp"

#include <algorithm>
#include <limits>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/base/wait_notes.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "staging/folder.hpp"
#include "staging/step_builder.hpp"

namespace sidestream::staging {

namespace {

constexpr std::chrono::microseconds shortest_pause{100};

template <class T>
int place_of(const std::vector<T>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const T& one) {
    if constexpr (std::is_same_v<T, std::string>) {
      return one == name;
    } else {
      return one.name == name;
    }
  });
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

}  // namespace

Server::Server(const StreamConfig& config, Communicator& readers, double patience, std::function<bool()> stop)
    : StreamReader({1, false}),
      config_(config),
      readers_(readers),
      stop_(std::move(stop)),
      folder_(config.path()),
      pool_(std::numeric_limits<std::uint64_t>::max()) {
  skipped_.ended = 1;
  skipped_.end.refused = 1;
  if (readers_.rank() == 0) coordinator_ = std::make_unique<ReaderCoordinator>(folder_);
  static_cast<void>(connect(patience));
}

/// Waits on rank 0 until this group is the stream's reader. Returns `nothing`, or the reason why a group that was its
/// reader before will not become it again.
ReaderCoordinator::News Server::attach(double patience) {
  const double began = now();
  const bool again = session_ != 0;
  OpeningWatch opening(folder_);
  WaitNote note(true, fmt::format("the stream '{}'", folder_.path()), patience);
  bool ended = false;
  for (Backoff backoff(shortest_pause, std::chrono::milliseconds(100));; backoff.pause()) {
    const bool found = coordinator_->find();
    if (again && (!found || coordinator_->stream().session != session_)) {
      return found || coordinator_->has_closed() ? ReaderCoordinator::News::ended
                                                 : ReaderCoordinator::News::writer_died;
    }
    if (found && coordinator_->take()) return ReaderCoordinator::News::nothing;
    if (ended && !found) {
      fail(Code::system,
           "the simulation that was to open the stream '{}' has ended before it started to write; its own output "
           "says why",
           folder_.path());
    }
    ended = opening.has_ended();  // the stream is then there already, or never will be
    note.check();
    if (stop_ && stop_()) {
      if (again) return ReaderCoordinator::News::ended;
      fail(Code::system, "was told to leave while it waited for the stream '{}'", folder_.path());
    }
    if (now() - began >= patience) fail_waiting(found, patience);
  }
}

void Server::fail_waiting(bool found, double patience) const {
  if (found) {
    fail(Code::file,
         "another endpoint reads the stream '{}' and did not leave within {:.0f} s; end it, or wait longer (--wait)",
         folder_.path(), patience);
  }
  const bool was_there = coordinator_->stream().session != 0;
  fail(Code::file,
       "{} the stream '{}' for {:.0f} s; check 'stream' and 'groups' under 'placement', which are the simulation's, or "
       "start that, or wait longer (--wait)",
       was_there ? "the simulation ended while another endpoint read, and no other has opened"
                 : "no simulation has opened",
       folder_.path(), patience);
}

/// Makes this group the reader of the stream, with the next epoch. Returns the answer of `attach` on all members.
ReaderCoordinator::News Server::connect(double patience) {
  std::string engine;
  Bytes file;
  auto news = static_cast<std::int64_t>(ReaderCoordinator::News::nothing);
  run_collectively(readers_, [&] {
    if (!coordinator_) return;
    news = static_cast<std::int64_t>(attach(patience));
    if (news != static_cast<std::int64_t>(ReaderCoordinator::News::nothing)) return;
    engine = coordinator_->stream().engine;
    file = encode_announced(coordinator_->announced(), coordinator_->stream().session);
  });
  readers_.maximum(std::span(&news, 1));
  if (news != static_cast<std::int64_t>(ReaderCoordinator::News::nothing))
    return static_cast<ReaderCoordinator::News>(news);
  readers_.broadcast(file, 0);
  share_text(readers_, engine);
  run_collectively(readers_, [&] { join(engine, file); });
  std::int64_t epoch = coordinator_ ? coordinator_->epoch() : 0;
  readers_.maximum(std::span(&epoch, 1));
  bulk_->connect(epoch);
  return ReaderCoordinator::News::nothing;
}

void Server::join(const std::string& engine, BytesView announced) {
  announced_ = decode_announced(announced, "the declarations of the stream");
  session_ = record_of<FileHeader>(announced.first(sizeof(FileHeader))).session;
  const auto engines = bulk_engines();
  const auto found = engines.find(engine);
  if (found == engines.end()) {
    fail(Code::configuration,
         "the stream '{}' uses the engine '{}', which this build of Sidestream does not have; write 'engine: files' "
         "under 'stream', or build with ADIOS2",
         folder_.path(), engine);
  }
  bulk_ = found->second.reader({folder_, readers_, config_.parameters, config_.reader_limit});
}

void Server::translate(const Metadata& there, const Metadata& here, const std::vector<std::string>& events) {
  there_ = there;
  here_ = &here;
  for (const Mesh& mesh : there.meshes) meshes_.push_back(place_of(here.meshes, mesh.name));
  for (const Variable& variable : there.variables) variables_.push_back(place_of(here.variables, variable.name));
  for (const std::string& event : announced_.events) events_.push_back(place_of(events, event));
}

/// Looks for news on rank 0, and returns the result on all members.
ReaderCoordinator::News Server::await_news(std::chrono::microseconds limit) {
  std::array<std::int64_t, 2> words{0, 0};
  run_collectively(readers_, [&] {
    if (!coordinator_) return;
    const double began = now();
    for (Backoff backoff(shortest_pause, std::chrono::milliseconds(10));; backoff.pause()) {
      words[0] = static_cast<std::int64_t>(coordinator_->poll(missed_answer_ ? current_ - 1 : current_));
      if (words[0] != 0 || now() - began > std::chrono::duration<double>(limit).count()) return;
    }
  });
  words[1] = stop_ && stop_();
  readers_.maximum(words);
  return words[1] ? ReaderCoordinator::News::ended : static_cast<ReaderCoordinator::News>(words[0]);
}

bool Server::receive(std::chrono::microseconds limit) {
  if (limit.count() == 0 || held_ || ended_) return false;
  ReaderCoordinator::News news = ReaderCoordinator::News::nothing;
  bool any = false;
  jointly(readers_, [&] {
    news = await_news(limit);
    any = act_on(news);
  });
  if (taken_ && repeats_answer_) {
    repeat_answer();
  } else if (taken_) {
    take();
  }
  return any;
}

bool Server::act_on(ReaderCoordinator::News news) {
  if (news == ReaderCoordinator::News::replaced) {
    if (coordinator_)
      log::warning("the simulation gave this endpoint up (it was silent for too long); attaching again");
    news = connect(config_.reader_limit);
    if (news == ReaderCoordinator::News::nothing) return true;
  }
  switch (news) {
    case ReaderCoordinator::News::nothing:
      if (!bulk_->ready()) bulk_->prepare();
      return false;
    case ReaderCoordinator::News::step: {
      if (!bulk_->ready()) {
        // The step was offered to the reader before us; our writers are not connected yet.
        pause_for(std::chrono::milliseconds(5));
        bulk_->prepare();
        return false;
      }
      Bytes file = coordinator_ ? coordinator_->step() : Bytes{};
      readers_.broadcast(file, 0);
      std::int64_t number = coordinator_ ? coordinator_->step_number() : -1;
      readers_.maximum(std::span(&number, 1));
      file_ = std::move(file);
      repeats_answer_ = number == current_;
      if (!repeats_answer_) missed_answer_.reset();
      current_ = number;
      taken_ = true;
      return true;
    }
    case ReaderCoordinator::News::writer_died:
      writer_died_ = true;
      if (coordinator_) log::error("the simulation that writes the stream '{}' has died", folder_.path());
      break;
    case ReaderCoordinator::News::ended:
    case ReaderCoordinator::News::replaced:  // handled above
      break;
  }
  ended_ = true;
  return true;
}

/// Takes a step. An unusable step is refused with the reason, and the stream continues.
void Server::take() {
  const Bytes file = std::move(file_);
  const std::int64_t number = current_;
  taken_ = false;
  held_ = true;
  inbox_ = {};
  inbox_.ended = 1;
  records_.clear();
  try {
    jointly(readers_, [&] {
      step_ = decode_step(file, folder_.path("step"));
      if (step_.session != session_ || step_.iteration.index != number) {
        fail(Code::file, "a step of another session or iteration lies in '{}'", folder_.path());
      }
      check_step(step_, there_, folder_.path("step"));
      readers_.barrier();  // all members can use it
      bulk_->begin(step_);
      fill_inbox();
    });
  } catch (const Error& e) {
    inbox_.blocks.clear();
    inbox_.end.refused = 1;
    retry_while_out_of_memory([&] { post_failure(e.what()); });
  }
}

/// Repeats the answer to a step that is done already, since the writers did not receive it. The engine begins the step
/// again, so that it can release it.
void Server::repeat_answer() {
  const Bytes file = std::move(file_);
  taken_ = repeats_answer_ = false;
  records_.clear();
  try {
    jointly(readers_, [&] {
      step_ = decode_step(file, folder_.path("step"));
      readers_.barrier();
      bulk_->begin(step_);
    });
  } catch (const Error& e) {
    if (coordinator_) log::warning("iteration {}: {}", current_, e.what());
  }
  jointly(readers_, [&] {
    readers_.barrier();
    bulk_->end();
    if (coordinator_ && coordinator_->answer(current_, missed_answer_->outcome, missed_answer_->message))
      missed_answer_.reset();
  });
}

BlockRecord Server::describe(const StepRecord& record) const {
  BlockRecord described;
  described.block = step_.blocks[static_cast<std::size_t>(record.block)];
  described.block.mesh = meshes_[static_cast<std::size_t>(described.block.mesh)];
  described.variable = variables_[static_cast<std::size_t>(record.variable)];
  described.components = record.components;
  described.type = record.type;
  described.order = Order::column;
  described.box = record.points;
  described.bytes = record.bytes;
  described.centering = here_->variables[static_cast<std::size_t>(described.variable)].centering;
  described.role = here_->variables[static_cast<std::size_t>(described.variable)].role;
  return described;
}

/// Adds the events on the first server, which shares them with the others. Barriers have been passed before.
void Server::take_events() {
  for (const Event& event : step_.raised) {
    const auto there = std::find(announced_.events.begin(), announced_.events.end(), event.name);
    const int here =
        there == announced_.events.end() ? -1 : events_[static_cast<std::size_t>(there - announced_.events.begin())];
    if (here < 0) continue;
    const EventScope scope = event.scope == EventScope::all ? EventScope::all : EventScope::server;
    const std::uint32_t barrier = event.client < 0 ? 2 : 0;
    inbox_.signals.push_back(
        {{here, event.client, scope, -1, event.type, barrier, event.raised, inbox_.signals.size(), event.values.size()},
         event.values});
    inbox_.end.events |= std::uint64_t{1} << here;
  }
}

/// Fills in the head of the iteration, and the records of this rank's share of the blocks.
void Server::fill_inbox() {
  inbox_.end.iteration = step_.iteration;
  for (std::size_t bit = 0; bit < events_.size(); ++bit) {
    if ((step_.events >> bit & 1) && events_[bit] >= 0) inbox_.end.events |= std::uint64_t{1} << events_[bit];
  }
  if (readers_.rank() == 0) take_events();
  const auto size = static_cast<std::size_t>(readers_.size()), rank = static_cast<std::size_t>(readers_.rank());
  const std::size_t first = step_.blocks.size() * rank / size, last = step_.blocks.size() * (rank + 1) / size;
  std::vector<Block> mine(step_.blocks.begin() + static_cast<std::ptrdiff_t>(first),
                          step_.blocks.begin() + static_cast<std::ptrdiff_t>(last));
  for (Block& block : mine) block.mesh = meshes_[static_cast<std::size_t>(block.mesh)];
  change_blocks(std::move(mine));
  for (const StepRecord& record : step_.records) {
    const BlockRecord described = describe(record);
    records_[{described.variable, described.block.id}] = &record;
    const auto place = static_cast<std::size_t>(record.block);
    if (place >= first && place < last) inbox_.blocks.push_back({described, nullptr});
  }
}

/// Records the changes since the previous iteration's blocks.
void Server::change_blocks(std::vector<Block> mine) {
  if (mine == tables_.blocks) return;
  // A block that moved to another client is removed from its old client.
  std::map<std::tuple<std::int32_t, std::int64_t, std::int32_t>, const Block*> before;
  for (const Block& block : tables_.blocks) before[{block.mesh, block.id, block.client}] = &block;
  for (const Block& block : mine) {
    const auto known = before.extract({block.mesh, block.id, block.client});
    if (!known || !(*known.mapped() == block)) tables_.changes.push_back({block, 0, 0});
  }
  for (const auto& [key, block] : before) tables_.changes.push_back({*block, 1, 0});
  tables_.blocks = std::move(mine);
}

ServerState Server::state(std::int64_t index) {
  return {index == current_ ? inbox_ : skipped_,         tables_, static_cast<int>(index <= current_),
          static_cast<int>(index > current_ && !ended_), false,   false};
}

void Server::finish(const std::string& trouble) {
  if (!trouble.empty()) post_failure(trouble);
}

std::byte* Server::memory(std::uint64_t bytes) {
  std::byte* region = pool_.take(std::max<std::uint64_t>(bytes, 1));
  regions_.push_back(region);
  return region;
}

void Server::read(std::span<const Piece> pieces) {
  if (!pieces.empty()) bulk_->read(pieces);
}

std::vector<const std::byte*> Server::fetch(std::int64_t index, std::span<const Wanted> wanted, bool) {
  std::vector<const std::byte*> values(wanted.size(), nullptr);
  std::vector<Piece> pieces;
  std::vector<std::byte*> to(wanted.size(), nullptr);
  for (std::size_t n = 0; n < wanted.size() && index == current_; ++n) {
    const auto found = records_.find({wanted[n].variable, wanted[n].block.id});
    if (found == records_.end()) continue;
    const StepRecord& record = *found->second;
    if (!record.points.contains(wanted[n].points)) continue;
    to[n] = memory(packed_bytes(wanted[n].points, record.components, record.type));
    values[n] = to[n];
    pieces.push_back({&record, wanted[n].points, to[n]});
  }
  read(pieces);
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    if (to[n]) turn(wanted[n], to[n]);
  }
  return values;
}

/// Reorders values of a variable in row order, since streams carry column order.
void Server::turn(const Wanted& wanted, std::byte* values) {
  const Variable& variable = here_->variables[static_cast<std::size_t>(wanted.variable)];
  if (variable.order == Order::column) return;
  const std::uint64_t bytes = packed_bytes(wanted.points, variable.components, variable.type);
  turned_.assign(values, values + bytes);
  const ArrayView column{turned_.data(),      variable.type,
                         MemorySpace::host,   wanted.points,
                         variable.components, packed_strides(wanted.points, variable.components, Order::column)};
  pack(column, wanted.points, Order::row, {values, bytes});
}

void Server::release(std::int64_t index, Outcome outcome) {
  if (outcome == Outcome::pending) return;  // the writers' memory is free when the step is answered
  if (!held_ || index != current_) return;  // the stream did not carry this iteration
  held_ = false;
  for (std::byte* region : std::exchange(regions_, {})) pool_.give_back(region);
  jointly(readers_, [&] {
    readers_.barrier();  // no member reads any more
    bulk_->end();
    MissedAnswer answer{outcome, std::exchange(failure_, {})};
    if (!coordinator_ || coordinator_->answer(index, outcome, answer.message)) return;
    log::warning("iteration {}: the simulation no longer waited for it when this endpoint was done with it", index);
    missed_answer_ = std::move(answer);
  });
}

void Server::post_failure(const std::string& message) {
  if (!failure_.empty()) failure_ += "; ";
  failure_ += message;
}

}  // namespace sidestream::staging
