#include "bare.hpp"

#include <cstdio>
#include <cstring>

namespace transfer {

namespace {

using Requests = std::vector<MPI_Request>;

void wait_all(Requests& requests) {
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  requests.clear();
}

/// The client that has block `id`, and the server that gets it.
int client_of(const Case& c, std::int64_t id) {
  int client = 0;
  while (c.of_client(client).last <= id) ++client;
  return client;
}
int server_of(const Case& c, std::int64_t id) {
  int server = 0;
  while (share(c.blocks(), c.servers, server).last <= id) ++server;
  return server;
}

void send_steps(MPI_Comm comm, const Case& c, int client) {
  Arrays arrays(c, client);
  std::vector<std::vector<double>> staging[2];
  Requests requests[2];
  for (auto& slot : staging) {
    for (std::int64_t id = arrays.blocks().first; id < arrays.blocks().last; ++id) slot.emplace_back(c.values(id));
  }
  for (int step = 0; step < all_steps; ++step) {
    arrays.step(step);
    const int slot = step % 2;
    wait_all(requests[slot]);
    for (std::int64_t id = arrays.blocks().first; id < arrays.blocks().last; ++id) {
      auto& copy = staging[slot][static_cast<std::size_t>(id - arrays.blocks().first)];
      std::memcpy(copy.data(), arrays.of(id).data(), copy.size() * sizeof(double));
      const int to = c.clients() + server_of(c, id);
      MPI_Isend(copy.data(), static_cast<int>(copy.size()), MPI_DOUBLE, to, static_cast<int>(id), comm,
                &requests[slot].emplace_back());
    }
  }
  for (Requests& slot : requests) wait_all(slot);
}

/// Seconds per step from the last step of the warm-up to the last of all.
double receive_steps(MPI_Comm comm, const Case& c, int server) {
  const Range blocks = share(c.blocks(), c.servers, server);
  std::vector<std::vector<double>> buffers[2];
  Requests requests[2];
  for (auto& slot : buffers) {
    for (std::int64_t id = blocks.first; id < blocks.last; ++id) slot.emplace_back(c.values(id));
  }
  const auto post = [&](int slot) {
    for (std::int64_t id = blocks.first; id < blocks.last; ++id) {
      auto& buffer = buffers[slot][static_cast<std::size_t>(id - blocks.first)];
      MPI_Irecv(buffer.data(), static_cast<int>(buffer.size()), MPI_DOUBLE, client_of(c, id), static_cast<int>(id),
                comm, &requests[slot].emplace_back());
    }
  };
  post(0);
  post(1);
  double from = 0;
  for (int step = 0; step < all_steps; ++step) {
    wait_all(requests[step % 2]);
    if (step == warm_up - 1) from = MPI_Wtime();
    for (const auto& buffer : buffers[step % 2]) {
      if (buffer[0] == step) continue;
      std::fprintf(stderr, "step %d: a block of step %g came\n", step, buffer[0]);
      MPI_Abort(comm, 1);
    }
    if (step + 2 < all_steps) post(step % 2);
  }
  return (MPI_Wtime() - from) / (all_steps - warm_up);
}

}  // namespace

double bare_stream(MPI_Comm comm, const Case& c) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Barrier(comm);
  double seconds = 0;
  if (rank < c.clients()) {
    send_steps(comm, c, rank);
  } else {
    seconds = receive_steps(comm, c, rank - c.clients());
  }
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

}  // namespace transfer
