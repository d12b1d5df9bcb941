#include "visualisation/graphics/compositing.hpp"

#include <vector>

#include "sidestream/kit/base/records.hpp"

namespace sidestream::rendering {

namespace {

/// The lengths of the parts of an encoded drawing, which follow them: runs, fragments, slabs.
struct Lengths {
  std::uint64_t runs = 0, fragments = 0, slabs = 0;
};

struct Parts {
  BytesView runs, fragments, slabs;
};

/// The lengths come last, so that the runs, which are most of it, need not be copied.
Parts parts_of(BytesView encoded) {
  if (encoded.empty()) return {};
  const std::size_t body = encoded.size() - std::min(encoded.size(), sizeof(Lengths));
  const auto lengths = record_of<Lengths>(encoded.subspan(body));
  if (lengths.runs > body || lengths.fragments > body - lengths.runs ||
      lengths.slabs != body - lengths.runs - lengths.fragments) {
    fail(Code::internal, "a drawing of {} bytes has parts of {}, {} and {}", body, lengths.runs, lengths.fragments,
         lengths.slabs);
  }
  return {encoded.first(lengths.runs), encoded.subspan(lengths.runs, lengths.fragments),
          encoded.subspan(lengths.runs + lengths.fragments, lengths.slabs)};
}

void close(Bytes& encoded, std::size_t runs, std::size_t fragments) {
  const Lengths lengths{runs, fragments, encoded.size() - runs - fragments};
  const BytesView bytes = bytes_of(lengths);
  encoded.insert(encoded.end(), bytes.begin(), bytes.end());
}

struct Stripe {
  std::int64_t first_row = 0, end_row = 0;
};

/// The rows of a picture of `height` rows that member `rank` of `size` completes: equal shares to within one row, in
/// multiples of `unit` rows. Some members have none if there are more members than shares.
Stripe stripe_of(std::int64_t height, std::int64_t unit, int rank, int size) {
  const std::int64_t shares = height / unit;
  return {shares * rank / size * unit, shares * (rank + 1) / size * unit};
}

/// The part of some drawings in a stripe, as one. Each drawing's runs stay in order; several follow one another.
Bytes select(std::span<const Bytes> partials, const Stripe& stripe, int samples) {
  Bytes out;
  for (const Bytes& partial : partials) select_runs(parts_of(partial).runs, stripe.first_row, stripe.end_row, out);
  const std::size_t runs = out.size();
  for (const Bytes& partial : partials) {
    SparseRows<Fragment>::select(parts_of(partial).fragments, stripe.first_row, stripe.end_row, out);
  }
  const std::size_t fragments = out.size() - runs;
  for (const Bytes& partial : partials) {
    SparseRows<SlabRecord>::select(parts_of(partial).slabs, stripe.first_row / samples, stripe.end_row / samples, out);
  }
  close(out, runs, fragments);
  return out;
}

void merge(BytesView encoded, Drawing& drawing) {
  const Parts parts = parts_of(encoded);
  merge_runs(parts.runs, drawing.opaque);
  drawing.fragments.merge(parts.fragments);
  drawing.slabs.merge(parts.slabs);
}

}  // namespace

Bytes encode(const Drawing& drawing) {
  Bytes out = encode_runs(drawing.opaque);
  const std::size_t runs = out.size();
  drawing.fragments.encode(out);
  const std::size_t fragments = out.size() - runs;
  drawing.slabs.encode(out);
  close(out, runs, fragments);
  return out;
}

Drawing composite(std::span<const Bytes> partials, std::int64_t width, std::int64_t height, int samples,
                  Communicator& communicator) {
  const int size = communicator.size();
  const Stripe mine = stripe_of(height, samples, communicator.rank(), size);
  Drawing stripe(width, mine.first_row, mine.end_row - mine.first_row, samples);
  if (size == 1) {
    for (const Bytes& partial : partials) merge(partial, stripe);
    return stripe;
  }
  std::vector<Bytes> to(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) {
    to[static_cast<std::size_t>(r)] = select(partials, stripe_of(height, samples, r, size), samples);
  }
  for (const Bytes& part : communicator.all_to_all(to)) merge(part, stripe);
  return stripe;
}

}  // namespace sidestream::rendering
