// Sidestream for codes of the framework AMReX: its fields, particles and levels in one call. C++17, header only.
//
//   int main(int argc, char* argv[]) {
//     sidestream::AmrexSession side(argc, argv, "run.yaml");      // before amrex::Initialize
//     if (side.is_server()) return side.serve();
//     amrex::Initialize(argc, argv, true, side.comm());
//     ...
//       side.publish(levels, arrays, names, geometries, time, steps, ratios);   // as WriteMultiLevelPlotfile
//     ...
//     amrex::Finalize();
//   }
//
// The configuration declares neither these meshes nor their variables: the first publication does. `docs/code-amrex.md`
// has the details. Functions throw Error.
#pragma once

#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sidestream/amrex/blocks.hpp"
#include "sidestream/amrex/fields.hpp"
#include "sidestream/amrex/particles.hpp"
#include "sidestream/amrex/state.hpp"

namespace sidestream {

/// Starts MPI if it is not initialised, and then also ends it.
class AmrexMpi {
 public:
  AmrexMpi() = default;
  AmrexMpi(int& argc, char**& argv) {
    int running = 0, granted = 0;
    MPI_Initialized(&running);
    if (running != 0) return;
#ifdef AMREX_MPI_THREAD_MULTIPLE
    const int wanted = MPI_THREAD_MULTIPLE;
#else
    const int wanted = MPI_THREAD_FUNNELED;
#endif
    MPI_Init_thread(&argc, &argv, wanted, &granted);
    started_ = true;
  }
  AmrexMpi(const AmrexMpi&) = delete;
  AmrexMpi& operator=(const AmrexMpi&) = delete;
  ~AmrexMpi() {
    if (started_) MPI_Finalize();
  }

 private:
  bool started_ = false;
};

/// A session of a program that uses AMReX. Create it before amrex::Initialize, which gets its communicator, in a scope
/// that ends after amrex::Finalize: the destructor closes the session.
class AmrexSession {
 public:
  /// Opens a session on all processes with the configuration `file` (SIDESTREAM_CONFIG replaces it). Collective. If MPI
  /// is not initialised, starts it, and ends it with the session.
  AmrexSession(int& argc, char**& argv, const std::string& file)
      : mpi_(argc, argv), session_(Session::open(MPI_COMM_WORLD, file)) {}
  /// Uses a session that is open and not started.
  explicit AmrexSession(Session session) : session_(std::move(session)) {}
  AmrexSession(const AmrexSession&) = delete;
  AmrexSession& operator=(const AmrexSession&) = delete;

  [[nodiscard]] bool is_server() const { return session_.is_server(); }
  /// Runs a server until the clients have closed. Returns 0, the exit status of main.
  int serve() {
    session_.serve();
    return 0;
  }
  /// The communicator for amrex::Initialize.
  [[nodiscard]] MPI_Comm comm() const { return session_.comm(); }
  /// For parameters (`set`) and attributes of variables (`set_attribute`), before the first publication.
  [[nodiscard]] Session& session() { return session_; }
  /// Closes the session now instead of at the end of its scope, and returns its account. Collective.
  Account close() { return session_.close(); }

  /// Publishes an iteration: any number of AmrexFields, vectors of them, and AmrexParticles. The first call declares
  /// all meshes and variables, and starts the session; later calls may omit some. Collective over the clients; it
  /// communicates only when the session starts and, with `inline`, when analyses run. Blocks follow the arrays' boxes.
  /// All levels are at `time`, after a coarse step. Throws Error(usage), on every rank and before anything is
  /// published, if a field is new, differs from its declaration, or has other boxes than another field of its mesh.
  /// After any later exception the iteration has ended.
  template <class... Items>
  Taken publish_items(std::int64_t cycle, double time, const Items&... items) {
    Batch batch;
    (add(batch, items), ...);
    return publish_batch(cycle, time, batch);
  }

  /// Publishes the data of WriteMultiLevelPlotfile and further items: fields at nodes or faces, particles.
  template <class Fabs, class... Items>
  Taken publish(int levels, const ::amrex::Vector<const Fabs*>& arrays, const ::amrex::Vector<std::string>& names,
                const ::amrex::Vector<::amrex::Geometry>& geometries, ::amrex::Real time,
                const ::amrex::Vector<int>& steps, const ::amrex::Vector<::amrex::IntVect>& ratios,
                const Items&... more) {
    if (steps.empty()) throw Error(Code::usage, "publish: no number of the step on level 0; give one for each level");
    return publish_items(steps[0], time, amrex_fields(levels, arrays, names, geometries, ratios), more...);
  }

