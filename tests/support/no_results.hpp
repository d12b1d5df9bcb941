// Results that nobody wants.
#pragma once

#include "sidestream/extend/results.hpp"

namespace sidestream::testing {

class NoResults final : public Results {
 public:
  void add(const std::string&, const Table&) override {}
  void add(const std::string&, const Image&) override {}
  void add(const std::string&, const Surface&) override {}
  void add(const std::string&, const CellSet&) override {}
  void add(const std::string&, const DataSet&) override {}
};

}  // namespace sidestream::testing
