// Used if FFTW was not found: analyses that need it exist, and report that it is missing.
#include "cosmology/spectra/line_transform.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::spectra {
namespace {
[[noreturn]] void missing() {
  fail(Code::analysis,
       "a Fourier transform was asked of a Sidestream that was built without FFTW; build it with FFTW 3");
}
}  // namespace

struct TransformPlan {};

bool has_fourier() noexcept { return false; }

RealLine::RealLine(Index n, Rigour) : n_(n) { missing(); }
RealLine::~RealLine() = default;
RealLine::RealLine(RealLine&&) noexcept = default;
RealLine& RealLine::operator=(RealLine&&) noexcept = default;
double* RealLine::input() noexcept { return nullptr; }
const Complex* RealLine::transform() noexcept { return nullptr; }
void RealLine::transform(double*, Complex*) noexcept {}

ComplexLines::ComplexLines(Index n, Rigour) : n_(n) { missing(); }
ComplexLines::~ComplexLines() = default;
ComplexLines::ComplexLines(ComplexLines&&) noexcept = default;
ComplexLines& ComplexLines::operator=(ComplexLines&&) noexcept = default;
void ComplexLines::transform(Index) noexcept {}

}  // namespace sidestream::spectra
