#include "fourier.hpp"

#include <fftw3.h>

#include <algorithm>
#include <cstring>
#include <functional>

namespace universe {

namespace {

/// Amounts sent to, or received from, each rank in a transposition, in complex numbers.
struct Counts {
  std::vector<int> count, begin;
  explicit Counts(int parts, const std::function<int(int)>& of) : count(static_cast<std::size_t>(parts)) {
    begin.resize(count.size() + 1);
    for (int p = 0; p < parts; ++p) {
      const auto n = static_cast<std::size_t>(p);
      count[n] = of(p);
      begin[n + 1] = begin[n] + count[n];
    }
  }
};

/// Cuts [planes][lines][length] into the parts for each rank; `length` is complete on each rank and `lines`
/// distributed.
Modes cut(const Modes& in, int length, int parts) {
  Modes sent(in.size());
  auto put = sent.begin();
  const auto lines = static_cast<std::ptrdiff_t>(in.size()) / length;
  for (int p = 0; p < parts; ++p) {
    const Share part = share_of(length, p, parts);
    for (std::ptrdiff_t line = 0; line < lines; ++line) {
      const auto from = in.begin() + line * length;
      put = std::copy(from + part.lo, from + part.hi, put);
    }
  }
  return sent;
}

/// Transposes a matrix of `rows` lines into one with lines of `stride`, tile by tile for the cache.
void turn(const Complex* from, int rows, int columns, Complex* to, std::ptrdiff_t stride) {
  constexpr int tile = 8;
  for (int begin = 0; begin < columns; begin += tile) {
    const int end = std::min(begin + tile, columns);
    for (int row = 0; row < rows; ++row) {
      for (int n = begin; n < end; ++n) to[n * stride + row] = from[static_cast<std::ptrdiff_t>(row) * columns + n];
    }
  }
}

/// Collective over `comm`: transposes [planes][lines][length], with `length` complete and `lines` distributed, to
/// [planes][length'][lines'], with the reverse distribution.
Modes transpose(MPI_Comm comm, Modes in, int planes, int length, int lines) {
  int parts = 1, mine = 0;
  MPI_Comm_size(comm, &parts);
  MPI_Comm_rank(comm, &mine);
  const Share own_length = share_of(length, mine, parts), own_lines = share_of(lines, mine, parts);
  const Counts out(parts, [&](int p) { return planes * own_lines.size() * share_of(length, p, parts).size(); });
  const Counts got(parts, [&](int p) { return planes * share_of(lines, p, parts).size() * own_length.size(); });
  Modes received = std::move(in);
  if (parts > 1) {
    const Modes sent = cut(received, length, parts);
    received.resize(static_cast<std::size_t>(got.begin.back()));
    MPI_Alltoallv(sent.data(), out.count.data(), out.begin.data(), MPI_C_DOUBLE_COMPLEX, received.data(),
                  got.count.data(), got.begin.data(), MPI_C_DOUBLE_COMPLEX, comm);
  }
  Modes turned(received.size());
  const Complex* take = received.data();
  for (int p = 0; p < parts; ++p) {
    const Share part = share_of(lines, p, parts);
    for (int plane = 0; plane < planes; ++plane) {
      Complex* const to = &turned[static_cast<std::size_t>(plane) * own_length.size() * lines];
      turn(take, part.size(), own_length.size(), to + part.lo, lines);
      take += static_cast<std::ptrdiff_t>(part.size()) * own_length.size();
    }
  }
  return turned;
}

/// Swaps [a][b][line] to [b][a][line].
Modes swapped(const Modes& in, int a, int b, int line) {
  Modes out(in.size());
  for (int i = 0; i < a; ++i) {
    for (int j = 0; j < b; ++j) {
      const auto from = in.begin() + (static_cast<std::ptrdiff_t>(i) * b + j) * line;
      std::copy(from, from + line, out.begin() + (static_cast<std::ptrdiff_t>(j) * a + i) * line);
    }
  }
  return out;
}

}  // namespace

/// One line at a time in memory aligned by FFTW: the same instructions for every line.
struct Fourier::Plans {
  explicit Plans(int cells)
      : n(cells),
        real(fftw_alloc_real(static_cast<std::size_t>(n))),
        half(fftw_alloc_complex(static_cast<std::size_t>(n / 2 + 1))),
        line(fftw_alloc_complex(static_cast<std::size_t>(n))) {
    to_half = fftw_plan_dft_r2c_1d(n, real, half, FFTW_ESTIMATE);
    to_real = fftw_plan_dft_c2r_1d(n, half, real, FFTW_ESTIMATE);
    onwards = fftw_plan_dft_1d(n, line, line, FFTW_FORWARD, FFTW_ESTIMATE);
    back = fftw_plan_dft_1d(n, line, line, FFTW_BACKWARD, FFTW_ESTIMATE);
  }
  ~Plans() {
    for (const fftw_plan plan : {to_half, to_real, onwards, back}) fftw_destroy_plan(plan);
    fftw_free(real);
    fftw_free(half);
    fftw_free(line);
  }
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  void each_line(Modes& modes, fftw_plan plan) const {
    const std::size_t bytes = sizeof(Complex) * static_cast<std::size_t>(n);
    for (std::size_t at = 0; at < modes.size(); at += static_cast<std::size_t>(n)) {
      std::memcpy(line, static_cast<const void*>(&modes[at]), bytes);
      fftw_execute(plan);
      std::memcpy(static_cast<void*>(&modes[at]), line, bytes);
    }
  }

