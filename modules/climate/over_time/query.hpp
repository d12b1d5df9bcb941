// The options of time_statistics, and the mesh that it makes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "climate/over_time/accumulation.hpp"
#include "climate/over_time/windows.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream::over_time {

/// One array of the result for each variable.
struct Output {
  Statistic statistic = Statistic::mean;
  double quantile = 0;
  std::string name;  ///< behind the variable's: `mean`, `q90`
};

struct Query {
  std::vector<Variable> variables{};
  std::vector<Statistic> statistics{};
  std::vector<double> quantiles{};
  std::string window{};
  bool by_time = false, skip_nan = false, write_partial = false;
  std::optional<std::uint64_t> memory{};  ///< bytes on a server; nothing: no limit
  int states = 2;
  std::string makes{};
  WindowRule rule{};
  std::vector<Output> outputs{};

  [[nodiscard]] Needed needs() const;
  /// The name of an array of the result.
  [[nodiscard]] static std::string array_name(const Variable& variable, const Output& output) {
    return variable.name + "_" + output.name;
  }
  /// Two runs with the same text can go on from each other's states.
  [[nodiscard]] std::string fingerprint() const;
};

[[nodiscard]] std::vector<Option> query_options();
[[nodiscard]] Query read_query(const Settings& settings, const Metadata& metadata);
/// A copy of the variables' mesh, with a variable for each of them and each statistic.
[[nodiscard]] ResultMesh result_mesh(const Settings& settings, const Metadata& metadata);

}  // namespace sidestream::over_time
