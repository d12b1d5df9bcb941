// An analysis in a shared library of its own: finds the largest (or smallest) value of a variable and its position.
//
// In a configuration:
//   plugins: [./libextremum.so]
//   analyses:
//     - extremum: {variable: temperature, of: maximum, file: hottest.csv}
//
// The result is exact: the same bytes for every placement and number of servers. Comparisons round nothing. Of equal
// values, the one with the lowest global index in the order k, j, i is taken.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <sidestream/extend/plugin.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace sidestream;

/// A value and its position, sent between servers. Trivially copyable.
struct Candidate {
  double value = 0;
  std::array<Index, 3> kji{};  // in the order of comparison
  std::int64_t found = 0;      // 0: this server had no value to compare
};
static_assert(std::is_trivially_copyable_v<Candidate>);

class Extremum final : public Task {
 public:
  Extremum(const Variable& variable, bool maximum, std::string file)
      : variable_(variable.id), sign_(maximum ? 1 : -1), file_(std::move(file)) {}

  Selection selection() const override { return {{{variable_}}}; }

  Bytes local(const LocalInput& input) override {
    Candidate best;
    for (const BlockView& block : input.of(variable_)) {
      // `owned` excludes ghosts and shared nodes that count as a neighbour's.
      for (const Box& box : block.owned) search(block, box, best);
    }
    Bytes bytes(sizeof best);
    std::memcpy(bytes.data(), &best, sizeof best);
    return bytes;
  }

  Bytes combine(const CombineInput& input) override {
    Candidate best;
    for (const Bytes& partial : input.partials) take(partial, best);
    const auto mine = std::as_bytes(std::span(&best, 1));
    for (const Bytes& candidate : input.communicator.gather(mine, 0)) take(candidate, best);
    if (input.communicator.rank() == 0) input.results.add(file_, table(input.metadata, best));
    return {};
  }

 private:
  void search(const BlockView& block, const Box& box, Candidate& best) const {
    std::vector<double> values(static_cast<std::size_t>(box.count()));
    copy_to_double(block.array, 0, box, values.data(), box);
    const double* value = values.data();
    for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
      for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
        for (Index i = box.lo[0]; i < box.hi[0]; ++i) consider({*value++, {k, j, i}, 1}, best);
      }
    }
  }

  void consider(const Candidate& candidate, Candidate& best) const {
    if (candidate.found == 0 || std::isnan(candidate.value)) return;
    const double difference = sign_ * (candidate.value - best.value);
    if (best.found == 0 || difference > 0 || (candidate.value == best.value && candidate.kji < best.kji))
      best = candidate;
  }

  void take(const Bytes& bytes, Candidate& best) const {
    Candidate candidate;
    if (bytes.size() != sizeof candidate) return;
    std::memcpy(&candidate, bytes.data(), sizeof candidate);
    consider(candidate, best);
  }

  Table table(const Metadata& metadata, const Candidate& best) const {
    const Variable& variable = metadata.variables.at(variable_);
    const Axes& axes = *metadata.mesh_of(variable).geometry->axes();
    Table table{{"value", "i", "j", "k", "x", "y", "z"}, {}};
    if (best.found == 0) return table;  // only NaN, or no block: no row
    const Index3 at{best.kji[2], best.kji[1], best.kji[0]};
    std::vector<Table::Cell> row{best.value, at[0], at[1], at[2]};
    for (int a = 0; a < 3; ++a) row.emplace_back(axes.position(variable.centering, a, at[a]));
    table.add_row(row);
    return table;
  }

  std::int32_t variable_;
  double sign_;
  std::string file_;
};

std::unique_ptr<Task> create(const Settings& settings, const Metadata& metadata) {
  const Variable& variable = *metadata.find_variable(settings.text("variable"));
  if (metadata.mesh_of(variable).geometry->axes() == nullptr) {
    settings.fail("variable",
                  "'" + variable.name + "' is on a mesh of kind '" + metadata.mesh_of(variable).geometry->kind() +
                      "', whose points have no position along axes; name one on a uniform or rectilinear mesh");
  }
  if (variable.components != 1) {
    settings.fail("variable", "'" + variable.name + "' has several components, which have no largest; name a scalar");
  }
  return std::make_unique<Extremum>(variable, settings.text("of") == "maximum", settings.text("file"));
}

}  // namespace

SIDESTREAM_PLUGIN(registry) {
  registry.add(AnalysisKind{
      .name = "extremum",
      .text = "Writes where the largest or smallest value of a variable is.",
      .options = {{.name = "variable", .type = OptionType::variable, .required = true, .text = "A scalar variable."},
                  {.name = "of",
                   .type = OptionType::choice,
                   .default_value = "maximum",
                   .text = "Which end to look for.",
                   .choices = {"maximum", "minimum"}},
                  {.name = "file", .type = OptionType::file, .default_value = "extremum.csv", .text = "The table."}},
      .create = create});
}
