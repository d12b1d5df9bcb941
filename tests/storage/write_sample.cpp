// Writes the files that test_read_files.py reads. Usage: mpirun -n N storage_write_sample DIRECTORY
#include <mpi.h>

#include <cstdio>
#include <exception>

#include "storage/support/sample.hpp"
#include "storage/writers/kinds.hpp"

namespace {

using namespace sidestream;
using namespace sidestream::testing;

struct Case {
  WriterKind kind;
  std::string yaml;
  int ghosts = 0;
  std::vector<std::size_t> absent{};
};

/// Writes names with percent signs, which HDF5 sometimes takes for formats.
void write_percents(const std::shared_ptr<const OutputDirectory>& output, MpiCommunicator& world) {
  Sample sample;
  sample.metadata.variables[0].name = "humidity %";
  sample.metadata.variables[2].name = "a%%b %b%d";
  const auto kind = hdf5_writer();
  const char* yaml = "{file: '100%/50%% %b %d-{index}%.h5', variables: ['humidity %', 'a%%b %b%d']}";
  const auto writer = kind.create(writer_settings(kind, yaml, sample.metadata), sample.metadata, output);
  write_iteration(*writer, sample, {0, 0, 0}, world);
}

void write_cases(const std::string& directory) {
  MpiCommunicator world(MPI_COMM_WORLD);
  const auto output = open_output_directory(directory, "Sidestream test\nname: a -- b <&>\n");
  const std::vector<Case> cases{
      {hdf5_writer(), "{file: 'fields-{index:05}.h5'}"},
      {hdf5_writer(), "{file: 'packed/{cycle}/all.h5', compression: deflate, level: 4, checksum: true}", 2},
      {hdf5_writer(), "{file: 'ghosts-{index}.h5', ghosts: true, variables: [temperature, flux]}", 2},
      {hdf5_writer(), "{file: 'gap-{index}.h5', variables: [temperature, marker]}", 0, {3}},
      {vtk_writer(), "{file: 'fields-{index:05}.pvti'}"},
      {vtk_writer(), "{file: 'packed-{cycle:04}.pvti', compression: zlib, level: 6}", 2},
      {vtk_writer(), "{file: 'one/{index}.pvti', variables: [flux, velocity]}", 1},
      {vtk_writer(), "{file: 'gap-{index}.pvti', variables: [temperature, marker]}", 0, {3}},
  };
  write_percents(output, world);
  Sample sample;
  for (const Case& each : cases) {
    const auto writer =
        each.kind.create(writer_settings(each.kind, each.yaml, sample.metadata), sample.metadata, output);
    // HDF5's whole arrays take each node from the block that owns it; VTK's readers take any block's.
    sample.shared_nodes_agree = each.kind.name == "vtk";
    for (int index = 0; index < 3; ++index) {
      sample.step = index;
      write_iteration(*writer, sample, {index, 10 * index, 0.5 * index}, world, each.ghosts, each.absent);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int status = 1;
  try {
    if (argc == 2) {
      write_cases(argv[1]);
      status = 0;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
