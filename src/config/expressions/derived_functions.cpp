#include "config/expressions/derived_functions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sidestream {

namespace {

using Kind = DerivationStep::Kind;

std::int32_t of_vectors(Kind kind, const std::vector<std::int32_t>& given, std::string& wrong) {
  if (kind == Kind::magnitude) return 1;
  if (kind == Kind::vector) {
    const auto found = std::find_if(given.begin(), given.end(), [](std::int32_t count) { return count != 1; });
    if (found == given.end()) return static_cast<std::int32_t>(given.size());
    wrong =
        fmt::format("joins something of {} components, expected numbers; take components, as in 'velocity.x'", *found);
    return 0;
  }
  if (given[0] != given[1]) {
    wrong = fmt::format("has vectors of {} and {} components, expected as many; correct one", given[0], given[1]);
    return 0;
  }
  if (kind == Kind::dot) return 1;
  if (given[0] == 3) return 3;
  wrong = fmt::format("has vectors of {} components, expected 3; name others", given[0]);
  return 0;
}

std::int32_t of_neighbours(Kind kind, std::int32_t given, const Mesh& mesh, std::string& wrong) {
  const std::int32_t dimensions = mesh.dimensions;
  if (kind == Kind::gradient) return given * dimensions;
  if (given == dimensions && kind == Kind::curl && dimensions == 2) return 1;
  const bool flow = given == 3 || (given == dimensions && kind != Kind::curl);
  if (flow) return kind == Kind::curl ? 3 : 1;
  wrong = fmt::format("has a variable of {} component{} on the mesh '{}' of {} dimensions, expected {}; name another",
                      given, given == 1 ? "" : "s", mesh.name, dimensions,
                      dimensions == 2   ? "2 or 3"
                      : dimensions == 3 ? "3"
                                        : "3 or 1");
  if (dimensions == 1 && kind == Kind::curl) {
    wrong = fmt::format("has a variable of {} component{} on the mesh '{}' of 1 dimension, expected 3; name another",
                        given, given == 1 ? "" : "s", mesh.name);
  }
  return 0;
}

}  // namespace

const std::vector<DerivedFunction>& derived_functions() {
  static const std::vector<DerivedFunction> all{
      {"vector", 0, Kind::vector}, {"magnitude", 1, Kind::magnitude}, {"dot", 2, Kind::dot},
      {"cross", 2, Kind::cross},   {"gradient", 1, Kind::gradient},   {"divergence", 1, Kind::divergence},
      {"curl", 1, Kind::curl},     {"vorticity", 1, Kind::curl},      {"q_criterion", 1, Kind::spin_or_strain},
  };
  return all;
}

std::int32_t result_components(const DerivedFunction& function, const std::vector<std::int32_t>& given,
                               const Mesh& mesh, std::string& wrong) {
  if (function.kind < Kind::gradient) return of_vectors(function.kind, given, wrong);
  if ((mesh.is_list() && mesh.kind() != MeshKind::unstructured) || mesh.kind() < MeshKind::uniform) {
    wrong = fmt::format(
        "takes neighbours, which points of the mesh '{}', which is {}, do not have; expected a uniform, rectilinear, "
        "curvilinear or unstructured mesh: use a variable on one",
        mesh.name, mesh.geometry ? mesh.geometry->kind() : "not declared");
    return 0;
  }
  return of_neighbours(function.kind, given[0], mesh, wrong);
}

}  // namespace sidestream
