// The options of the output `bp`. Every build declares them; builds without ADIOS2 report that they lack it.
#pragma once

#include <string>

#include "sidestream/extend/registry.hpp"
#include "sidestream/kit/storage/writers/common_options.hpp"

namespace sidestream {

struct BpQuery {
  NamedVariables named{};
  std::string file{};
  OptionPairs parameters{};
};

[[nodiscard]] OptionTable<BpQuery> bp_options();

/// The kind of writer, whose tasks `create` makes.
[[nodiscard]] WriterKind bp_kind(decltype(WriterKind::create) create);

/// The writer `bp`. In builds without ADIOS2 its tasks only say so.
[[nodiscard]] WriterKind bp_writer();

}  // namespace sidestream
