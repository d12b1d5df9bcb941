// The options of the output `bp`, which every build declares, so that it can say that it lacks ADIOS2.
#pragma once

#include <string>

#include "storage/writers/kinds.hpp"

namespace sidestream {

struct BpQuery {
  NamedVariables named{};
  std::string file{};
  OptionPairs parameters{};
};

[[nodiscard]] OptionTable<BpQuery> bp_options();

/// The kind, whose tasks `create` makes.
[[nodiscard]] WriterKind bp_kind(decltype(WriterKind::create) create);

}  // namespace sidestream
