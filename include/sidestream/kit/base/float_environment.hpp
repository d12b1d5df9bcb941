// The floating-point environment of analyses.
#pragma once

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace sidestream {

/// Sets rounding to nearest, keeps denormals and disables traps for the lifetime of the object; then restores the
/// program's environment. Simulations built with -ffast-math flush denormals in the whole process. Without this class,
/// results would differ between placements.
class FloatEnvironment {
 public:
  FloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
#if defined(__x86_64__)
    control_ = _mm_getcsr();
    _mm_setcsr(0x1f80);
#endif
  }
  ~FloatEnvironment() {
#if defined(__x86_64__)
    _mm_setcsr(control_);
#endif
    std::fesetenv(&saved_);
  }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  std::fenv_t saved_;
#if defined(__x86_64__)
  unsigned control_ = 0;
#endif
};

}  // namespace sidestream
