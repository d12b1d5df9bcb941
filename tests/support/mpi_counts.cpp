// Functions of MPI that count calls and then call MPI's own. Functions that the library does not use are missing; a
// test looks for them in its source.
#include "support/mpi_counts.hpp"

#include <mpi.h>

#include <mutex>

namespace sidestream::testing {

namespace {

std::mutex mutex;
MpiCounts counts;

template <class Count>
void count(Count&& how) {
  const std::scoped_lock lock(mutex);
  how(counts);
}

std::int64_t bytes_of(int number, MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  return std::int64_t{number} * size;
}

void count_sent(int number, MPI_Datatype type) {
  count([&](MpiCounts& c) { ++c.sent, c.bytes_sent += bytes_of(number, type); });
}

void count_received(int number, MPI_Datatype type) {
  count([&](MpiCounts& c) { ++c.received, c.bytes_received += bytes_of(number, type); });
}

void count_collective(int number, MPI_Datatype type) {
  count([&](MpiCounts& c) { ++c.collectives, c.bytes_reduced += bytes_of(number, type); });
}

void count_fan(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  count([&](MpiCounts& c) { c.fans += size; });
}

void count_made() {
  count([](MpiCounts& c) { ++c.communicators; });
}

}  // namespace

MpiCounts mpi_counts() {
  const std::scoped_lock lock(mutex);
  return counts;
}

}  // namespace sidestream::testing

using namespace sidestream::testing;

extern "C" {

int MPI_Isend(const void* at, int number, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  count_sent(number, type);
  return PMPI_Isend(at, number, type, to, tag, comm, request);
}
int MPI_Issend(const void* at, int number, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  count_sent(number, type);
  return PMPI_Issend(at, number, type, to, tag, comm, request);
}
int MPI_Irecv(void* at, int number, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  count_received(number, type);
  return PMPI_Irecv(at, number, type, from, tag, comm, request);
}
int MPI_Mrecv(void* at, int number, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  count_received(number, type);
  return PMPI_Mrecv(at, number, type, message, status);
}
int MPI_Imrecv(void* at, int number, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  count_received(number, type);
  return PMPI_Imrecv(at, number, type, message, request);
}
int MPI_Iallreduce(const void* from, void* to, int number, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  count_collective(number, type);
  return PMPI_Iallreduce(from, to, number, type, op, comm, request);
}
int MPI_Ibcast(void* at, int number, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  count_collective(number, type);
  return PMPI_Ibcast(at, number, type, root, comm, request);
}
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  count_collective(0, MPI_BYTE);
  return PMPI_Ibarrier(comm, request);
}
int MPI_Igather(const void* from, int number, MPI_Datatype type, void* to, int numbers, MPI_Datatype types, int root,
                MPI_Comm comm, MPI_Request* request) {
  count_fan(comm);
  return PMPI_Igather(from, number, type, to, numbers, types, root, comm, request);
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  count_made();
  return PMPI_Comm_dup(comm, made);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  count_made();
  return PMPI_Comm_split(comm, color, key, made);
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  count_made();
  return PMPI_Comm_split_type(comm, type, key, info, made);
}

}  // extern "C"
