// One file, written by all ranks together: each variable as one array of the whole grid.
#include "method.hpp"

namespace io {

namespace {

class MpiIo final : public Method {
 public:
  MpiIo(const Options& options, std::string folder) : folder_(std::move(folder)), hints_(options) {}

  void write(const Fields& fields, int step, Sync sync) override {
    MPI_File file = MPI_FILE_NULL;
    const std::string path = step_file(folder_, step, 0, "raw");
    check_mpi(MPI_File_open(fields.comm, path.c_str(), MPI_MODE_WRONLY | MPI_MODE_CREATE, hints_.get(), &file),
              "MPI_File_open");
    MPI_Datatype part = part_type(fields);
    const auto whole = static_cast<MPI_Offset>(fields.grid[0] * fields.grid[1] * fields.grid[2] * 8);
    for (std::size_t v = 0; v < fields.values.size(); ++v) {
      check_mpi(MPI_File_set_view(file, static_cast<MPI_Offset>(v) * whole, MPI_DOUBLE, part, "native", hints_.get()),
                "MPI_File_set_view");
      // The rank's own line of values is one element, so that its count fits for any size.
      MPI_Datatype line = MPI_DATATYPE_NULL;
      MPI_Type_contiguous(static_cast<int>(fields.box.extent(0)), MPI_DOUBLE, &line);
      MPI_Type_commit(&line);
      const int code =
          MPI_File_write_all(file, fields.values[v].data(),
                             static_cast<int>(fields.box.extent(1) * fields.box.extent(2)), line, MPI_STATUS_IGNORE);
      MPI_Type_free(&line);
      check_mpi(code, "MPI_File_write_all");
    }
    MPI_Type_free(&part);
    if (sync == Sync::yes) check_mpi(MPI_File_sync(file), "MPI_File_sync");
    check_mpi(MPI_File_close(&file), "MPI_File_close");
  }

 private:
  static MPI_Datatype part_type(const Fields& fields) {
    int sizes[3], parts[3], starts[3];
    for (int a = 0; a < 3; ++a) {
      sizes[a] = static_cast<int>(fields.grid[2 - a]);
      parts[a] = static_cast<int>(fields.box.extent(2 - a));
      starts[a] = static_cast<int>(fields.box.lo[2 - a]);
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
  }

  std::string folder_;
  Hints hints_;
};

}  // namespace

MethodKind mpi_io_method() {
  return {"mpi-io", "MPI-IO, collective, one file",
          [](const Options& options, const std::string& folder) { return std::make_unique<MpiIo>(options, folder); }};
}

}  // namespace io
