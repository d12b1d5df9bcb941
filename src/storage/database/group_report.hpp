// The report of the leader of a group to the first server of a context.
#pragma once

#include <cstdint>
#include <string>

#include "base/fields.hpp"
#include "base/waiting.hpp"
#include "storage/database/layout.hpp"

namespace sidestream::database {

/// A report about one context.
struct GroupReport {
  std::string failure{};
  GroupEntry entry{};
  std::uint64_t bytes = 0, stored = 0;

  [[nodiscard]] Bytes packed() const;
  static GroupReport of(const Bytes& bytes);
};

}  // namespace sidestream::database

namespace sidestream {
template <>
inline constexpr std::size_t field_count<database::GroupReport> = 4;
}  // namespace sidestream

namespace sidestream::database {

inline Bytes GroupReport::packed() const {
  Bytes packed;
  retry_while_out_of_memory([&] { packed = packed_fields(*this); });
  return packed;
}

inline GroupReport GroupReport::of(const Bytes& bytes) { return unpacked_fields<GroupReport>(ByteReader(bytes)); }

}  // namespace sidestream::database
