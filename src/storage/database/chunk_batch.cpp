#include "storage/database/chunk_batch.hpp"

namespace sidestream::database {

void ChunkBatch::add(BytesView raw, bool stays) {
  if (filled_ == jobs_.size()) jobs_.emplace_back();
  Job& job = jobs_[filled_];
  // With only one thread the chunk is encoded before the caller goes on.
  if (stays || most() <= 2) {
    job.raw = raw;
  } else {
    job.copy.assign(raw.begin(), raw.end());
    job.raw = job.copy;
  }
  ++filled_;
  if (filled_ >= most() || most() <= 2) finish();
}

void ChunkBatch::finish() {
  encoding_.pool->for_each(filled_, [this](std::size_t n) {
    Job& job = jobs_[n];
    job.list = packing_.encode(job.raw, job.encoded, encoding_.pace);
    job.checksum = checksum_of(job.kept());
  });
  for (std::size_t n = 0; n < filled_; ++n) {
    const BytesView kept = jobs_[n].kept();
    rows_.push_back({static_cast<std::uint32_t>(kept.size()), jobs_[n].list, jobs_[n].checksum});
    out_.insert(out_.end(), kept.begin(), kept.end());
  }
  filled_ = 0;
}

}  // namespace sidestream::database