  /// Publishes the data of WriteSingleLevelPlotfile and further items.
  template <class Fabs, class... Items, class = typename Fabs::fab_type>
  Taken publish(const Fabs& array, const ::amrex::Vector<std::string>& names, const ::amrex::Geometry& geometry,
                ::amrex::Real time, int step, const Items&... more) {
    return publish_items(step, time, amrex_fields(array, names, geometry), more...);
  }

  /// Publishes the variables that an Amr writes to plotfiles (`amr.plot_vars`, `amr.derive_plot_vars`), and further
  /// items. Call it between coarse steps.
  template <class Hierarchy, class... Items, class = decltype(std::declval<Hierarchy&>().getLevel(0))>
  Taken publish(Hierarchy& amr, const Items&... more) {
    return publish_items(amr.levelSteps(0), amr.cumTime(), amrex_plot_variables(amr), more...);
  }

 private:
  struct Batch {
    std::vector<const AmrexFields*> fields;
    std::vector<const AmrexParticles*> particles;
  };
  /// The boxes set last for the arrays of a variable with ghosts.
  struct Ghosts {
    std::int64_t revision = -1;
    std::vector<Box> boxes;
  };

  static void add(Batch& batch, const AmrexFields& fields) { batch.fields.push_back(&fields); }
  static void add(Batch& batch, const std::vector<AmrexFields>& fields) {
    for (const AmrexFields& some : fields) add(batch, some);
  }
  static void add(Batch& batch, const AmrexParticles& particles) { batch.particles.push_back(&particles); }

  Taken publish_batch(std::int64_t cycle, double time, const Batch& batch) {
    check(batch);
    if (!started_) {
      for (const AmrexFields* fields : batch.fields) declare(fields->mesh(), fields->variables());
      for (const AmrexParticles* particles : batch.particles) declare(particles->mesh(), particles->variables());
      for (const auto& [name, mesh] : meshes_) add_mesh(mesh);
      session_.start();
      started_ = true;
    }
#ifdef AMREX_USE_GPU
    ::amrex::Gpu::streamSynchronizeAll();  // kernels may still write to memory that the host reads
#endif
    Taken taken = Taken::yes;
    try {
      place(batch);
      for (const AmrexFields* fields : batch.fields) taken = worse(taken, fields->publish(session_));
      for (const AmrexParticles* particles : batch.particles) taken = worse(taken, particles->publish(session_));
    } catch (...) {
      // Other ranks end the iteration, too. The first error counts.
      try {
        session_.end_iteration(cycle, time);
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
      }
      throw;
    }
    return worse(taken, session_.end_iteration(cycle, time));
  }

  static Taken worse(Taken one, Taken other) { return one == Taken::refused ? one : other; }

  /// Throws, on every rank, if the batch contradicts itself or the declarations.
  void check(const Batch& batch) const {
    std::map<std::string, const AmrexMesh*> meshes;
    std::set<std::string> names;
    const auto check_item = [&](const AmrexMesh& mesh, const std::vector<Variable>& variables) {
      const auto known = meshes_.find(mesh.name);
      if (started_ && known == meshes_.end()) complain("the mesh '" + mesh.name + "'", "is new", first_declares);
      check_mesh(mesh, *meshes.emplace(mesh.name, started_ ? &known->second : &mesh).first->second);
      for (const Variable& variable : variables) {
        if (!names.insert(variable.name).second) {
          complain("'" + variable.name + "'", "is published twice in one iteration", "rename one of the two");
        }
        if (started_) check_variable(mesh.name, variable);
      }
    };
    for (const AmrexFields* fields : batch.fields) check_item(fields->mesh(), fields->variables());
    for (const AmrexParticles* particles : batch.particles) check_item(particles->mesh(), particles->variables());
    for (const AmrexFields* fields : batch.fields) {
      if (fields->same_boxes(*widest(batch, fields->mesh().name))) continue;
      complain("'" + fields->components().front().name + "'",
               "has other boxes, or boxes on other ranks, than other fields of the mesh '" + fields->mesh().name + "'",
               "give it a mesh of its own: .on(\"NAME\")");
    }
  }

  void check_mesh(const AmrexMesh& mesh, const AmrexMesh& known) const {
    if (!mesh.same_place(known)) {
      complain("the mesh '" + mesh.name + "'",
               "has another size, place, spacing, periodicity or refinement ratio than when it was declared",
               "meshes neither move nor change; leave its fields out, or give them a mesh of their own: .on(\"NAME\")");
    }
    if (started_ && mesh.levels > known.ratios.size() + 1) {
      complain("the mesh '" + mesh.name + "'",
               "has " + std::to_string(mesh.levels) + " levels, but was declared with at most " +
                   std::to_string(known.ratios.size() + 1),
               "pass geometries and ratios of all levels that may come, as Geom() and refRatio()");
    }
  }

