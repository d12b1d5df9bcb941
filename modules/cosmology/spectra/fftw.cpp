// Transforms by FFTW 3 (Frigo and Johnson, "The Design and Implementation of FFTW3", Proc. IEEE 93, 2005).
//
// All lines use one plan for a single line, at addresses that are multiples of 16 bytes, as it requires. A plan for
// many lines processes them in groups of two or four and the rest in another way, so that the bits of a line would
// depend on which other lines a server has.
#include <fftw3.h>

#include <cstdlib>
#include <mutex>
#include <new>

#include "cosmology/spectra/line_transform.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::spectra {
namespace {

constexpr std::size_t cache_line = 64;

/// Only one thread at a time may use FFTW's planner.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
template <class T>
using Buffer = std::unique_ptr<T[], Free>;

template <class T>
Buffer<T> new_buffer(std::size_t count) {
  const std::size_t bytes = (count * sizeof(T) + cache_line - 1) / cache_line * cache_line;
  void* memory = std::aligned_alloc(cache_line, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return Buffer<T>(static_cast<T*>(memory));
}

unsigned flag_of(Rigour rigour) {
  return rigour == Rigour::estimate ? FFTW_ESTIMATE : rigour == Rigour::measure ? FFTW_MEASURE : FFTW_PATIENT;
}

/// Hides the program's FFTW plans (wisdom) during the object's lifetime. FFTW would prefer them, and `estimate` would
/// depend on what else the process has done.
class OwnWisdom {
 public:
  OwnWisdom() : lock_(planner()), before_(fftw_export_wisdom_to_string()) { fftw_forget_wisdom(); }
  ~OwnWisdom() {
    fftw_forget_wisdom();
    if (before_ != nullptr) fftw_import_wisdom_from_string(before_);
    std::free(before_);
  }
  OwnWisdom(const OwnWisdom&) = delete;
  OwnWisdom& operator=(const OwnWisdom&) = delete;

 private:
  std::lock_guard<std::mutex> lock_;
  char* before_;
};

}  // namespace

struct TransformPlan {
  Buffer<double> reals;
  Buffer<Complex> values;
  fftw_plan plan = nullptr;

  void require(Index n) const {
    if (plan == nullptr) fail(Code::system, "FFTW makes no plan for a line of {} numbers; is there memory left?", n);
  }
  TransformPlan() = default;
  TransformPlan(const TransformPlan&) = delete;
  TransformPlan& operator=(const TransformPlan&) = delete;
  ~TransformPlan() {
    if (plan == nullptr) return;
    const std::lock_guard lock(planner());
    fftw_destroy_plan(plan);
  }
};

bool has_fourier() noexcept { return true; }

RealLine::RealLine(Index n, Rigour rigour) : n_(n), plan_(std::make_unique<TransformPlan>()) {
  plan_->reals = new_buffer<double>(static_cast<std::size_t>(n));
  plan_->values = new_buffer<Complex>(static_cast<std::size_t>(n / 2 + 1));
  const OwnWisdom own;
  plan_->plan = fftw_plan_dft_r2c_1d(static_cast<int>(n), plan_->reals.get(),
                                     reinterpret_cast<fftw_complex*>(plan_->values.get()), flag_of(rigour));
  plan_->require(n);
}
RealLine::~RealLine() = default;
RealLine::RealLine(RealLine&&) noexcept = default;
RealLine& RealLine::operator=(RealLine&&) noexcept = default;
double* RealLine::input() noexcept { return plan_->reals.get(); }
const Complex* RealLine::transform() noexcept {
  fftw_execute(plan_->plan);
  return plan_->values.get();
}
void RealLine::transform(double* from, Complex* to) noexcept {
  fftw_execute_dft_r2c(plan_->plan, from, reinterpret_cast<fftw_complex*>(to));
}

ComplexLines::ComplexLines(Index n, Rigour rigour) : n_(n), plan_(std::make_unique<TransformPlan>()) {
  constexpr Index multiple = cache_line / sizeof(Complex);
  row_ = (n + multiple - 1) / multiple * multiple;
  // Rows at distances of a power of two would compete for the same cache lines.
  if (row_ % 64 == 0) row_ += multiple;
  // The result of a line overwrites the previous line, so that all of them stay in the first-level cache.
  plan_->values = new_buffer<Complex>(static_cast<std::size_t>(row_ * (together + 1)));
  to_ = plan_->values.get();
  from_ = to_ + row_;
  const OwnWisdom own;
  plan_->plan = fftw_plan_dft_1d(static_cast<int>(n), reinterpret_cast<fftw_complex*>(from_),
                                 reinterpret_cast<fftw_complex*>(to_), FFTW_FORWARD, flag_of(rigour));
  plan_->require(n);
}
ComplexLines::~ComplexLines() = default;
ComplexLines::ComplexLines(ComplexLines&&) noexcept = default;
ComplexLines& ComplexLines::operator=(ComplexLines&&) noexcept = default;
void ComplexLines::transform(Index lines) noexcept {
  for (Index line = 0; line < lines; ++line) {
    fftw_execute_dft(plan_->plan, reinterpret_cast<fftw_complex*>(from_ + line * row_),
                     reinterpret_cast<fftw_complex*>(to_ + line * row_));
  }
}

}  // namespace sidestream::spectra
