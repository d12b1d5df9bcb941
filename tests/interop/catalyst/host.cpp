// A simulation that knows only Catalyst: it hands nodes to an implementation that it opens by name, as libcatalyst
// does. It links nothing of Sidestream. Usage: see options.hpp.
#include <dlfcn.h>
#include <mpi.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>

#include "options.hpp"
#include "scene.hpp"
#include "stand_in.hpp"

namespace {

using stand_in::Node;

/// The functions of an implementation, as Catalyst 2.0 defines them.
struct Implementation {
  int version;
  int (*initialize)(const void*);
  int (*execute)(const void*);
  int (*finalize)(const void*);
  int (*about)(void*);
  int (*results)(void*);
};

/// Arrays of one iteration, which the nodes refer to. They are gone when `execute` has returned.
struct Arrays {
  std::vector<std::vector<double>> reals;
  std::vector<std::vector<std::int64_t>> integers;
  std::vector<std::vector<int>> flags;

  const std::vector<double>& keep(std::vector<double> values) { return reals.emplace_back(std::move(values)); }
  const std::vector<std::int64_t>& keep(std::vector<std::int64_t> values) {
    return integers.emplace_back(std::move(values));
  }
  Arrays() {
    reals.reserve(100);
    integers.reserve(100);
    flags.reserve(10);
  }
};

void refer(Node& node, const std::vector<double>& values) {
  node.refer(stand_in::float64, values.data(), static_cast<std::int64_t>(values.size()));
}
void refer(Node& node, const std::vector<std::int64_t>& values) {
  node.refer(stand_in::int64, values.data(), static_cast<std::int64_t>(values.size()));
}

Node& add_field(Node& mesh, const std::string& name, const char* association) {
  Node& field = mesh.at("fields/" + name);
  field.at("association").set(std::string(association));
  field.at("topology").set(std::string("topo"));
  return field.at("values");
}

/// The fields in_cells, at_points, and pair with two components in cells.
void add_fields(Node& mesh, const std::vector<double>& cells, const std::vector<double>& points, bool strided,
                Arrays& arrays) {
  mesh.at("fields/in_cells/units").set(std::string("K"));
  std::vector<double> twice;
  for (const double value : cells) twice.push_back(2 * value);
  if (strided) {
    std::vector<double> all;
    for (std::size_t n = 0; n < cells.size(); ++n) all.insert(all.end(), {cells[n], twice[n], -1});
    const auto& kept = arrays.keep(all);
    const auto count = static_cast<std::int64_t>(cells.size());
    add_field(mesh, "in_cells", "element").refer(stand_in::float64, kept.data(), count, 24);
    Node& pair = add_field(mesh, "pair", "element");
    pair.at("u").refer(stand_in::float64, kept.data(), count, 24);
    pair.at("v").refer(stand_in::float64, kept.data() + 1, count, 24);
  } else {
    const auto& kept = arrays.keep(cells);
    refer(add_field(mesh, "in_cells", "element"), kept);
    Node& pair = add_field(mesh, "pair", "element");
    refer(pair.at("u"), kept);
    refer(pair.at("v"), arrays.keep(twice));
  }
  refer(add_field(mesh, "at_points", "vertex"), arrays.keep(points));
}

void add_ghosts(Node& mesh, const scene::Slab& slab, Arrays& arrays) {
  std::vector<int>& flags = arrays.flags.emplace_back();
  const scene::Index3 n = slab.cells();
  for (std::int64_t c = 0; c < n[0] * n[1] * n[2]; ++c) {
    const std::int64_t i = slab.from[0] + c % n[0];
    flags.push_back(i < slab.lo[0] || i >= slab.hi[0] ? 1 : 0);
  }
  add_field(mesh, "ascent_ghosts", "element")
      .refer(stand_in::int32, flags.data(), static_cast<std::int64_t>(flags.size()));
}

void set_uniform(Node& mesh, const scene::Slab& slab) {
  Node& coords = mesh.at("coordsets/coords");
  coords.at("type").set(std::string("uniform"));
  const scene::Index3 n = slab.points();
  for (int a = 0; a < slab.dimensions; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    coords.at(std::string("dims/") + "ijk"[a]).set(n[axis]);
    coords.at(std::string("origin/") + "xyz"[a]).set(slab.node(a, slab.from[axis]));
    coords.at(std::string("spacing/d") + "xyz"[a]).set(slab.spacing[axis]);
  }
  mesh.at("topologies/topo/type").set(std::string("uniform"));
  mesh.at("topologies/topo/coordset").set(std::string("coords"));
}

void set_rectilinear(Node& mesh, const scene::Slab& slab, Arrays& arrays) {
  mesh.at("coordsets/coords/type").set(std::string("rectilinear"));
  for (int a = 0; a < slab.dimensions; ++a) {
    std::vector<double> nodes;
    for (std::int64_t i = slab.from[static_cast<std::size_t>(a)]; i <= slab.to[static_cast<std::size_t>(a)]; ++i)
      nodes.push_back(slab.stretched(a, i));
    refer(mesh.at(std::string("coordsets/coords/values/") + "xyz"[a]), arrays.keep(nodes));
  }
  mesh.at("topologies/topo/type").set(std::string("rectilinear"));
  mesh.at("topologies/topo/coordset").set(std::string("coords"));
}

/// Places of points, interleaved in one array.
void set_places(Node& mesh, const std::vector<double>& places) {
  mesh.at("coordsets/coords/type").set(std::string("explicit"));
  const auto count = static_cast<std::int64_t>(places.size()) / 3;
  for (std::size_t a = 0; a < 3; ++a) {
    mesh.at(std::string("coordsets/coords/values/") + "xyz"[a]).refer(stand_in::float64, places.data() + a, count, 24);
  }
  mesh.at("topologies/topo/coordset").set(std::string("coords"));
}

/// Puts the points of a piece into a larger array, and tells where they lie in it.
std::vector<double> framed(Node& dims, const std::vector<double>& places, const scene::Index3& points, Arrays& arrays) {
  const std::int64_t row = points[0] + 3, plane = row * (points[1] + 2);
  std::vector<double> all(static_cast<std::size_t>(3 * plane * (points[2] + 1)), -1e30);
  auto from = places.begin();
  for (std::int64_t k = 0; k < points[2]; ++k) {
    for (std::int64_t j = 0; j < points[1]; ++j, from += 3 * points[0]) {
      std::copy_n(from, 3 * points[0], all.begin() + 3 * ((k + 1) * plane + (j + 1) * row + 2));
    }
  }
  refer(dims.at("offsets"), arrays.keep(std::vector<std::int64_t>{2, 1, 1}));
  refer(dims.at("strides"), arrays.keep(std::vector<std::int64_t>{1, row, plane}));
  return all;
}

void set_structured(Node& mesh, const scene::Slab& slab, std::vector<double> places, bool strided, Arrays& arrays) {
  if (strided) places = framed(mesh.at("topologies/topo/elements/dims"), places, slab.points(), arrays);
  set_places(mesh, arrays.keep(std::move(places)));
  mesh.at("topologies/topo/type").set(std::string("structured"));
  for (int a = 0; a < slab.dimensions; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    mesh.at(std::string("topologies/topo/elements/dims/") + "ijk"[a]).set(slab.cells()[axis]);
    mesh.at(std::string("topologies/topo/elements/origin/") + "ijk"[a] + "0").set(slab.from[axis]);
  }
}

void set_lists(Node& mesh, const scene::Lists& lists, bool mixed, Arrays& arrays) {
  Node& topo = mesh.at("topologies/topo");
  topo.at("type").set(std::string("unstructured"));
  Node& elements = topo.at("elements");
  elements.at("shape").set(std::string(mixed ? "mixed" : "hex"));
  refer(elements.at("connectivity"), arrays.keep(lists.connectivity));
  if (!mixed) return;
  refer(elements.at("shapes"), arrays.keep(lists.shapes));
  refer(elements.at("sizes"), arrays.keep(lists.sizes));
  refer(elements.at("offsets"), arrays.keep(lists.offsets));
  elements.at("shape_map/hex").set(std::int64_t{12});
  elements.at("shape_map/wedge").set(std::int64_t{13});
  elements.at("shape_map/polyhedral").set(std::int64_t{42});
  Node& faces = topo.at("subelements");
  faces.at("shape").set(std::string("polygonal"));
  refer(faces.at("connectivity"), arrays.keep(lists.face_connectivity));
  refer(faces.at("sizes"), arrays.keep(lists.face_sizes));
  refer(faces.at("offsets"), arrays.keep(lists.face_offsets));
}

void set_list_mesh(Node& mesh, const Options& options, const scene::Slab& slab, double time, Arrays& arrays) {
  const bool mixed = options.mesh == "mixed", points = options.mesh == "points";
  const scene::Lists lists = scene::lists_of(slab, mixed, time);
  set_places(mesh, arrays.keep(lists.places));
  if (points) {
    mesh.at("topologies/topo/type").set(std::string("points"));
    refer(add_field(mesh, "at_points", "vertex"), arrays.keep(lists.point_values));
    return;
  }
  set_lists(mesh, lists, mixed, arrays);
  add_fields(mesh, lists.cell_values, lists.point_values, options.strided, arrays);
}

void set_box_mesh(Node& mesh, const Options& options, const scene::Slab& slab, double time, Arrays& arrays) {
  if (options.mesh == "uniform" || options.mesh == "amr") set_uniform(mesh, slab);
  if (options.mesh == "rectilinear") set_rectilinear(mesh, slab, arrays);
  if (options.mesh == "structured") {
    set_structured(mesh, slab, scene::lists_of(slab, false, time).places, options.strided, arrays);
  }
  add_fields(mesh, scene::values_on(slab, false, time), scene::values_on(slab, true, time), options.strided, arrays);
  if (options.ghosts) add_ghosts(mesh, slab, arrays);
}

void set_channel(Node& channel, const Options& options, int rank, int ranks, double time, Arrays& arrays) {
  Node& data = channel.at("data");
  data.id = stand_in::object;
  if (options.mesh == "amr") {
    channel.at("type").set(std::string("amrmesh"));
    std::int64_t level = 0;
    for (const scene::Slab& patch : scene::patches_of(rank, ranks)) {
      const std::int64_t id = level * ranks + rank;
      Node& mesh = data.at("domain_" + std::to_string(id));
      set_box_mesh(mesh, options, patch, time, arrays);
      mesh.at("state/level").set(level++);
      mesh.at("state/domain_id").set(id);
    }
    return;
  }
  channel.at("type").set(std::string("mesh"));
  const int dimensions = options.mesh == "uniform-1" ? 1 : options.mesh == "uniform-2" ? 2 : 3;
  Options plain = options;
  if (dimensions < 3) plain.mesh = "uniform";
  const scene::Slab slab = scene::slab_of(rank, ranks, dimensions, options.ghosts);
  if (slab.cells()[0] == 0) return;
  const bool boxes = plain.mesh == "uniform" || plain.mesh == "rectilinear" || plain.mesh == "structured";
  boxes ? set_box_mesh(data, plain, slab, time, arrays) : set_list_mesh(data, plain, slab, time, arrays);
}

/// A field in all cells of a mesh that only some iterations may read; others would crash.
void add_trap(Node& mesh, const Options& options, int step) {
  const Node* const like = mesh.find("fields/in_cells/values");
  if (like == nullptr) return;  // a rank without cells
  const auto bytes = static_cast<std::size_t>(like->count) * sizeof(double);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory for a trap");
  std::fill_n(static_cast<double*>(memory), like->count, step);
  if (step >= 8 && (options.trap == 0 || step % options.trap != 0)) ::mprotect(memory, bytes, PROT_NONE);
  add_field(mesh, "trap", "element").refer(stand_in::float64, memory, like->count);
}

/// Integers that lie far beyond those of a node.
void move_beyond(Node& node) {
  std::vector<std::int64_t> far;
  for (std::int64_t n = 0; n < node.count; ++n) {
    far.push_back(*reinterpret_cast<const std::int64_t*>(node.values + n * node.stride) + 1'000'000);
  }
  node.set_list(stand_in::int64, far.data(), node.count);
}

void apply(const Edit& edit, Node& root) {
  const std::size_t colon = edit.action.find(':');
  if (colon != std::string::npos) {  // made if it is not there
    Node& made = root.at(edit.path);
    const std::string value = edit.action.substr(colon + 1);
    made.children.clear();
    edit.action.compare(0, colon, "number") == 0 ? made.set(std::int64_t{std::stoll(value)}) : made.set(value);
    return;
  }
  Node* const node = root.find(edit.path);
  if (node == nullptr) throw std::invalid_argument("no node " + edit.path);
  if (edit.action == "remove") {
    const std::size_t slash = edit.path.rfind('/');
    root.find(edit.path.substr(0, slash))->remove(edit.path.substr(slash + 1));
  } else if (edit.action == "text") {
    node->set(std::string("nonsense"));
  } else if (edit.action == "nan") {
    node->set(std::numeric_limits<double>::quiet_NaN());
  } else if (edit.action == "half") {
    node->set(2.5);
  } else if (edit.action == "negative") {
    node->set(std::int64_t{-7});
  } else if (edit.action == "large") {
    node->set(std::int64_t{1} << 60);
  } else if (edit.action == "short") {
    node->count /= 2;
  } else if (edit.action == "foreign") {
    node->foreign_order = true;
  } else if (edit.action == "beyond") {
    move_beyond(*node);
  } else if (edit.action == "empty") {
    node->children.clear();
    node->id = stand_in::empty;
    node->count = 0;
  } else if (edit.action == "object") {
    node->children.clear();
    node->id = stand_in::object;
  } else if (edit.action == "numbers") {
    node->children.clear();
    node->set(1.0);
  } else {
    throw std::invalid_argument("unknown edit " + edit.action);
  }
}

void print_results(const Implementation& implementation, int rank) {
  Node node;
  node.id = stand_in::object;
  implementation.results(&node);
  const Node* const gain = node.find("catalyst/steerable/fields/gain/values");
  if (rank == 0 && gain != nullptr) std::printf("gain %g\n", *reinterpret_cast<const double*>(gain->values));
}

void execute(const Implementation& implementation, const Options& options, int rank, int ranks, int step) {
  Arrays arrays;
  Node root;
  Node& catalyst = root.at("catalyst");
  const double time = 0.5 * step;
  catalyst.at("state/timestep").set(std::int64_t{10} * step);
  catalyst.at("state/time").set(time);
  if ((!options.other_rank || rank + 1 < ranks || ranks == 1) && step >= options.begin) {
    Node& channel = catalyst.at("channels/" + options.channel);
    set_channel(channel, options, rank, ranks, time, arrays);
    if (options.trap >= 0) add_trap(channel.at("data"), options, step);
    if (options.twins) refer(add_field(channel.at("data"), "in cells", "element"), arrays.reals.front());
  }
  if (options.late && step > 0) set_channel(catalyst.at("channels/late"), options, rank, ranks, time, arrays);
  if (step == options.edit_step && rank == options.edit_rank) {
    for (const Edit& edit : options.edits) apply(edit, root);
  }
  int status = 0;
  const auto call = [&] { status = implementation.execute(&root); };
  options.threads ? std::thread(call).join() : call();  // as Catalyst 2.1 may do
  if (status != 0) std::printf("execute %d on rank %d: status %d\n", step, rank, status);
}

int run(const Options& options) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  void* const library = dlopen(options.plugin.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const auto* const implementation = static_cast<const Implementation*>(dlsym(library, "catalyst_api_impl"));
  if (implementation == nullptr || implementation->version != 1) throw std::runtime_error("no implementation");
  Node parameters;
  parameters.at("catalyst/scripts/script0").set(options.configuration);
  parameters.at("catalyst/mpi_comm").set(std::int64_t{MPI_Comm_c2f(MPI_COMM_WORLD)});
  if (options.edit_step < 0) {
    for (const Edit& edit : options.edits) apply(edit, parameters);
  }
  if (implementation->initialize(&parameters) != 0) return 1;
  for (int step = 0; step < options.steps; ++step) {
    execute(*implementation, options, rank, ranks, step);
    if (options.results) print_results(*implementation, rank);
  }
  Node none;
  if (options.leave) return 0;
  const int status = implementation->finalize(&none);
  if (options.results) {  // calls that come too late
    print_results(*implementation, rank);
    execute(*implementation, options, rank, ranks, options.steps);
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  int code = 1;
  try {
    const Options options = options_of(argc, argv);
    int level = 0;
    MPI_Init_thread(&argc, &argv, options.serialized ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE, &level);
    code = run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "host: %s\n", error.what());
    std::_Exit(2);
  }
  MPI_Finalize();
  return code;
}
