// Placement `nodes`, a server's part in one iteration.
//
// 1. receive: `poll` takes all packets. Manifests go to the store, answers to whoever asked, requests of others to
//    `source_`.
// 2. fetch: values come by a standing order that covers the wanted pieces, or by requests to their holders. Pushing
//    clients send without a request; then only what they have sent must be received, and other servers fetch from here.
// 3. order: asks the holders to send the same pieces in later iterations, and waits until all have confirmed.
// 4. free_values and release: tell the contacts that values are no longer needed, and the outcome.
// No call is collective. Where memory is short calls are retried, since the other side waits until what it sent is
// received.
#include "transport/mpi/server.hpp"

#include <algorithm>
#include <new>

#include "base/mpi/polite_wait.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "transport/mpi/packet.hpp"

namespace sidestream::mpi {

Server::Server(std::shared_ptr<MpiCommunicator> comm, Options options)
    : ServerTransport({static_cast<int>(options.contacts.size()), false}),
      comm_(std::move(comm)),
      options_(std::move(options)),
      store_(static_cast<int>(options_.contacts.size())),
      readers_(options_.contacts.size()),
      receive_queue_(comm_->comm()),
      source_(comm_, value_store_),
      fetcher_(comm_, options_.shapes),
      standing_(comm_, options_.shapes),
      pushed_(comm_, value_store_) {
  sleep_exactly();
}

void Server::take_manifest(const Packet& packet) {
  const auto& contacts = options_.contacts;
  const auto number =
      static_cast<int>(std::lower_bound(contacts.begin(), contacts.end(), packet.from) - contacts.begin());
  std::vector<MessageLine> lines;
  retry_while_out_of_memory([&] { lines = packet.records<MessageLine>(); });
  Message message;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t count = MessageReader::length(lines[at]);
    if (count > lines.size() - at) {
      fail(Code::system, "rank {} sent a manifest that ends within a message", packet.from);
    }
    retry_while_out_of_memory(
        [&] { readers_[static_cast<std::size_t>(number)].read(std::span(lines).subspan(at, count), message); });
    take_message(packet, number, message);
    at += count;
  }
}

/// Takes a message exactly once, also if memory is short.
void Server::take_message(const Packet& packet, int number, const Message& message) {
  if (message.kind == MessageKind::declare || message.kind == MessageKind::remove) {
    const BlockChange change{message.block.block, message.kind == MessageKind::remove, 0};
    if (pushes()) retry_while_out_of_memory([&] { pushed_.expect_change(packet.header.index, change); });
  }
  bool taken = false;
  retry_while_out_of_memory([&] { taken = store_.take(number, message); });
  if (taken) return;
  if (pushes()) retry_while_out_of_memory([&] { pushed_.expect(packet.from, packet.header.index, message.block); });
  retry_while_out_of_memory([&] { store_.add(number, Arrival{message.block, nullptr}); });
}

void Server::take(Packet& packet) {
  switch (packet.header.kind) {
    case PacketKind::manifest:
      return take_manifest(packet);
    case PacketKind::answer:
      static_cast<void>(fetcher_.take(packet));
      return;
    case PacketKind::standing:
    case PacketKind::order_taken:
    case PacketKind::last_standing:
      return standing_.take(packet);
    case PacketKind::range_answer:
      if (packet.header.number == range_number_) {
        range_answers_[packet.from] = read_ranges(packet.body);
      }
      return;
    default:
      source_.request(packet);
  }
}

bool Server::poll() {
  bool any = false;
  while (std::optional<Packet> packet = receive_queue_.take()) {
    retry_while_out_of_memory([&] { take(*packet); });
    any = true;
  }
  source_.move();
  send_queue_.sweep();
  return any;
}

/// Polls for events that are due within microseconds or that need this rank's MPI calls; yields the core between polls.
template <class Ready>
void Server::poll_until(Ready&& ready) {
  Backoff backoff(std::chrono::microseconds(2), std::chrono::microseconds(60), 100);
  for (;; backoff.pause()) {
    const bool any = poll();
    if (ready()) return;
    if (any) backoff.reset();
  }
}

/// Waits for messages. Polls often while clients publish often, and less often after a long silence.
bool Server::receive(std::chrono::microseconds limit) {
  constexpr std::chrono::microseconds soon{40}, late{200};
  constexpr std::chrono::milliseconds busy{20};
  const auto deadline = Clock::now() + limit;
  for (Backoff backoff(std::chrono::microseconds(5), late);;) {
    const auto time = Clock::now();
    if (poll()) {
      last_arrival_ = time;
      return true;
    }
    if (time >= deadline) return false;
    pause_for(backoff.next(time - last_arrival_ < busy ? soon : late));
  }
}

void Server::receive_pushed(std::int64_t index) {
  if (!pushes()) return;
  pushed_.begin(index);
  poll_until([&] { return pushed_.arrived(index); });
}

/// Retries while memory is short, because an exception here would end this server and memory may be freed elsewhere.
/// Like persist, it gives up after a limit.
void Server::take_out_of_the_way(std::int64_t index) {
  constexpr std::chrono::seconds longest{20};
  const auto deadline = Clock::now() + longest;
  for (;;) {
    try {
      return receive_pushed(index);
    } catch (const Error&) {
      if (Clock::now() > deadline) throw;
    } catch (const std::bad_alloc&) {
      if (Clock::now() > deadline) throw;
    }
    poll();
    pause_for(std::chrono::milliseconds(1));
  }
}

std::vector<int> Server::holders_of(std::span<const Wanted> wanted) const {
  std::vector<int> holders;
  holders.reserve(wanted.size());
  for (const Wanted& piece : wanted)
    holders.push_back(options_.holders.at(static_cast<std::size_t>(piece.block.client)));
  return holders;
}

