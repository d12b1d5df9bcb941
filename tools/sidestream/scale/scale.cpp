// `sidestream simulate-scale`: checks the model of advice against small runs, then draws its curves for large jobs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "commands.hpp"
#include "scale/studies.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream {

namespace {

template <class Asked>
void add_studies(const StatedScale& scale, const ScaleCosts& costs, const std::vector<Asked>& all, Study& made) {
  for (const Asked& asked : all) {
    Study one = study(scale, costs, asked);
    made.report += one.report;
    std::move(one.tables.begin(), one.tables.end(), std::back_inserter(made.tables));
  }
}

Study all_studies(const StatedScale& scale) {
  const ScaleCosts costs(scale, without_oversubscription(measured_runs(scale.records.runs), scale.records.cores));
  Study made;
  add_studies(scale, costs, scale.splits, made);
  add_studies(scale, costs, scale.outputs, made);
  add_studies(scale, costs, scale.endpoints, made);
  return made;
}

}  // namespace

void Curves::add(const std::string& curve, double at, double value) {
  auto found = std::find_if(curves.begin(), curves.end(), [&](const Curve& one) { return one.name == curve; });
  if (found == curves.end()) found = curves.insert(curves.end(), {curve, {}});
  found->points.emplace_back(at, value);
}

std::string Curves::table() const {
  std::string text = "curve,over,at,quantity,unit,value\n";
  for (const Curve& curve : curves) {
    for (const auto& [at, value] : curve.points) {
      text += fmt::format("\"{}\",{},{:.9g},{},{},{:.9g}\n", curve.name, over, at, quantity, unit, value);
    }
  }
  return text;
}

Answer simulate_scale(const ScaleOptions& options) {
  const StatedScale scale = stated_scale(options.file);
  auto [text, right] = check_records(scale);
  if (!right) {
    return {text +
                "no larger jobs are predicted, since the model misses the runs; add runs, or correct the numbers of "
                "the file\n",
            1};
  }
  const Study made = all_studies(scale);
  text += made.report;
  if (!options.tables.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(options.tables, failed);
    for (const Curves& curves : made.tables) {
      const std::string path = (std::filesystem::path(options.tables) / (curves.name + ".csv")).string();
      replace_file(path, curves.table());
    }
    text += fmt::format("written: {} tables in {}\n", made.tables.size(), options.tables);
  }
  return {text, 0};
}

}  // namespace sidestream
