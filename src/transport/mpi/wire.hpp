// Sending and receiving memory of any size without waiting.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sidestream::mpi {

/// Packets say what values follow; values follow in the packet's order. Pushed values answer no request.
enum Tag : int { packet_tag = 1, value_tag = 2, pushed_tag = 3, pushed_persistent_tag = 4 };

/// Values longer than this travel in several messages: MPI counts are ints.
inline constexpr std::uint64_t longest_message = 1ull << 30;

/// Posts sends or receives of `bytes` bytes; the memory must stay until the requests are complete.
void post_send(MPI_Comm comm, int peer, int tag, const std::byte* data, std::uint64_t bytes,
               std::vector<MPI_Request>& requests);
void post_receive(MPI_Comm comm, int peer, int tag, std::byte* data, std::uint64_t bytes,
                  std::vector<MPI_Request>& requests);
/// Whether all are complete; drops the complete ones.
[[nodiscard]] bool test_all(std::vector<MPI_Request>& requests);

/// Gives MPI a chance to move messages of `comm`.
void progress(MPI_Comm comm);

/// From now on pauses of this thread are more exact than the kernel makes them unasked.
void sleep_exactly() noexcept;

}  // namespace sidestream::mpi
