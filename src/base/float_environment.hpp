// The floating-point environment that analyses run in.
#pragma once

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace sidestream {

/// Round to nearest, denormals kept, no traps, for the lifetime of the object; then what the program had. Simulations
/// built with -ffast-math flush denormals in the whole process: results would differ between placements without this.
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
