// Helpers to look into data sets on grids.
#pragma once

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "sidestream/data/result.hpp"

namespace sidestream::testing {

/// The array of that name.
inline const DataSet::Array& array_of(const DataSet& data, const std::string& name) {
  const auto found = std::ranges::find(data.arrays, name, &DataSet::Array::name);
  if (found == data.arrays.end()) throw std::runtime_error("there is no array " + name);
  return *found;
}

/// The values of the array of that name, which are reals.
inline std::vector<double> reals_of(const DataSet& data, const std::string& name) {
  const DataSet::Array& array = array_of(data, name);
  std::vector<double> values(array.values.size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), array.values.data(), array.values.size());
  return values;
}

/// True if both have the same arrays with the same bytes, and the same attributes.
inline bool same_bits(const DataSet& a, const DataSet& b) {
  const auto same = [](const DataSet::Array& x, const DataSet::Array& y) {
    return x.name == y.name && x.extents == y.extents && x.axes == y.axes && x.values == y.values;
  };
  const auto equal = [](const DataSet::Attribute& x, const DataSet::Attribute& y) {
    return x.name == y.name && x.value == y.value;
  };
  return std::ranges::equal(a.arrays, b.arrays, same) && std::ranges::equal(a.attributes, b.attributes, equal);
}

}  // namespace sidestream::testing
