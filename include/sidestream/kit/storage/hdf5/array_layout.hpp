// The shape of a variable's values in HDF5, and attributes that say how they are stored.
#pragma once

#include "sidestream/data/variable.hpp"
#include "sidestream/kit/storage/codecs/stored_form.hpp"
#include "sidestream/kit/storage/hdf5/file.hpp"

namespace sidestream {

/// Extents of a dataset over `box`: the used axes as (k, j, i) or, in row order, (i, j, k), then the components if
/// there are several. `dimensions`: number of axes that the mesh uses.
[[nodiscard]] hdf5::Extents extents_of(const Variable& variable, int dimensions, const Index3& extents);
/// The part of a dataset over `outer` that covers `inner`.
[[nodiscard]] hdf5::Part part_of(const Variable& variable, int dimensions, const Box& inner, const Box& outer);

/// Writes the precision of a variable's values, for its group or its virtual dataset.
void describe_form(hdf5::Object& object, const StoredForm& form);
/// Writes the CF attributes by which readers compute the values of a dataset, if it has a scale.
void describe_scale(hdf5::Object& dataset, const StoredForm& form);

}  // namespace sidestream
