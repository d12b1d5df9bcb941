#include "sidestream/kit/analysis/deposit_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/mesh/point_values.hpp"

namespace sidestream {

Option assignment_option(const std::string& text) {
  return {.name = "method",
          .type = OptionType::choice,
          .default_value = "cic",
          .text =
              "`ngp`: a particle contributes to the cell that contains it (nearest grid point). `cic`: to the cells "
              "whose centres surround it, weighted by proximity (cloud in cell). `tsc`: to the three nearest cells "
              "along each axis (triangular shaped cloud)." +
              text,
          .choices = {"cic", "ngp", "tsc"}};
}

Assignment read_assignment(const Settings& settings) {
  const std::string& method = settings.text("method");
  return method == "ngp" ? Assignment::nearest : method == "cic" ? Assignment::cloud : Assignment::triangle;
}

std::string name_of(Assignment assignment) {
  return assignment == Assignment::nearest ? "ngp" : assignment == Assignment::cloud ? "cic" : "tsc";
}

GridShape DepositQuery::shape() const {
  std::vector<Index> extents;
  for (int a = dimensions - 1; a >= 0; --a) extents.push_back(size[static_cast<std::size_t>(a)]);
  return GridShape(std::move(extents));
}

double DepositQuery::volume() const {
  double v = 1;
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) v *= width(a);
  return v;
}

std::vector<Option> deposit_grid_options() {
  return {
      {.name = "mesh", .type = OptionType::mesh, .required = true, .text = "The particles: a mesh of type `points`."},
      {.name = "weight",
       .type = OptionType::variable,
       .text = "The weight of particles, a variable on the mesh. Default: each particle counts 1."},
      component_option("The component of `weight`, from 0; required if it has several."),
      grid_size_option(),
      place_option("low", "Lower corner of the grid."),
      place_option("high", "Upper corner of the grid.")};
}

namespace {

void read_corners(const Settings& settings, DepositQuery& query) {
  const auto size = settings.integers<Index>("size");
  const std::vector<double> low = settings.reals("low"), high = settings.reals("high");
  const auto expected = static_cast<std::size_t>(query.dimensions);
  const auto check = [&](const char* option, std::size_t found) {
    if (found == expected) return;
    settings.fail(option,
                  fmt::format("found {} numbers, expected {}, one for each dimension of the mesh", found, expected));
  };
  check("size", size.size());
  check("low", low.size());
  check("high", high.size());
  for (std::size_t a = 0; a < expected; ++a) {
    query.size[a] = size[a];
    query.low[a] = low[a];
    query.high[a] = high[a];
    if (low[a] < high[a] && std::isfinite(high[a] - low[a])) continue;
    settings.fail("high",
                  fmt::format("the grid reaches from {} to {} along {}; expected two finite numbers, the lower one "
                              "first",
                              low[a], high[a], "xyz"[a]));
  }
}

}  // namespace

void read_deposit_grid(const Settings& settings, const Metadata& metadata, DepositQuery& query) {
  const Mesh& mesh = read_particles(settings, metadata);
  query.coordinates = mesh.array(Role::coordinates);
  query.dimensions = mesh.dimensions;
  query.assignment = read_assignment(settings);
  read_corners(settings, query);
  if (!settings.has("weight")) return;
  const Variable& weight = *metadata.find_variable(settings.text("weight"));
  if (weight.mesh != mesh.id) {
    settings.fail("weight", fmt::format("'{}' lies on mesh '{}', not on '{}'; weigh with a variable of the particles",
                                        weight.name, metadata.mesh_of(weight).name, mesh.name));
  }
  query.weight = weight.id;
  query.component = read_one_component(settings, weight);
}

void Depositor::add(const LocalInput& input) {
  for (const BlockView& view : input.of(query_.coordinates)) {
    const BlockView* weight = query_.weight >= 0 ? input.find(query_.weight, view.block.id) : nullptr;
    if (query_.weight >= 0 && weight == nullptr) continue;  // not delivered
    for_each_counted(view, [&](Index i) {
      std::array<double, 3> x{};
      for (int c = 0; c < query_.dimensions; ++c) x[static_cast<std::size_t>(c)] = real_at(view, i, c);
      add(x, weight != nullptr ? real_at(*weight, i, query_.component) : 1.0);
    });
  }
}

void Depositor::add(const std::array<double, 3>& x, double weight) {
  std::array<AxisShares, 3> shares;
  for (std::size_t a = 0; a < static_cast<std::size_t>(query_.dimensions); ++a) {
    const ShareAxis axis{query_.size[a], query_.low[a], query_.high[a], query_.periodic};
    if (shares_along(axis, query_.assignment, x[a], shares[a])) continue;
    ++outside;
    return;
  }
  ++inside;
  weights.add(weight);
  squares.add_product(weight, weight);
  for_each_share(shares, weight, [&](const Index3& cell, double value) {
    terms_.push_back({(cell[2] * query_.size[1] + cell[1]) * query_.size[0] + cell[0], value});
  });
  constexpr std::size_t most = std::size_t{1} << 22;  // 64 MiB
  if (terms_.size() >= most) flush();
}

Bytes Depositor::take() {
  flush();
  return sums_.take();
}

void Depositor::flush() {
  std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.cell < b.cell; });
  for (std::size_t n = 0; n < terms_.size();) {
    ExactSum sum;
    const Index cell = terms_[n].cell;
    for (; n < terms_.size() && terms_[n].cell == cell; ++n) sum.add(terms_[n].value);
    sums_.add(cell, {&sum, 1});
  }
  terms_.clear();
  sums_.add_up();
}

}  // namespace sidestream