  int n;
  double* real;
  fftw_complex *half, *line;
  fftw_plan to_half, to_real, onwards, back;
};

Fourier::Fourier(const Layout& layout) : layout_(layout), plans_(std::make_unique<Plans>(layout.cells())) {}
Fourier::~Fourier() = default;

std::size_t Fourier::modes() const {
  const int n = layout_.cells();
  const Share kx = share_of(n / 2 + 1, layout_.row(), layout_.rows()), ky = layout_.z();
  return static_cast<std::size_t>(kx.size()) * static_cast<std::size_t>(ky.size()) * static_cast<std::size_t>(n);
}

Modes Fourier::forward(const Field& field) const {
  const int n = layout_.cells(), half = n / 2 + 1, ny = layout_.y().size(), nz = layout_.z().size();
  Modes modes(static_cast<std::size_t>(half) * static_cast<std::size_t>(ny) * static_cast<std::size_t>(nz));
  for (std::size_t line = 0; line * static_cast<std::size_t>(n) < field.size(); ++line) {
    std::memcpy(plans_->real, &field[line * static_cast<std::size_t>(n)], sizeof(double) * static_cast<std::size_t>(n));
    fftw_execute(plans_->to_half);
    std::memcpy(static_cast<void*>(&modes[line * static_cast<std::size_t>(half)]), plans_->half,
                sizeof(Complex) * static_cast<std::size_t>(half));
  }
  modes = transpose(layout_.across_rows(), std::move(modes), nz, half, n);  // [z][kx][y]
  plans_->each_line(modes, plans_->onwards);
  const int nkx = share_of(half, layout_.row(), layout_.rows()).size();
  modes = transpose(layout_.across_columns(), swapped(modes, nz, nkx, n), nkx, n, n);  // [kx][ky][z]
  plans_->each_line(modes, plans_->onwards);
  return modes;
}

Field Fourier::backward(Modes modes) const {
  const int n = layout_.cells(), half = n / 2 + 1, nz = layout_.z().size();
  const int nkx = share_of(half, layout_.row(), layout_.rows()).size();
  plans_->each_line(modes, plans_->back);
  modes = transpose(layout_.across_columns(), std::move(modes), nkx, n, n);  // [kx][z][ky]
  modes = swapped(modes, nkx, nz, n);
  plans_->each_line(modes, plans_->back);
  modes = transpose(layout_.across_rows(), std::move(modes), nz, n, half);  // [z][y][kx]
  Field field(modes.size() / static_cast<std::size_t>(half) * static_cast<std::size_t>(n));
  const double scale = 1.0 / (static_cast<double>(n) * n * n);
  for (std::size_t line = 0; line * static_cast<std::size_t>(half) < modes.size(); ++line) {
    std::memcpy(plans_->half, static_cast<const void*>(&modes[line * static_cast<std::size_t>(half)]),
                sizeof(Complex) * static_cast<std::size_t>(half));
    fftw_execute(plans_->to_real);
    for (int i = 0; i < n; ++i) {
      field[line * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)] = plans_->real[i] * scale;
    }
  }
  return field;
}

}  // namespace universe
