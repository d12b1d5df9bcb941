#include "config/expressions/derivation_points.hpp"

#include <algorithm>

#include "config/expressions/derived_section.hpp"

namespace sidestream {

using Kind = DerivationStep::Kind;

void DerivationPoints::add_variable(const Variable& variable, std::size_t at) {
  const Mesh& mesh = metadata_.mesh_of(variable);
  const bool list = variable.role == Role::connectivity || variable.role == Role::faces;
  if (list) text_.wrong(at, fmt::format("in which '{}' is a list of the mesh and no values on it", variable.name));
  if (like_ == nullptr) {
    like_ = &variable;
    return;
  }
  if (like_->mesh != variable.mesh) {
    text_.wrong(at, fmt::format("in which '{}' lies on the mesh '{}' and '{}' on '{}'; use variables on one mesh",
                                variable.name, mesh.name, like_->name, metadata_.mesh_of(*like_).name));
  }
  if (like_->centering != variable.centering && mesh.kind() != MeshKind::unstructured) {
    text_.wrong(at, fmt::format("in which '{}' has the centering {} and '{}' {}; values at different points are not "
                                "interpolated: use variables of one centering",
                                variable.name, name_of(variable.centering, mesh.dimensions), like_->name,
                                name_of(like_->centering, mesh.dimensions)));
  }
}

void DerivationPoints::add_coordinate(std::int32_t axis, std::size_t at) {
  coordinate_at_ = std::min(coordinate_at_, at);
  axes_ = std::max(axes_, axis);
}

void DerivationPoints::add_deposit(std::size_t at) { deposit_at_ = std::min(deposit_at_, at); }

const Derivation& DerivationPoints::derivation_of(const DerivationStep& step) const {
  return *metadata_.variables.at(static_cast<std::size_t>(step.variable)).derivation;
}

void DerivationPoints::place(std::vector<DerivationStep>& steps) const {
  if (like_ == nullptr) {
    fail_at(text_.where, "found '{}' for {}, which names no variable, so that nothing says where it lies; name one{}",
            text_.text, text_.what,
            deposit_at_ == nowhere ? "" : ", or, of a derived variable with a name, its `mesh`");
  }
  if (deposit_at_ != nowhere) place_deposits(steps);
  const auto is_deposit = [this](const DerivationStep& step) {
    return step.kind == Kind::deposit || (step.kind == Kind::derived && !derivation_of(step).deposits().empty());
  };
  if (on_ && std::none_of(steps.begin(), steps.end(), is_deposit)) {
    text_.wrong(0, "which puts no particles on a mesh; `mesh` is for expressions with cic, ngp or tsc: remove it");
  }
  if (coordinate_at_ != nowhere) check_coordinates(steps);
  check_nodes(steps);
  const std::string problem = place_steps(steps, metadata_, metadata_.mesh_of(*like_));
  if (!problem.empty()) text_.wrong(0, problem);
}

/// Sets the cells of deposits: the cells of the variables.
void DerivationPoints::place_deposits(std::vector<DerivationStep>& steps) const {
  const Mesh& mesh = metadata_.mesh_of(*like_);
  if (mesh.kind() != MeshKind::uniform || !mesh.refinement.empty() || like_->centering != Centering::cell) {
    text_.wrong(deposit_at_,
                fmt::format("which puts particles on '{}', expected the cells of a uniform mesh of one level: "
                            "'{}' lies at {}s of '{}', which is {}{}",
                            mesh.name, like_->name, name_of(like_->centering, mesh.dimensions), mesh.name,
                            mesh.geometry ? mesh.geometry->kind() : "not declared",
                            mesh.refinement.empty() ? "" : " and has refinement levels"));
  }
  for (DerivationStep& step : steps) {
    if (step.kind != Kind::deposit || step.variable >= 0) continue;  // known for a derived variable
    step.variable = like_->derived() ? like_->derivation->inputs().front() : like_->id;
    const Mesh& particles = metadata_.meshes.at(static_cast<std::size_t>(step.deposit.particles));
    if (particles.dimensions == mesh.dimensions) continue;
    text_.wrong(deposit_at_,
                fmt::format("which puts the particles '{}' of {} dimensions on '{}' of {}; expected as many",
                            particles.name, particles.dimensions, mesh.name, mesh.dimensions));
  }
}

/// Checks that positions are known where the steps need them. A rectilinear mesh has coordinates of level 0 only.
void DerivationPoints::check_nodes(const std::vector<DerivationStep>& steps) const {
  const Mesh& mesh = metadata_.mesh_of(*like_);
  if (mesh.kind() != MeshKind::rectilinear || mesh.refinement.empty()) return;
  const bool needed = std::any_of(steps.begin(), steps.end(), [](const DerivationStep& step) {
    return step.kind == Kind::coordinate || (step.is_stencil() && step.kind != Kind::cell_mean);
  });
  if (!needed) return;
  text_.wrong(0, fmt::format("which needs positions on the mesh '{}', which is rectilinear and has refinement levels: "
                             "nothing says where the nodes of finer levels lie; use variables on another mesh",
                             mesh.name));
}

/// Checks that the coordinates of the points are known.
void DerivationPoints::check_coordinates(const std::vector<DerivationStep>& steps) const {
  constexpr const char* axis_names = "xyz";
  const Mesh& mesh = metadata_.mesh_of(*like_);
  const bool derivatives = std::any_of(steps.begin(), steps.end(), [this](const DerivationStep& step) {
    return step.is_stencil() || (step.kind == Kind::derived && derivation_of(step).has_stencils());
  });
  const bool centres = like_->centering == Centering::cell && !derivatives;
  if (axes_ >= mesh.dimensions) {
    text_.wrong(coordinate_at_,
                fmt::format("which takes the coordinate '{}' on the mesh '{}' of {} dimension{}; remove it",
                            axis_names[axes_], mesh.name, mesh.dimensions, mesh.dimensions == 1 ? "" : "s"));
  }
  if (mesh.axes() || mesh.kind() == MeshKind::curvilinear || mesh.kind() == MeshKind::points) return;
  if (mesh.kind() == MeshKind::unstructured && !centres) return;
  text_.wrong(
      coordinate_at_,
      fmt::format("which takes coordinates of the {} of the mesh '{}', which is {}; of unstructured meshes "
                  "only the points' are known: publish them as a variable",
                  centres ? "cells" : "points", mesh.name, mesh.geometry ? mesh.geometry->kind() : "not declared"));
}

}  // namespace sidestream
