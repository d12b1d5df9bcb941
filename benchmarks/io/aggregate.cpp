// A files: ranks send their values to the first of their group, which writes them in sequence.
#include <algorithm>
#include <memory>

#include "plain_file.hpp"

namespace io {

namespace {

class Aggregate final : public Method {
 public:
  Aggregate(std::string folder, int files) : folder_(std::move(folder)), files_(files) {}
  ~Aggregate() override {
    if (group_ != MPI_COMM_NULL) MPI_Comm_free(&group_);
  }
  Aggregate(const Aggregate&) = delete;
  Aggregate& operator=(const Aggregate&) = delete;

  void write(const Fields& fields, int step, Sync sync) override {
    if (group_ == MPI_COMM_NULL) make_group(fields);
    if (place_ == 0) return collect(fields, step, sync);
    for (const auto& values : fields.values) send(values);
  }

 private:
  static constexpr std::size_t piece = std::size_t{4} << 20;  ///< bytes of a message
  static constexpr int tag = 8;

  void make_group(const Fields& fields) {
    const int number = static_cast<int>(static_cast<std::int64_t>(fields.rank) * files_ / fields.ranks);
    check_mpi(MPI_Comm_split(fields.comm, number, fields.rank, &group_), "MPI_Comm_split");
    MPI_Comm_rank(group_, &place_);
    MPI_Comm_size(group_, &members_);
    std::uint64_t mine = fields.bytes_here(fields.values.front());
    sizes_.resize(static_cast<std::size_t>(members_));
    check_mpi(MPI_Gather(&mine, 1, MPI_UINT64_T, sizes_.data(), 1, MPI_UINT64_T, 0, group_), "MPI_Gather");
  }

  void send(const std::vector<double>& values) const {
    const auto* at = reinterpret_cast<const char*>(values.data());
    for (std::size_t left = values.size() * sizeof(double); left > 0;) {
      const std::size_t part = std::min(left, piece);
      check_mpi(MPI_Send(at, static_cast<int>(part), MPI_BYTE, 0, tag, group_), "MPI_Send");
      at += part;
      left -= part;
    }
  }

  void collect(const Fields& fields, int step, Sync sync) {
    PlainFile file(step_file(folder_, step, fields.rank, "raw"), O_WRONLY | O_CREAT | O_TRUNC);
    for (const auto& values : fields.values) file.write(values.data(), fields.bytes_here(values));
    for (int member = 1; member < members_; ++member) {
      for (std::size_t v = 0; v < fields.values.size(); ++v) receive(file, member);
    }
    if (sync == Sync::yes) file.sync();
    file.close();
  }

  /// Double buffering: one buffer is filled while the other is written.
  void receive(PlainFile& file, int member) {
    std::uint64_t left = sizes_[static_cast<std::size_t>(member)];
    for (auto& buffer : buffers_) buffer.resize(piece);
    MPI_Request request = MPI_REQUEST_NULL;
    std::size_t coming = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece));
    MPI_Irecv(buffers_[0].data(), static_cast<int>(coming), MPI_BYTE, member, tag, group_, &request);
    for (int turn = 0; left > 0; turn = 1 - turn) {
      check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
      const std::size_t here = coming;
      left -= here;
      coming = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece));
      if (left > 0) {
        MPI_Irecv(buffers_[1 - turn].data(), static_cast<int>(coming), MPI_BYTE, member, tag, group_, &request);
      }
      file.write(buffers_[turn].data(), here);
    }
  }

  std::string folder_;
  int files_;
  MPI_Comm group_ = MPI_COMM_NULL;
  int place_ = 0, members_ = 1;
  std::vector<std::uint64_t> sizes_;  ///< bytes of one variable on each member
  std::vector<char> buffers_[2];
};

}  // namespace

MethodKind aggregate_method() {
  return {"aggregate", "raw, A files, ranks send to those who write",
          [](const Options& options, const std::string& folder) {
            return std::make_unique<Aggregate>(folder, options.files);
          }};
}

}  // namespace io