  void check_variable(const std::string& mesh, const Variable& variable) const {
    const auto found = variables_.find(variable.name);
    if (found == variables_.end()) complain("'" + variable.name + "'", "is new", first_declares);
    const auto& [on, known] = found->second;
    if (on == mesh && known.type == variable.type && known.centering == variable.centering &&
        known.components == variable.components) {
      return;
    }
    complain("'" + variable.name + "'", "has another mesh, type, centering or number of components than before",
             "give it another name");
  }

  [[noreturn]] static void complain(const std::string& what, const std::string& found, const std::string& advice) {
    throw Error(Code::usage, "publish: " + what + " " + found + "; " + advice);
  }

  /// The fields on a mesh that have the most levels.
  static const AmrexFields* widest(const Batch& batch, const std::string& mesh) {
    const AmrexFields* found = nullptr;
    for (const AmrexFields* fields : batch.fields) {
      if (fields->mesh().name == mesh && (found == nullptr || fields->levels() > found->levels())) found = fields;
    }
    return found;
  }

  void declare(const AmrexMesh& mesh, const std::vector<Variable>& variables) {
    AmrexMesh& known = meshes_.emplace(mesh.name, mesh).first->second;
    if (mesh.ratios.size() > known.ratios.size()) known.ratios = mesh.ratios;
    for (const Variable& variable : variables) {
      order_.push_back(variable.name);
      variables_.insert_or_assign(variable.name, std::pair(mesh.name, variable));
    }
  }

  void add_mesh(const AmrexMesh& mesh) {
    std::string coordinates;
    std::vector<Variable> variables;
    for (const std::string& name : order_) {
      const auto& [on, variable] = variables_.at(name);
      if (on == mesh.name) variables.push_back(variable);
      if (on == mesh.name && variable.role == Role::coordinates) coordinates = name;
    }
    if (mesh.points) {
      session_.add_points_mesh(mesh.name, AMREX_SPACEDIM, coordinates);
    } else {
      session_.add_uniform_mesh(mesh.name, mesh.size, mesh.origin, mesh.spacing);
      session_.set_periodic(mesh.name, mesh.periodic);
      if (!mesh.ratios.empty()) session_.set_refinement(mesh.name, mesh.ratios);
    }
    for (Variable& variable : variables) session_.add_variable(mesh.name, std::move(variable));
  }

  /// Declares the present places of blocks and arrays.
  void place(const Batch& batch) {
    for (const auto& [name, mesh] : meshes_) {
      if (const AmrexFields* fields = widest(batch, name)) blocks_[name].replace(session_, name, fields->blocks());
    }
    for (const AmrexParticles* particles : batch.particles) {
      const std::string& name = particles->mesh().name;
      blocks_[name].replace(session_, name, particles->blocks());
    }
    for (const AmrexFields* fields : batch.fields) {
      for (const AmrexComponent& component : fields->components()) set_allocated(*fields, component.name);
    }
  }

  /// Sets the boxes that arrays cover, if they have ghosts or had some before.
  void set_allocated(const AmrexFields& fields, const std::string& variable) {
    if (!fields.has_ghosts() && ghosts_.count(variable) == 0) return;
    Ghosts now{blocks_[fields.mesh().name].revision(), {}};
    for (const AmrexFields::Piece& piece : fields.pieces()) now.boxes.push_back(fields.box_of(piece));
    Ghosts& before = ghosts_[variable];
    if (before.revision == now.revision && before.boxes == now.boxes) return;
    for (const AmrexFields::Piece& piece : fields.pieces()) {
      session_.set_allocated(variable, piece.block, fields.box_of(piece));
    }
    before = std::move(now);
  }

  static constexpr const char* first_declares =
      "the first publication declares all meshes and variables, so it must have this one";
  AmrexMpi mpi_;
  Session session_;
  bool started_ = false;
  std::map<std::string, AmrexMesh> meshes_;
  std::vector<std::string> order_;  ///< names of variables, in the order of their first publication
  std::map<std::string, std::pair<std::string, Variable>> variables_;  ///< with the names of their meshes
  std::map<std::string, AmrexBlocks> blocks_;                          ///< by mesh
  std::map<std::string, Ghosts> ghosts_;                               ///< by variable
};

}  // namespace sidestream
