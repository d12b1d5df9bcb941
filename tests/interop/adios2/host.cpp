// A simulation that knows only ADIOS2: its XML file selects the engine. It links nothing of Sidestream. The fields are
// those of the test of Catalyst.
#include <adios2.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../catalyst/scene.hpp"

namespace {

struct Options {
  std::string way = "sync", odd;
  int dimensions = 3, steps = 3;
};

/// The puts of a step. Arrays live until the step has ended.
struct Step {
  adios2::IO& io;
  adios2::Engine& engine;
  int rank, ranks, number;
  std::map<std::string, std::vector<double>>& arrays;

  template <class T>
  adios2::Variable<T> variable(const std::string& name, const adios2::Dims& shape, const adios2::Dims& start,
                               const adios2::Dims& count) const {
    adios2::Variable<T> v = io.InquireVariable<T>(name);
    if (!v) v = io.DefineVariable<T>(name, shape, start, count);
    return v;
  }
  /// A box of a global array, whose values are all `value`.
  void box(const std::string& name, const adios2::Dims& shape, const adios2::Dims& start, const adios2::Dims& count,
           double value) const {
    adios2::Variable<double> v = variable<double>(name, shape, start, count);
    if (!shape.empty() && shape[0] != adios2::JoinedDim) {
      v.SetShape(shape);
      v.SetSelection({start, count});
    } else {
      v.SetSelection({{}, count});
    }
    std::size_t values = 1;
    for (const std::size_t n : count) values *= n;
    const std::vector<double> all(values + 1, value);
    engine.Put(v, all.data(), adios2::Mode::Sync);
  }
  /// A row of a global array for each rank.
  void rows(const std::string& name, double value) const {
    const auto r = static_cast<std::size_t>(rank);
    box(name, {static_cast<std::size_t>(ranks), 4}, {r, 0}, {1, 4}, value);
  }
};

adios2::Dims reversed(const scene::Index3& index, int dimensions) {
  adios2::Dims dims;
  for (int a = dimensions; a-- > 0;) dims.push_back(static_cast<std::size_t>(index[static_cast<std::size_t>(a)]));
  return dims;
}

/// Puts an array out of a larger one in memory, with a frame of other values around it.
void put_framed(Step& step, adios2::Variable<double>& v, const std::vector<double>& values, const adios2::Dims& count) {
  adios2::Dims size = count;
  std::size_t all = 1;
  for (std::size_t& n : size) all *= n += 3;
  std::vector<double> framed(all, -1e30);
  for (std::size_t n = 0; n < values.size(); ++n) {
    std::size_t rest = n, at = 0, pitch = 1;
    for (std::size_t a = count.size(); a-- > 0; pitch *= size[a], rest /= count[a]) {
      at += (rest % count[a] + 1) * pitch;
    }
    framed[at] = values[n];
  }
  v.SetMemorySelection({adios2::Dims(count.size(), 1), size});
  step.engine.Put(v, framed.data(), adios2::Mode::Sync);
}

/// Puts an array, in the way that the command line says.
void put(Step& step, const Options& options, const std::string& name, const std::vector<double>& values,
         const scene::Slab& slab, std::size_t components) {
  adios2::Dims shape = reversed(slab.size, slab.dimensions), start = reversed(slab.lo, slab.dimensions);
  adios2::Dims count = reversed(slab.cells(), slab.dimensions);
  if (components > 1) {
    shape.push_back(components);
    start.push_back(0);
    count.push_back(components);
  }
  if (options.way == "column") {  // as a program in Fortran has them
    for (adios2::Dims* dims : {&shape, &start, &count}) std::reverse(dims->begin(), dims->end());
  }
  auto v = step.variable<double>(name, shape, start, count);
  if (options.way == "framed") return put_framed(step, v, values, count);
  if (options.way == "span") {
    if (values.empty()) return;
    auto span = step.engine.Put(v, true, -1.0);
    for (std::size_t n = 0; n < values.size(); ++n) span[n] = values[n];
    return;
  }
  if (options.way == "sync" || options.way == "column") {
    const std::vector<double> gone = values;  // the engine must not read it later
    step.engine.Put(v, gone.data(), adios2::Mode::Sync);
    return;
  }
  std::vector<double>& kept = step.arrays[name] = values;
  step.engine.Put(v, kept.data(), adios2::Mode::Deferred);
  if (options.way == "perform") {
    step.engine.PerformPuts();
    kept.assign(kept.size(), -5);
  }
}

void put_scene(Step& step, const Options& options) {
  const scene::Slab slab = scene::slab_of(step.rank, step.ranks, options.dimensions, false);
  if (slab.cells()[0] == 0) return;
  const double time = 0.5 * step.number;
  const std::vector<double> cells = scene::values_on(slab, false, time);
  std::vector<double> pairs;
  for (const double value : cells) pairs.insert(pairs.end(), {value, 2 * value});
  put(step, options, "in_cells", cells, slab, 1);
  put(step, options, "pair", pairs, slab, 2);
}

using Odd = std::map<std::string, std::function<void(Step&)>>;

/// Puts that are wrong or unusual. Each is done in every step, after the fields.
Odd odd_puts() {
  Odd odd;
  odd["text"] = [](Step& s) { s.engine.Put(s.variable<std::string>("words", {}, {}, {}), std::string("hello")); };
  odd["complex"] = [](Step& s) {
    const std::vector<std::complex<double>> values(3);
    const auto r = static_cast<std::size_t>(s.rank);
    s.engine.Put(s.variable<std::complex<double>>("psi", {3U * static_cast<std::size_t>(s.ranks)}, {3 * r}, {3}),
                 values.data(), adios2::Mode::Sync);
  };
  odd["long-double"] = [](Step& s) {
    const std::vector<long double> values(3);
    s.engine.Put(s.variable<long double>("wide", {}, {}, {3}), values.data(), adios2::Mode::Sync);
  };
  odd["value"] = [](Step& s) { s.engine.Put(s.variable<int>("count", {}, {}, {}), 7); };
  odd["local-value"] = [](Step& s) { s.engine.Put(s.variable<int>("rank", {adios2::LocalValueDim}, {}, {}), s.rank); };
  odd["four-axes"] = [](Step& s) {
    s.box("four", {static_cast<std::size_t>(s.ranks), 2, 2, 2}, {static_cast<std::size_t>(s.rank), 0, 0, 0},
          {1, 2, 2, 2}, 1);
  };
  odd["overlap"] = [](Step& s) { s.box("shared", {4, 4}, {0, 0}, {4, 4}, 1); };
  odd["touch"] = [](Step& s) {
    const auto r = static_cast<std::size_t>(s.rank);
    s.box("touching", {static_cast<std::size_t>(s.ranks) + 1, 2}, {r, 0}, {2, 2}, 1);
  };
  odd["other-type"] = [](Step& s) {
    if (s.rank == 0) return s.rows("kind", 1);
    const std::vector<float> values(4);
    s.engine.Put(s.variable<float>("kind", {static_cast<std::size_t>(s.ranks), 4}, {1, 0}, {1, 4}), values.data(),
                 adios2::Mode::Sync);
  };
  odd["other-shape"] = [](Step& s) { s.box("size", {s.rank == 0 ? 4U : 8U}, {0}, {2}, 1); };
  odd["late"] = [](Step& s) {
    if (s.number > 0) s.rows("late", 1);
  };
  odd["growing"] = [](Step& s) {
    const auto n = static_cast<std::size_t>(s.number);
    if (s.rank == 0) s.box("growing", {4 + n}, {0}, {4 + n}, 1);
  };
  odd["missing"] = [](Step& s) {
    if (s.number != 1) s.rows("sometimes", 1);
  };
  odd["twice"] = [](Step& s) {
    s.rows("again", 1);
    s.rows("again", 2);
  };
  odd["again"] = [](Step& s) {  // a row, then a part of it, then one of that, which is read at the end of the step
    const auto r = static_cast<std::size_t>(s.rank), n = static_cast<std::size_t>(s.ranks);
    s.rows("again", 1);
    auto v = s.variable<double>("again", {n, 4}, {r, 0}, {1, 4});
    v.SetSelection({{r, 0}, {1, 1}});
    static const double four = 4;
    s.engine.Put(v, &four, adios2::Mode::Deferred);
    s.box("again", {n, 4}, {r, 0}, {1, 3}, 5);
  };
  odd["empty"] = [](Step& s) {
    const auto n = s.rank == 0 ? std::size_t{0} : std::size_t{1};
    s.box("empty", {static_cast<std::size_t>(s.ranks), 4}, {static_cast<std::size_t>(s.rank), 0}, {n, 4}, 1);
  };
  odd["characters"] = [](Step& s) { s.rows("/odd name/1-b.c", 1); };
  odd["digits"] = [](Step& s) { s.rows("3d", 1); };
  odd["same-name"] = [](Step& s) {
    s.rows("a/b", 1);
    s.rows("a_b", 2);
  };
  odd["named-as-mesh"] = [](Step& s) { s.rows("grid", 1); };
  odd["local"] = [](Step& s) { s.box("list", {}, {}, {static_cast<std::size_t>(s.rank + s.number + 1)}, s.number); };
  odd["local-two"] = [](Step& s) {
    s.box("list", {}, {}, {2, 3}, 1);
    s.box("list", {}, {}, {1, 3}, 2);
  };
  odd["joined"] = [](Step& s) {
    s.box("joined", {adios2::JoinedDim, 2}, {}, {static_cast<std::size_t>(s.rank + 1), 2}, 1);
  };
  odd["moving"] = [](Step& s) {  // the ranks take turns
    const auto r = static_cast<std::size_t>((s.rank + s.number) % s.ranks);
    s.box("moving", {static_cast<std::size_t>(s.ranks), 4}, {r, 0}, {1, 4}, static_cast<double>(r));
  };
  odd["splitting"] = [](Step& s) {  // a part becomes two
    const auto r = static_cast<std::size_t>(s.rank), n = static_cast<std::size_t>(s.ranks);
    if (s.number == 0) return s.box("split", {n, 4}, {r, 0}, {1, 4}, 1);
    s.box("split", {n, 4}, {r, 0}, {1, 2}, 1);
    s.box("split", {n, 4}, {r, 2}, {1, 2}, 1);
  };
  odd["one-rank"] = [](Step& s) {
    if (s.rank == 0) s.box("one", {3}, {0}, {3}, 1);
  };
  odd["memory"] = [](Step& s) {  // the selection in memory is smaller than the part
    auto v = s.variable<double>("frame", {static_cast<std::size_t>(s.ranks), 4}, {static_cast<std::size_t>(s.rank), 0},
                                {1, 4});
    v.SetMemorySelection({{0, 2}, {1, 5}});
    const std::vector<double> values(8);
    s.engine.Put(v, values.data(), adios2::Mode::Sync);
  };
  odd["fides"] = [](Step& s) {
    const std::vector<double> origin{1, 2, 3}, spacing{1.0 / 3, 0.5, 0.25};
    if (s.number == 0) {
      s.io.DefineAttribute<std::string>("Fides_Data_Model", "uniform");
      s.io.DefineAttribute<double>("Fides_Origin", origin.data(), 3);
      s.io.DefineAttribute<double>("Fides_Spacing", spacing.data(), 3);
      const std::vector<std::string> names{"U", "V"}, places{"cell_set", "points"};
      s.io.DefineAttribute<std::string>("Fides_Variable_List", names.data(), 2);
      s.io.DefineAttribute<std::string>("Fides_Variable_Associations", places.data(), 2);
    }
    s.rows("U", 1);
    s.rows("V", 2);
  };
  odd["vtk"] = [](Step& s) {
    if (s.number == 0) {
      s.io.DefineAttribute<std::string>(
          "vtk.xml",
          "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 4 0 2 0 1\" Origin=\"1 2 3\" Spacing=\"0.5 0.25 1\">"
          "<Piece><PointData><DataArray Name=\"V\"/></PointData><CellData Scalars=\"U\"><DataArray Name=\"U\"/>"
          "<DataArray Name=\"TIME\"> physical </DataArray></CellData></Piece></ImageData></VTKFile>");
    }
    s.engine.Put(s.variable<float>("physical", {}, {}, {}), 0.25F * static_cast<float>(s.number));
    s.rows("U", 1);
    s.rows("V", 2);
  };
  odd["late-rank"] = [](Step& s) {
    if (s.rank > 0 && s.number == 0) std::this_thread::sleep_for(std::chrono::seconds(11));
  };
  odd["int-spacing"] = [](Step& s) {
    if (!s.io.InquireAttribute<int>("E/gridSpacing")) s.io.DefineAttribute<int>("E/gridSpacing", 3);
    s.rows("E/x", 1);
  };
  return odd;
}

/// openPMD's time of an iteration, in variable-based encoding where attributes change; there is no single value then.
template <class T>
void put_openpmd_time(Step& s, const std::string& base, double unit) {
  if (s.number == 0) s.io.DefineAttribute<std::string>("/openPMD", "1.1.0");
  const T time = static_cast<T>(0.1 * (s.number + 1));
  s.io.DefineAttribute<T>(base + "time", &time, 1, "", "/", true);
  if (unit != 0) s.io.DefineAttribute<double>(base + "timeUnitSI", &unit, 1, "", "/", true);
  const double spacing = 0.5;
  s.io.DefineAttribute<double>(base + "fields/rho/gridSpacing", &spacing, 1, "", "/", true);
  if (s.rank == s.ranks - 1) s.box(base + "fields/rho", {4}, {0}, {4}, s.number);
}

/// Attributes and arrays as openPMD defines them: staggered components of a field, and particles.
void put_openpmd(Step& s, double spacing) {
  const std::string base = "/data/" + std::to_string(10 * s.number) + "/";
  const auto r = static_cast<std::size_t>(s.rank), n = static_cast<std::size_t>(s.ranks);
  const auto define = [&](const std::string& name, const std::vector<double>& values) {
    s.io.DefineAttribute<double>(base + name, values.data(), values.size());
  };
  if (s.number == 0) s.io.DefineAttribute<std::string>("/openPMD", "1.1.0");
  define("fields/E/gridSpacing", {spacing, 0.1});
  define("fields/E/gridGlobalOffset", {1.0 / 3, -2});
  define("fields/E/x/position", {0.5, 0.5});
  define("fields/E/y/position", {0, 0.5});
  const std::vector<std::string> labels{"x", "y"};
  s.io.DefineAttribute<std::string>(base + "fields/E/axisLabels", labels.data(), labels.size());
  for (const char* component : {"x", "y"}) s.rows(base + "fields/E/" + component, s.rank + 0.5);
  const std::size_t mine = r + 1, before = r * (r + 1) / 2, all = n * (n + 1) / 2;
  for (const char* record : {"position/x", "position/y", "momentum/x"}) {
    s.box(base + "particles/e/" + record, {all}, {before}, {mine}, static_cast<double>(r + 1));
  }
}

void put_odd(Step& step, const std::string& name) {
  if (name == "openpmd") return put_openpmd(step, 0.25);
  if (name == "openpmd-negative") return put_openpmd(step, -1);
  if (name == "openpmd-nan") return put_openpmd(step, std::nan(""));
  const std::string base = "/data/" + std::to_string(90 + 10 * step.number) + "/";  // 90, 100: not as texts
  if (name == "openpmd-time") return put_openpmd_time<double>(step, base, 1e-15);
  if (name == "openpmd-time-float") return put_openpmd_time<float>(step, base, 0);
  if (name == "openpmd-time-changes") return put_openpmd_time<double>(step, "/data/", 2);
  if (name == "openpmd-time-nan") return put_openpmd_time<double>(step, base, std::nan(""));
  const Odd odd = odd_puts();
  const auto found = odd.find(name);
  if (found == odd.end()) throw std::invalid_argument("unknown --odd " + name);
  found->second(step);
}

void write(adios2::IO io, const std::string& file, const Options& options, int rank, int ranks) {
  adios2::Engine engine = io.Open(file, adios2::Mode::Write);
  std::map<std::string, std::vector<double>> arrays;
  const bool steps = options.way != "no-steps";
  for (int n = 0; n < (steps ? options.steps : 1); ++n) {
    if (steps) engine.BeginStep();
    Step step{io, engine, rank, ranks, n, arrays};
    const bool told = options.odd == "vtk" || options.odd.rfind("openpmd-time", 0) == 0;
    if (!told) engine.Put(step.variable<double>("time", {}, {}, {}), 0.5 * n);
    if (options.odd != "nothing") put_scene(step, options);
    if (!options.odd.empty() && options.odd != "nothing") put_odd(step, options.odd);
    if (steps) engine.EndStep();
  }
  if (options.way == "leave") return;
  engine.Close();
}

void read(adios2::IO io) {
  adios2::Engine engine = io.Open("scene.bp", adios2::Mode::Read);
  while (engine.BeginStep() == adios2::StepStatus::OK) engine.EndStep();
  engine.Close();
}

void run(const Options& options) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  adios2::ADIOS adios("adios2.xml", MPI_COMM_WORLD);
  if (options.way == "read") return read(adios.DeclareIO("scene"));
  if (options.way == "two") {
    write(adios.DeclareIO("other"), "other.bp", options, rank, ranks);
    adios2::IO io = adios.DeclareIO("scene");
    write(io, "first.bp", options, rank, ranks);
    return write(io, "second.bp", options, rank, ranks);
  }
  write(adios.DeclareIO("scene"), "scene.bp", options, rank, ranks);
}

Options options_of(int argc, char** argv) {
  Options o;
  for (int n = 1; n + 1 < argc; n += 2) {
    const std::string word = argv[n], value = argv[n + 1];
    if (word == "--way") o.way = value;
    if (word == "--odd") o.odd = value;
    if (word == "--dimensions") o.dimensions = std::stoi(value);
    if (word == "--steps") o.steps = std::stoi(value);
  }
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  try {
    run(options_of(argc, argv));
    std::printf("program ends\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "host: %s\n", error.what());
    code = 1;
  }
  MPI_Finalize();
  return code;
}
