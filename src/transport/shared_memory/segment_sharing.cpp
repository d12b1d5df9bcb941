#include "transport/shared_memory/segment_sharing.hpp"

#include <memory>
#include <string>

#include "base/mpi/agree.hpp"
#include "base/retry_while_out_of_memory.hpp"

namespace sidestream::shared_memory {

Segment share_segment(Communicator& node, bool creator, Segment own, std::uint64_t layout) {
  constexpr std::chrono::seconds limit{60};
  std::unique_ptr<SegmentSender> offer;
  Bytes address;
  run_collectively(node, [&] {
    if (!creator) return;
    offer = std::make_unique<SegmentSender>(own, node.size() - 1);
    const auto text = std::as_bytes(std::span(offer->address()));
    address.assign(text.begin(), text.end());
  });
  std::int64_t root = creator ? node.rank() : -1;
  node.maximum(std::span(&root, 1));
  node.broadcast(address, static_cast<int>(root));
  run_collectively(node, [&] {
    if (creator) return offer->send(limit);
    // Else the creator would wait for this process as long as it may.
    retry_while_out_of_memory([&] {
      own = Segment::attach(std::string(reinterpret_cast<const char*>(address.data()), address.size()), layout, limit);
    });
  });
  return own;
}

}  // namespace sidestream::shared_memory
