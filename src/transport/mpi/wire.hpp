// Non-blocking sends and receives of memory of any size.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sidestream::mpi {

/// Packets announce values, which follow in the packets' order. Pushed values answer no request.
enum Tag : int { packet_tag = 1, value_tag = 2, pushed_tag = 3, pushed_persistent_tag = 4 };

/// Longer values are sent in several messages, since MPI counts are ints.
inline constexpr std::uint64_t longest_message = 1ull << 30;

/// Posts sends or receives of `bytes` bytes; the memory must stay valid until the requests are complete.
void post_send(MPI_Comm comm, int peer, int tag, const std::byte* data, std::uint64_t bytes,
               std::vector<MPI_Request>& requests);
void post_receive(MPI_Comm comm, int peer, int tag, std::byte* data, std::uint64_t bytes,
                  std::vector<MPI_Request>& requests);
/// True if all requests are complete; removes the complete ones.
[[nodiscard]] bool test_all(std::vector<MPI_Request>& requests);

/// Lets MPI make progress on messages of `comm`.
void progress(MPI_Comm comm);

/// Makes pauses of this thread more exact than the kernel's default timer slack allows.
void sleep_exactly() noexcept;

}  // namespace sidestream::mpi
