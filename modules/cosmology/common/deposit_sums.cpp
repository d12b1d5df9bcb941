#include "cosmology/common/deposit_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/mesh/point_values.hpp"

namespace sidestream {

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

namespace {

void read_mesh(const Settings& settings, const std::string&, const Metadata& metadata, DepositQuery& query) {
  const Mesh& mesh = read_particles(settings, metadata);
  query.coordinates = mesh.array(Role::coordinates);
  query.dimensions = mesh.dimensions;
}

void check_weight(const Settings& settings, const std::string& name, const Metadata& metadata,
                  const DepositQuery& query) {
  if (!query.weight || metadata.mesh_of(*query.weight).name == query.mesh) return;
  settings.fail(name, fmt::format("'{}' lies on mesh '{}', not on '{}'; weigh with a variable of the particles",
                                  query.weight->name, metadata.mesh_of(*query.weight).name, query.mesh));
}

void check_grid(const OptionTable<DepositQuery>& options, const Settings& settings, const Metadata&,
                DepositQuery& query) {
  const auto expected = static_cast<std::size_t>(query.dimensions);
  const auto check = [&](auto field) {
    if ((query.*field).size() == expected) return;
    options.fail(settings, field,
                 fmt::format("found {} numbers, expected {}, one for each dimension of the mesh", (query.*field).size(),
                             expected));
  };
  check(&DepositQuery::size);
  check(&DepositQuery::low);
  check(&DepositQuery::high);
  for (std::size_t a = 0; a < expected; ++a) {
    const double low = query.low[a], high = query.high[a];
    if (low < high && std::isfinite(high - low)) continue;
    options.fail(settings, &DepositQuery::high,
                 fmt::format("the grid reaches from {} to {} along {}; expected two finite numbers, the lower one "
                             "first",
                             low, high, "xyz"[a]));
  }
  query.size.resize(3, 1);
  query.low.resize(3, 0);
  query.high.resize(3, 1);
}

int read_weight_component(const Settings& settings, const Metadata&, const DepositQuery& query) {
  return query.weight ? read_one_component(settings, *query.weight) : 0;
}

}  // namespace

OptionTable<DepositQuery> deposit_grid_options(const std::string& text) {
  using Query = DepositQuery;
  return OptionTable<Query>{
      option<OptionType::mesh>("mesh", &Query::mesh, "The particles: a mesh of type `points`.", {.required = true})
          .then(read_mesh),
      option("weight", &Query::weight,
             "The weight of particles, a variable on the mesh. Default: each particle counts 1.")
          .then(check_weight),
      options_read_by(read_weight_component,
                      {component_option("The component of `weight`, from 0; required if it has several.")},
                      &Query::component),
      grid_size_option(&Query::size),
      place_option("low", &Query::low, "Lower corner of the grid."),
      place_option("high", &Query::high, "Upper corner of the grid."),
      option("method", &Query::assignment,
             "`ngp`: a particle contributes to the cell that contains it (nearest grid point). `cic`: to the cells "
             "whose centres surround it, weighted by proximity (cloud in cell). `tsc`: to the three nearest cells "
             "along each axis (triangular shaped cloud)." +
                 text,
             {.standard = "cic",
              .choices = {{"cic", Assignment::cloud}, {"ngp", Assignment::nearest}, {"tsc", Assignment::triangle}}})}
      .then(check_grid);
}

void Depositor::add(const LocalInput& input) {
  for (const BlockView& view : input.of(query_.coordinates)) {
    const BlockView* weight = query_.weight ? input.find(query_.weight->id, view.block.id) : nullptr;
    if (query_.weight && weight == nullptr) continue;  // not delivered
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