std::vector<const std::byte*> Server::fetch(std::int64_t index, std::span<const Wanted> wanted, bool again) {
  receive_pushed(index);
  const bool standing = standing_.covers(index, wanted);
  if (standing) {
    poll_until([&] { return standing_.done(index); });
  } else {
    fetcher_.ask(index, wanted, holders_of(wanted), value_store_, send_queue_);
    poll_until([&] { return fetcher_.done(); });
  }
  const int failed = standing ? standing_.failed(index) : fetcher_.failed();
  if (failed >= 0) {
    fail(
        Code::system,
        "rank {} has no memory to send what was asked of it; give it more, use smaller blocks, or a partitioner that does "
        "not split them",
        failed);
  }
  const std::vector<const std::byte*> values = standing ? standing_.values(index) : fetcher_.values();
  if (again) order(index, wanted);
  return values;
}

/// Used only where values are fetched from clients or forwarders, since pushing clients wait for no request. Holders
/// confirm the order before the servers agree on anything else, so that no holder has left when it arrives.
void Server::order(std::int64_t index, std::span<const Wanted> wanted) {
  if (pushes()) return;
  standing_.order(index, wanted, holders_of(wanted), send_queue_);
  poll_until([&] { return standing_.taken(); });
}

/// Receives what holders have sent for refused iterations; otherwise those holders would wait for ever.
void Server::finish(const std::string& trouble) {
  if (!trouble.empty()) return post_failure(trouble);
  poll_until([&] { return standing_.finished() && send_queue_.sweep(); });
}

/// Sends a question, or a note that it is unchanged: the regions of blocks change only when blocks do.
void Server::ask_for_ranges(std::int64_t index, int rank, Bytes question) {
  const auto known = asked_.find(rank);
  const bool same = known != asked_.end() && known->second == question;
  retry_while_out_of_memory([&] {
    send_queue_.send(comm_->comm(), rank, packet_tag,
                     write_packet(PacketKind::ranges, index, range_number_, same ? BytesView{} : BytesView(question)));
  });
  if (!same) retry_while_out_of_memory([&] { asked_[rank] = question; });
}

MeasuredRanges Server::ranges(std::int64_t index, std::span<const RangeRequest> requests,
                              std::span<const RangeRegion> regions) {
  receive_pushed(index);
  if (pushes()) {
    return store_.ranges(index, requests, regions, [&](const BlockRecord& record) {
      const auto found = value_store_.find(index, record.variable, record.block.id);
      return found ? found->data : nullptr;
    });
  }
  std::map<int, std::vector<std::size_t>> places;  // of each rank's regions
  for (const int rank : options_.contacts) places[rank];
  for (std::size_t n = 0; n < regions.size(); ++n) {
    places.at(options_.holders.at(static_cast<std::size_t>(regions[n].client))).push_back(n);
  }
  std::map<int, Bytes> questions;
  for (const auto& [rank, numbers] : places) {
    std::vector<RangeRegion> some;
    for (const std::size_t n : numbers) some.push_back(regions[n]);
    questions[rank] = write_question(requests, some);
  }
  ++range_number_;
  range_answers_.clear();
  // Once requested, an answer arrives and must be awaited.
  for (auto& [rank, question] : questions) ask_for_ranges(index, rank, std::move(question));
  poll_until([&] { return range_answers_.size() == places.size(); });
  MeasuredRanges all;
  all.regions.resize(regions.size());
  for (const auto& [rank, numbers] : places) {
    const MeasuredRanges& some = range_answers_.at(rank);
    all.blocks.insert(all.blocks.end(), some.blocks.begin(), some.blocks.end());
    for (std::size_t n = 0; n < numbers.size(); ++n) all.regions[numbers[n]] = some.regions.at(n);
  }
  return all;
}

void Server::free_values(std::int64_t index) {
  for (const int rank : options_.contacts) {
    retry_while_out_of_memory([&] {
      send_queue_.send(comm_->comm(), rank, packet_tag, write_packet(PacketKind::fetched, index, 0, BytesView{}));
    });
  }
  send_queue_.sweep();
}

void Server::release(std::int64_t index, Outcome outcome) {
  if (outcome == Outcome::pending) return free_values(index);
  fetcher_.release();
  if (pushes()) {
    // Messages of one sender arrive in order, so values that nobody requested must be received before later ones.
    take_out_of_the_way(index);
    // Another server may still receive from here only before it agrees on the end of this fetch, which it has.
    poll_until([&] { return !source_.busy_with(index); });
    pushed_.release(index);
  }
  store_.drop(index);
  for (const int rank : options_.contacts) {
    retry_while_out_of_memory([&] {
      send_queue_.send(comm_->comm(), rank, packet_tag,
                       write_packet(PacketKind::verdict, index, static_cast<std::int64_t>(outcome), BytesView{}));
    });
  }
  send_queue_.sweep();
}

bool Server::notify(const Notice& notice) {
  const Bytes packet = write_packet(PacketKind::notice, notice.iteration, 0, notices_.write_notice(notice));
  for (const int rank : options_.contacts) send_queue_.send(comm_->comm(), rank, packet_tag, packet);
  notices_.sent();
  return true;
}

void Server::post_failure(const std::string& message) {
  const Bytes packet = write_packet(PacketKind::failure, 0, 0, std::as_bytes(std::span(message)));
  for (const int rank : options_.contacts) send_queue_.send(comm_->comm(), rank, packet_tag, packet);
}

}  // namespace sidestream::mpi
