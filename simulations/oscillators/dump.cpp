#include "dump.hpp"

#include <cstring>

#include "input.hpp"

namespace oscillators {

namespace {

// Copies the box `part` from an array over `from` to one over `to`, i fastest.
void copy_box(const Box& part, const Box& from, const char* source, const Box& to, char* target, std::size_t element) {
  const auto at = [element](const Box& box, std::int64_t i, std::int64_t j, std::int64_t k) {
    return element *
           static_cast<std::size_t>(i - box.lo[0] + box.extent(0) * (j - box.lo[1] + box.extent(1) * (k - box.lo[2])));
  };
  for (std::int64_t k = part.lo[2]; k < part.hi[2]; ++k) {
    for (std::int64_t j = part.lo[1]; j < part.hi[1]; ++j) {
      std::memcpy(target + at(to, part.lo[0], j, k), source + at(from, part.lo[0], j, k),
                  element * static_cast<std::size_t>(part.extent(0)));
    }
  }
}

}  // namespace

Dump::Dump(MPI_Comm comm, std::string file, const Options& options)
    : comm_(comm),
      file_(std::move(file)),
      grid_(options.grid),
      element_(options.element == Element::float32 ? sizeof(float) : sizeof(double)) {
  MPI_Comm_rank(comm_, &rank_);
  if (rank_ == 0) out_.reset(std::fopen(file_.c_str(), "wb"));
  agree(rank_ != 0 || out_ != nullptr);
}

void Dump::agree(bool good) const {
  int all_good = good ? 1 : 0;
  MPI_Bcast(&all_good, 1, MPI_INT, 0, comm_);
  if (all_good == 0) throw UserError("--dump " + file_ + ": cannot write it; name a file in a directory with room.");
}

void Dump::add(const std::vector<Patch>& patches, const std::vector<const void*>& data) {
  // Rank 0 has the whole field and inserts the blocks of all ranks, in the order of the ranks.
  const Box whole = grid_.points();
  std::vector<char> field(rank_ == 0 ? element_ * static_cast<std::size_t>(whole.count()) : 0);
  int ranks = 1;
  MPI_Comm_size(comm_, &ranks);
  const int mine = static_cast<int>(patches.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks));
  MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm_);
  for (std::size_t n = 0; n < patches.size(); ++n) {
    const Box part = grid_.points(patches[n].cells);
    if (rank_ == 0) {
      copy_box(part, patches[n].allocated, static_cast<const char*>(data[n]), whole, field.data(), element_);
      continue;
    }
    std::vector<char> packed(element_ * static_cast<std::size_t>(part.count()));
    copy_box(part, patches[n].allocated, static_cast<const char*>(data[n]), part, packed.data(), element_);
    MPI_Send(&part, sizeof part, MPI_BYTE, 0, 0, comm_);
    MPI_Send(packed.data(), static_cast<int>(packed.size()), MPI_BYTE, 0, 1, comm_);
  }
  bool good = true;
  if (rank_ == 0) {
    for (int rank = 1; rank < ranks; ++rank) {
      for (int n = 0; n < counts[rank]; ++n) {
        Box part;
        MPI_Recv(&part, sizeof part, MPI_BYTE, rank, 0, comm_, MPI_STATUS_IGNORE);
        std::vector<char> packed(element_ * static_cast<std::size_t>(part.count()));
        MPI_Recv(packed.data(), static_cast<int>(packed.size()), MPI_BYTE, rank, 1, comm_, MPI_STATUS_IGNORE);
        copy_box(part, part, packed.data(), whole, field.data(), element_);
      }
    }
    good = std::fwrite(field.data(), 1, field.size(), out_.get()) == field.size() && std::fflush(out_.get()) == 0;
  }
  agree(good);
}

}  // namespace oscillators
