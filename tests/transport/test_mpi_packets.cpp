// Packets between ranks arrive whole and in order, and never block each other.
#include <doctest/doctest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "base/mpi/communicator.hpp"
#include "sidestream/error.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "support/ranks.hpp"
#include "transport/mpi/packet.hpp"

using namespace sidestream;
using namespace std::chrono_literals;
using namespace sidestream::mpi;

namespace {

/// A packet whose contents depend on its number and the sender.
Bytes body_of(int from, std::int64_t number) {
  std::mt19937 random(static_cast<unsigned>(1000 * from + number));
  const std::size_t lengths[] = {0, 1, 40, 5000, 300'000};
  Bytes body(lengths[random() % 5] + random() % 3);
  for (std::byte& b : body) b = static_cast<std::byte>(random());
  return body;
}

/// Waits for a packet. Fails the test after a time that no machine needs.
Packet wait_for_packet(ReceiveQueue& receive_queue) {
  for (const double end = now() + 40; now() < end; pause_for(50us)) {
    if (std::optional<Packet> packet = receive_queue.take()) return std::move(*packet);
  }
  FAIL("no packet came");
  return {};
}

std::string error_of(const Bytes& message) {
  MpiCommunicator self(MPI_COMM_SELF);
  SendQueue send_queue;
  ReceiveQueue receive_queue(self.comm());
  send_queue.send(self.comm(), 0, packet_tag, message);
  try {
    static_cast<void>(wait_for_packet(receive_queue).records<std::int64_t>());
  } catch (const Error& error) {
    while (!send_queue.sweep()) pause_for(10us);
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("packets of all ranks to all ranks come whole and in each sender's order") {
  MpiCommunicator comm(testing::test_ranks());
  constexpr std::int64_t many = 40;
  {
    ReceiveQueue receive_queue(comm.comm());
    SendQueue send_queue;
    for (std::int64_t n = 0; n < many; ++n) {
      for (int to = 0; to < comm.size(); ++to) {
        send_queue.send(comm.comm(), to, packet_tag,
                        write_packet(PacketKind::fetch, n, -n * 3'000'000'000, body_of(comm.rank(), n)));
      }
    }
    std::map<int, std::int64_t> next;
    for (std::int64_t left = many * comm.size(); left > 0; --left) {
      const Packet packet = wait_for_packet(receive_queue);
      const std::int64_t n = next[packet.from]++;
      REQUIRE(packet.header.index == n);
      REQUIRE(packet.header.number == -n * 3'000'000'000);
      REQUIRE(packet.body == body_of(packet.from, n));
    }
    while (!send_queue.sweep()) pause_for(20us);
    comm.barrier();
  }
}

TEST_CASE("a long packet whose sender computes does not hold up the packets of others") {
  MpiCommunicator comm(testing::test_ranks());
  if (comm.size() < 3) return;
  // Ranks tell each other through files what they have done, because the one that computes must not call MPI.
  Bytes name(64);
  std::snprintf(reinterpret_cast<char*>(name.data()), name.size(), "/tmp/sidestream-packets-%d",
                static_cast<int>(getpid()));
  comm.broadcast(name, 0);
  const std::string done(reinterpret_cast<const char*>(name.data()));
  constexpr std::int64_t many = 50;
  const Bytes small(1000, std::byte{7}), large(32 << 20, std::byte{9});
  {
    ReceiveQueue receive_queue(comm.comm());
    SendQueue send_queue;
    if (comm.rank() == 1) {
      send_queue.send(comm.comm(), 0, packet_tag, write_packet(PacketKind::manifest, 0, 0, large));
      MPI_Barrier(comm.comm());
      for (const double end = now() + 40; access(done.c_str(), F_OK) != 0 && now() < end;) pause_for(1ms);
    } else {
      MPI_Barrier(comm.comm());
      if (comm.rank() == 2) {
        for (std::int64_t n = 0; n < many; ++n) {
          send_queue.send(comm.comm(), 0, packet_tag, write_packet(PacketKind::manifest, n, 0, small));
        }
      }
    }
    if (comm.rank() == 0) {
      std::int64_t small_ones = 0;
      bool large_one = false;
      while (small_ones < many) {
        const Packet packet = wait_for_packet(receive_queue);
        large_one |= packet.from == 1;
        if (packet.from == 2) CHECK(packet.header.index == small_ones++);
      }
      std::ofstream(done).put('\n');
      if (!large_one) CHECK(wait_for_packet(receive_queue).body == large);
    }
    while (!send_queue.sweep()) pause_for(20us);
    comm.barrier();
    if (comm.rank() == 0) unlink(done.c_str());
  }
}

TEST_CASE("anything but a packet of this version is refused with a sentence") {
  const Bytes right = write_packet(PacketKind::fetch, 1, 2, Bytes(16));
  CHECK(error_of(right).empty());
  CHECK(error_of(write_packet(PacketKind::fetch, 1, 2, Bytes(15))).find("15 bytes") != std::string::npos);
  CHECK(error_of({}).find("start all ranks with the same library") != std::string::npos);
  CHECK(error_of(Bytes(right.begin(), right.begin() + 8)).find("same library") != std::string::npos);
  for (const std::size_t byte : {0, 9}) {  // a byte of the magic number, one of the layout
    Bytes wrong = right;
    wrong[byte] ^= std::byte{1};
    CHECK(error_of(wrong).find("same library") != std::string::npos);
  }
}
