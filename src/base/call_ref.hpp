// A reference to a function.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>

namespace sidestream {

/// Calls a function that lives elsewhere. std::function copies, and so allocates: where memory runs out it throws
/// before the work begins, and members of a collective call that did begin would wait. The function must outlive this
/// object.
class CallRef {
 public:
  template <std::invocable F>
  requires(!std::same_as<std::remove_cvref_t<F>, CallRef>) CallRef(F&& function)
  noexcept  // NOLINT(bugprone-forwarding-reference-overload): callers pass a lambda
      : function_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* f) { static_cast<void>((*static_cast<std::remove_reference_t<F>*>(f))()); }) {}
  void operator()() const { call_(function_); }

 private:
  void* function_;
  void (*call_)(void*);
};

}  // namespace sidestream
