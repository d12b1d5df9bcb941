// One VTK file per rank, and a `.pvti` file that names them; at most K ranks open and write at a time. As in "Smart
// POSIX": a token goes from rank to rank, and opening counts as writing, since metadata servers suffer from it.
#include <fmt/format.h>

#include "plain_file.hpp"

namespace io {

namespace {

std::string extent_of(const Box& box) {
  return fmt::format("{} {} {} {} {} {}", box.lo[0], box.hi[0], box.lo[1], box.hi[1], box.lo[2], box.hi[2]);
}

class Posix final : public Method {
 public:
  Posix(std::string folder, int turns) : folder_(std::move(folder)), turns_(turns) {}

  void write(const Fields& fields, int step, Sync sync) override {
    const int before = fields.rank - turns_, next = fields.rank + turns_;
    if (before >= 0) check_mpi(MPI_Recv(nullptr, 0, MPI_BYTE, before, tag, fields.comm, MPI_STATUS_IGNORE), "MPI_Recv");
    write_piece(fields, step, sync);
    if (next < fields.ranks) check_mpi(MPI_Send(nullptr, 0, MPI_BYTE, next, tag, fields.comm), "MPI_Send");
    if (fields.rank == 0) write_index(fields, step, sync);
  }

 private:
  static constexpr int tag = 7;

  void write_piece(const Fields& fields, int step, Sync sync) const {
    std::string head = fmt::format(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\">\n<ImageData WholeExtent=\"{0}\" Origin=\"0 0 0\" Spacing=\"1 1 1\">\n"
        "<Piece Extent=\"{0}\"><CellData>\n",
        extent_of(fields.box));
    std::uint64_t offset = 0;
    for (std::size_t v = 0; v < fields.values.size(); ++v) {
      head += fmt::format("<DataArray type=\"Float64\" Name=\"{}\" format=\"appended\" offset=\"{}\"/>\n",
                          fields.names[v], offset);
      offset += sizeof(std::uint64_t) + fields.bytes_here(fields.values[v]);
    }
    head += "</CellData></Piece></ImageData>\n<AppendedData encoding=\"raw\">_";
    PlainFile file(step_file(folder_, step, fields.rank, "vti"), O_WRONLY | O_CREAT | O_TRUNC);
    file.write(head.data(), head.size());
    for (const auto& values : fields.values) {
      const std::uint64_t bytes = fields.bytes_here(values);
      file.write(&bytes, sizeof bytes);
      file.write(values.data(), bytes);
    }
    const std::string tail = "</AppendedData></VTKFile>\n";
    file.write(tail.data(), tail.size());
    if (sync == Sync::yes) file.sync();
    file.close();
  }

  void write_index(const Fields& fields, int step, Sync sync) const {
    std::string text = fmt::format(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PImageData\" version=\"1.0\">\n<PImageData WholeExtent=\"0 {} 0 {} 0 "
        "{}\" GhostLevel=\"0\" Origin=\"0 0 0\" Spacing=\"1 1 1\">\n<PCellData>\n",
        fields.grid[0], fields.grid[1], fields.grid[2]);
    for (const std::string& name : fields.names)
      text += fmt::format("<PDataArray type=\"Float64\" Name=\"{}\"/>\n", name);
    text += "</PCellData>\n";
    for (int rank = 0; rank < fields.ranks; ++rank) {
      const std::string piece = step_file("", step, rank, "vti");
      text += fmt::format("<Piece Extent=\"{}\" Source=\"{}\"/>\n", extent_of(part_of(fields.grid, rank, fields.ranks)),
                          piece.substr(piece.find_last_of('/') + 1));
    }
    text += "</PImageData>\n</VTKFile>\n";
    PlainFile file(fmt::format("{}/step-{:04}.pvti", folder_, step), O_WRONLY | O_CREAT | O_TRUNC);
    file.write(text.data(), text.size());
    if (sync == Sync::yes) file.sync();
    file.close();
  }

  std::string folder_;
  int turns_;
};

}  // namespace

MethodKind posix_method() {
  return {
      "posix", "a .vti file per rank and a .pvti file, K ranks at a time",
      [](const Options& options, const std::string& folder) { return std::make_unique<Posix>(folder, options.turns); }};
}

}  // namespace io
