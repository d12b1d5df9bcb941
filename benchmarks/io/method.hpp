// Interface of a way to write fields to disk, with which all methods are measured. A method is one file here and a line
// in methods.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fields.hpp"

namespace io {

struct Options {
  std::string directory = "io-results";
  Index3 grid{128, 128, 128};
  int variables = 2;
  int steps = 6;
  int turns = 4;                      ///< K: number of ranks that open and write at a time, method `posix`
  int files = 1;                      ///< A: number of files of `aggregate` and of ADIOS
  std::uint64_t alignment = 1 << 20;  ///< alignment of HDF5 objects in shared files
  std::uint64_t stripe_size = 0;      ///< stripe size on a striped file system; 0: its default
  int stripes = 0;                    ///< number of stripes; 0: the default
  std::vector<std::string> hints;     ///< hints for MPI-IO, `key=value`
  std::string codec;                  ///< codec of the database, as in a configuration
  std::string database;               ///< further options of the database, as in a configuration
};

/// Tells if a step waits for the disk.
enum class Sync { no, yes };
inline constexpr const char* name_of(Sync sync) { return sync == Sync::yes ? "fsync" : "cached"; }

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Method {
 public:
  virtual ~Method() = default;
  /// Collective over the fields' communicator: writes them all, and returns when this rank may continue.
  virtual void write(const Fields& fields, int step, Sync sync) = 0;
  /// Returns when the data passed to `write` are in files. Methods that always wait in `write` do not override it.
  virtual void wait(const Fields&, int /*step*/, Sync) {}
  /// True if others write while this rank continues, so that the time in `wait` is theirs.
  [[nodiscard]] virtual bool writes_behind() const { return false; }
  /// Collective: closes open files. From then on others can read what was written.
  virtual void close() {}
  /// True if files grow from step to step, so that they are not removed before the end.
  [[nodiscard]] virtual bool appends() const { return false; }
};

/// A method, and the reason if this build or run lacks it.
struct MethodKind {
  std::string name;
  std::string text;
  /// `folder` is the method's own, and exists.
  std::function<std::unique_ptr<Method>(const Options&, const std::string& folder)> create{};
  std::string missing{};
};

/// MPI_Info with striping and hints; freed with the object.
class Hints {
 public:
  explicit Hints(const Options& options);
  ~Hints();
  Hints(const Hints&) = delete;
  Hints& operator=(const Hints&) = delete;
  [[nodiscard]] MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// Throws Error if an MPI call failed.
void check_mpi(int code, const char* call);

/// `folder/name-STEP-RANK.ending`
[[nodiscard]] std::string step_file(const std::string& folder, int step, int rank, const char* ending);

MethodKind raw_method();
MethodKind posix_method();
MethodKind aggregate_method();
MethodKind mpi_io_method();
MethodKind hdf5_each_method();
/// Methods that need an optional library.
void add_hdf5_together(const Options& options, std::vector<MethodKind>& all);
void add_netcdf(const Options& options, std::vector<MethodKind>& all);
void add_adios2(const Options& options, std::vector<MethodKind>& all);
void add_adios1(const Options& options, std::vector<MethodKind>& all);

}  // namespace io
