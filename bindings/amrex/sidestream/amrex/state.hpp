// The variables that a class Amr of the framework AMReX writes to plotfiles, as something to publish. C++17.
#pragma once

#include <AMReX_MultiFab.H>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sidestream/amrex/fields.hpp"

namespace sidestream {

/// The derived variables of `amr.derive_plot_vars`, computed as for a plotfile; nothing if there are none. Collective
/// over the simulating ranks, since codes communicate while they derive.
template <class Hierarchy>
void amrex_add_derived(Hierarchy& amr, std::vector<AmrexFields>& fields) {
  ::amrex::Vector<std::string> names;
  std::vector<std::pair<std::string, int>> derived;
  for (const auto& record : amr.getLevel(0).get_derive_lst().dlist()) {
    if (!Hierarchy::isDerivePlotVar(record.name())) continue;
    derived.emplace_back(record.name(), static_cast<int>(names.size()));
    for (int n = 0; n < record.numDerive(); ++n) names.push_back(record.variableName(n));
  }
  if (derived.empty()) return;
  auto made = std::make_shared<std::vector<::amrex::MultiFab>>();
  std::vector<const ::amrex::MultiFab*> arrays;
  made->reserve(static_cast<std::size_t>(amr.finestLevel()) + 1);
  for (int level = 0; level <= amr.finestLevel(); ++level) {
    auto& here = amr.getLevel(level);
    made->emplace_back(here.boxArray(), here.DistributionMap(), static_cast<int>(names.size()), 0, ::amrex::MFInfo(),
                       here.Factory());
    for (const auto& [name, first] : derived) {
      here.derive(name, here.get_state_data(0).curTime(), made->back(), first);
    }
    arrays.push_back(&made->back());
  }
  fields.push_back(AmrexFields(arrays, amrex_components(names), amr.Geom(), amr.refRatio()).keep(std::move(made)));
}

/// The variables that `amr.plot_vars` and `amr.derive_plot_vars` name, on all levels: those that writePlotFile writes,
/// and named variables with other centrings.
template <class Hierarchy>
[[nodiscard]] std::vector<AmrexFields> amrex_plot_variables(Hierarchy& amr) {
  std::vector<AmrexFields> fields;
  const auto& descriptors = amr.getLevel(0).get_desc_lst();
  for (int type = 0; type < descriptors.size(); ++type) {
    std::vector<AmrexComponent> components;
    for (int n = 0; n < descriptors[type].nComp(); ++n) {
      const std::string& name = descriptors[type].name(n);
      if (Hierarchy::isStatePlotVar(name)) components.push_back({name, n});
    }
    if (components.empty()) continue;
    std::vector<const ::amrex::MultiFab*> arrays;
    for (int level = 0; level <= amr.finestLevel(); ++level) arrays.push_back(&amr.getLevel(level).get_new_data(type));
    fields.emplace_back(arrays, std::move(components), amr.Geom(), amr.refRatio());
  }
  amrex_add_derived(amr, fields);
  return fields;
}

}  // namespace sidestream
