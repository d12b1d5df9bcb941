// Stands in for the framework AMReX in tests: the hierarchy of levels of a class Amr. See boxes.hpp.
#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fields.hpp"

namespace amrex {

class StateDescriptor {
 public:
  explicit StateDescriptor(std::vector<std::string> names) : names_(std::move(names)) {}
  int nComp() const { return static_cast<int>(names_.size()); }
  const std::string& name(int n) const { return names_[static_cast<std::size_t>(n)]; }

 private:
  std::vector<std::string> names_;
};

class DescriptorList {
 public:
  int size() const { return static_cast<int>(types.size()); }
  const StateDescriptor& operator[](int n) const { return types[static_cast<std::size_t>(n)]; }
  std::vector<StateDescriptor> types;
};

class DeriveRec {
 public:
  DeriveRec(std::string name, std::vector<std::string> variables)
      : name_(std::move(name)), variables_(std::move(variables)) {}
  const std::string& name() const { return name_; }
  int numDerive() const { return static_cast<int>(variables_.size()); }
  const std::string& variableName(int n) const { return variables_[static_cast<std::size_t>(n)]; }

 private:
  std::string name_;
  std::vector<std::string> variables_;
};

class DeriveList {
 public:
  std::list<DeriveRec>& dlist() { return records; }
  std::list<DeriveRec> records;
};

class StateData {
 public:
  Real curTime() const { return time; }
  Real time = 0;
};

/// One level. A test sets `states`, and how variables are derived.
class AmrLevel {
 public:
  AmrLevel(const BoxArray& boxes, const DistributionMapping& owners) : boxes_(boxes), owners_(owners) {}
  const BoxArray& boxArray() const { return boxes_; }
  const DistributionMapping& DistributionMap() const { return owners_; }
  const FabFactory<FArrayBox>& Factory() const { return factory_; }
  StateData& get_state_data(int /*type*/) { return data; }
  MultiFab& get_new_data(int type) { return states[static_cast<std::size_t>(type)]; }
  static const DescriptorList& get_desc_lst() { return descriptors(); }
  static DeriveList& get_derive_lst() { return derived(); }
  void derive(const std::string& name, Real time, MultiFab& to, int first) { on_derive(name, time, to, first); }

  static DescriptorList& descriptors() {
    static DescriptorList list;
    return list;
  }
  static DeriveList& derived() {
    static DeriveList list;
    return list;
  }
  StateData data;
  std::vector<MultiFab> states;
  std::function<void(const std::string&, Real, MultiFab&, int)> on_derive;

 private:
  BoxArray boxes_;
  DistributionMapping owners_;
  FabFactory<FArrayBox> factory_;
};

class Amr {
 public:
  Amr(const Vector<Geometry>& geometries, const Vector<IntVect>& ratios) : geometries_(geometries), ratios_(ratios) {}
  AmrLevel& getLevel(int level) { return *levels[static_cast<std::size_t>(level)]; }
  int finestLevel() const { return static_cast<int>(levels.size()) - 1; }
  const Vector<Geometry>& Geom() const { return geometries_; }
  const Vector<IntVect>& refRatio() const { return ratios_; }
  int levelSteps(int /*level*/) const { return steps; }
  Real cumTime() const { return time; }
  static bool isStatePlotVar(const std::string& name) { return contains(plot_variables(), name); }
  static bool isDerivePlotVar(const std::string& name) { return contains(derive_plot_variables(), name); }

  static std::vector<std::string>& plot_variables() {
    static std::vector<std::string> names;
    return names;
  }
  static std::vector<std::string>& derive_plot_variables() {
    static std::vector<std::string> names;
    return names;
  }
  std::vector<std::unique_ptr<AmrLevel>> levels;
  int steps = 0;
  Real time = 0;

 private:
  static bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  Vector<Geometry> geometries_;
  Vector<IntVect> ratios_;
};

}  // namespace amrex
