// One HDF5 file, written by all ranks together: contiguous, or chunked by rank.
#include "hdf5_file.hpp"
#include "plain_file.hpp"

namespace io {

namespace {

class Hdf5Together final : public Method {
 public:
  Hdf5Together(const Options& options, std::string folder, bool chunked)
      : options_(options), folder_(std::move(folder)), hints_(options), chunked_(chunked) {}

  void write(const Fields& fields, int step, Sync sync) override {
    const std::string path = step_file(folder_, step, 0, "h5");
    const Id access = properties(H5P_FILE_ACCESS);
    check_hdf5(H5Pset_fapl_mpio(access.get(), fields.comm, hints_.get()), "use MPI-IO");
    check_hdf5(H5Pset_alignment(access.get(), options_.alignment, options_.alignment), "align");
    Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose, "create a file");
    for (std::size_t v = 0; v < fields.values.size(); ++v) write_one(fields, v, file.get());
    file.close();
    if (sync == Sync::no) return;
    // A flush by one process flushes all data: it is the same file.
    if (fields.rank == 0) PlainFile(path, O_WRONLY).sync();
    MPI_Barrier(fields.comm);
  }

 private:
  void write_one(const Fields& fields, std::size_t v, hid_t file) const {
    const Extents part(fields.box), all({{0, 0, 0}, fields.grid});
    const Id creation = properties(H5P_DATASET_CREATE);
    check_hdf5(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER), "leave out fill values");
    if (chunked_) {
      const Extents chunk(part_of(fields.grid, 0, fields.ranks));
      check_hdf5(H5Pset_chunk(creation.get(), 3, chunk.size), "chunk");
    }
    const Id space(H5Screate_simple(3, all.size, nullptr), H5Sclose, "make a space");
    const Id data(H5Dcreate2(file, fields.names[v].c_str(), H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT, creation.get(),
                             H5P_DEFAULT),
                  H5Dclose, "create a data set");
    check_hdf5(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, part.lo, nullptr, part.size, nullptr), "select");
    const Id memory(H5Screate_simple(3, part.size, nullptr), H5Sclose, "make a space");
    const Id transfer = properties(H5P_DATASET_XFER);
    check_hdf5(H5Pset_dxpl_mpio(transfer.get(), H5FD_MPIO_COLLECTIVE), "be collective");
    check_hdf5(
        H5Dwrite(data.get(), H5T_NATIVE_DOUBLE, memory.get(), space.get(), transfer.get(), fields.values[v].data()),
        "write");
  }

  Options options_;
  std::string folder_;
  Hints hints_;
  bool chunked_;
};

MethodKind kind(const char* name, const char* text, bool chunked) {
  return {name, text, [chunked](const Options& options, const std::string& folder) {
            return std::make_unique<Hdf5Together>(options, folder, chunked);
          }};
}

}  // namespace

void add_hdf5_together(const Options&, std::vector<MethodKind>& all) {
  all.push_back(kind("hdf5-contiguous", "parallel HDF5, collective, one file", false));
  all.push_back(kind("hdf5-chunked", "the same in chunks of a rank's box", true));
}

}  // namespace io
