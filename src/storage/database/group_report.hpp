// What a leader of a group tells the first server of a context.
#pragma once

#include <cstdint>
#include <string>

#include "base/retry_while_out_of_memory.hpp"
#include "sidestream/kit/base/records.hpp"
#include "storage/database/layout.hpp"

namespace sidestream::database {

/// What a leader tells the first server.
struct GroupReport {
  std::string failure{};
  GroupEntry entry{};
  std::uint64_t bytes = 0, stored = 0;

  [[nodiscard]] Bytes packed() const {
    Bytes bytes_of_it;
    retry_while_out_of_memory([&] {
      ByteWriter writer;
      writer.put(failure);
      writer.put(entry);
      writer.put(bytes);
      writer.put(stored);
      bytes_of_it = writer.take();
    });
    return bytes_of_it;
  }
  static GroupReport of(const Bytes& bytes) {
    ByteReader reader(bytes);
    GroupReport report;
    reader.get(report.failure);
    reader.get(report.entry);
    reader.get(report.bytes);
    reader.get(report.stored);
    return report;
  }
};

}  // namespace sidestream::database
