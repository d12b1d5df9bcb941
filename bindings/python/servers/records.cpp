// Declarations and blocks as dicts.
#include <vector>

#include "array_view.hpp"
#include "runtime.hpp"

namespace sidestream::python {

namespace {

class Dict {
 public:
  Dict() : dict_(PyDict_New()) {}
  void set(const char* name, Ref value) {
    if (PyDict_SetItemString(dict_.get(), name, value.get()) != 0) fail_with_exception();
  }
  void set(const char* name, std::int64_t value) { set(name, Ref(PyLong_FromLongLong(value))); }
  void set(const char* name, const std::string& value) { set(name, text_of(value)); }
  void set(const char* name, std::string_view value) { set(name, text_of(std::string(value))); }
  [[nodiscard]] Ref take() { return std::move(dict_); }

 private:
  Ref dict_;
};

template <class Items, class Make>
Ref list_of(const Items& items, Make make) {
  Ref list(PyList_New(0));
  for (const auto& item : items) {
    const Ref made = make(item);
    if (PyList_Append(list.get(), made.get()) != 0) fail_with_exception();
  }
  return list;
}

Ref triple(const Index3& index) {
  return Ref(Py_BuildValue("(LLL)", static_cast<long long>(index[0]), static_cast<long long>(index[1]),
                           static_cast<long long>(index[2])));
}

Ref box_of(const Box& box) {
  const Ref lo = triple(box.lo), hi = triple(box.hi);
  return Ref(PyTuple_Pack(2, lo.get(), hi.get()));
}

Ref boxes_of(const std::vector<Box>& boxes) { return list_of(boxes, box_of); }

/// Positions of the nodes of level 0, by axis, as lists of numbers; None where a mesh has no axes.
Ref nodes_of(const Mesh& mesh) {
  const Axes* const axes = mesh.axes();
  if (!axes) return Ref::to(Py_None);
  std::vector<int> numbers;
  for (int axis = 0; axis < mesh.dimensions; ++axis) numbers.push_back(axis);
  return list_of(numbers, [&](int axis) {
    const auto a = static_cast<std::size_t>(axis);
    Ref nodes(PyList_New(0));
    for (Index n = mesh.cells.lo[a]; n <= mesh.cells.hi[a]; ++n) {
      const Ref node(PyFloat_FromDouble(axes->node(axis, n)));
      if (PyList_Append(nodes.get(), node.get()) != 0) fail_with_exception();
    }
    return nodes;
  });
}

Ref numbers_of(const std::array<double, 3>& values) {
  return Ref(Py_BuildValue("(ddd)", values[0], values[1], values[2]));
}

/// The counts, origin and spacing of an octree's root cells along x, y and z; otherwise None.
Ref roots_of(const Mesh& mesh) {
  const auto* const tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get());
  if (!tree) return Ref::to(Py_None);
  const Ref roots = triple(tree->roots()), origin = numbers_of(tree->origin()), spacing = numbers_of(tree->spacing());
  return Ref(PyTuple_Pack(3, roots.get(), origin.get(), spacing.get()));
}

Ref mesh_of(const Mesh& mesh) {
  Dict dict;
  dict.set("name", mesh.name);
  dict.set("kind", mesh.geometry ? mesh.geometry->kind() : std::string("none"));
  dict.set("dimensions", mesh.dimensions);
  dict.set("axes", mesh.index_dimensions());
  dict.set("is_list", Ref(PyBool_FromLong(mesh.is_list())));
  dict.set("cells", box_of(mesh.cells));
  dict.set("nodes", nodes_of(mesh));
  dict.set("refinement", list_of(mesh.refinement, triple));
  dict.set("roots", roots_of(mesh));
  return dict.take();
}

Ref variable_of(const Variable& variable, const Metadata& metadata) {
  const Mesh& mesh = metadata.mesh_of(variable);
  Dict dict;
  dict.set("name", variable.name);
  dict.set("mesh", mesh.name);
  dict.set("type", name_of(variable.type));
  dict.set("centering", name_of(variable.centering, mesh.dimensions));
  dict.set("components", variable.components);
  dict.set("order", std::string(variable.order == Order::column ? "column" : "row"));
  dict.set("unit", variable.unit);
  dict.set("label", variable.title());
  dict.set("role", name_of(variable.role));
  dict.set("points", box_of(mesh.points(variable.centering)));
  return dict.take();
}

Ref record_of(const Variable& variable, const Mesh& mesh, const BlockView& view) {
  PyObject* const type = runtime().lent_type;
  const int axes = mesh.index_dimensions();
  Dict dict;
  dict.set("variable", variable.name);
  dict.set("block", view.block.id);
  dict.set("level", view.block.level);
  dict.set("client", view.block.client);
  dict.set("cells", box_of(view.block.cells));
  dict.set("points", box_of(view.points));
  dict.set("box", box_of(view.array.box));
  dict.set("counted", boxes_of(view.counted()));
  dict.set("values", lend(type, view.array, axes, variable.order, &view));
  const bool flagged = view.ghosts.data != nullptr;
  dict.set("flags_box", box_of(view.ghosts.box));
  dict.set("flags", flagged ? lend(type, view.ghosts, axes, variable.order, nullptr) : Ref::to(Py_None));
  return dict.take();
}

/// Adds the blocks of one variable. Further copies of blocks, which count elsewhere, are left out.
void add_records(PyObject* list, const LocalInput& input, std::int32_t id) {
  const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(id));
  const Mesh& mesh = input.metadata.mesh_of(variable);
  for (const BlockView& view : input.of(id)) {
    if (view.copy) continue;
    const Ref record = record_of(variable, mesh, view);
    if (PyList_Append(list, record.get()) != 0) fail_with_exception();
  }
}

}  // namespace

Ref declarations_of(const Metadata& metadata) {
  const Ref meshes = list_of(metadata.meshes, mesh_of);
  const Ref variables =
      list_of(metadata.variables, [&](const Variable& variable) { return variable_of(variable, metadata); });
  return Ref(PyTuple_Pack(2, meshes.get(), variables.get()));
}

Ref records_of(const LocalInput& input, const Selection& selection) {
  Ref list(PyList_New(0));
  std::vector<bool> taken(input.metadata.variables.size(), false);
  const auto add = [&](std::int32_t id) {
    if (id < 0 || taken[static_cast<std::size_t>(id)]) return;
    taken[static_cast<std::size_t>(id)] = true;
    add_records(list.get(), input, id);
  };
  for (const Selected& one : selection.variables) {
    add(one.variable);
    const auto& variable = input.metadata.variables.at(static_cast<std::size_t>(one.variable));
    for (const std::int32_t array : input.metadata.mesh_of(variable).arrays) add(array);
  }
  return list;
}

Ref iteration_of(const Iteration& iteration) {
  return Ref(Py_BuildValue("(LLd)", static_cast<long long>(iteration.index), static_cast<long long>(iteration.cycle),
                           iteration.time));
}

}  // namespace sidestream::python
