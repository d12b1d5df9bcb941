// Names, axes and attributes of the CF conventions.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sidestream/data/mesh.hpp"
#include "sidestream/kit/storage/hdf5/file.hpp"

namespace sidestream {

using Attributes = std::vector<Attribute>;

/// Sets an attribute, and replaces an earlier one of that name.
void set_attribute(Attributes& all, const std::string& name, std::variant<std::int64_t, double, std::string> value);
/// Writes attributes in netCDF's form. Omits empty texts.
void put(hdf5::Object& object, const Attributes& attributes);

/// Converts to a name of letters, digits and underscores that begins with a letter.
[[nodiscard]] std::string cf_name(const std::string& name);

/// The attributes of positions along an axis of a mesh.
[[nodiscard]] Attributes about_axis(const Mesh& mesh, int axis);

/// Positions along one axis of a uniform or rectilinear mesh.
struct CfAxis {
  std::string name;  ///< name of the array and of its dimension
  std::vector<double> positions{};
  std::vector<double> bounds{};  ///< two for each position; empty at nodes
  Attributes attributes{};
};
/// Positions of nodes or cells with the indices of `box`.
[[nodiscard]] CfAxis cf_axis(const std::string& name, const Mesh& mesh, int axis, bool nodes, const Box& box);

/// The name of the dimension of components.
[[nodiscard]] std::string component_dimension(std::int32_t components);

}  // namespace sidestream
