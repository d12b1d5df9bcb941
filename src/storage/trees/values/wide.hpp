// Loops that processors with wider registers have in a version of their own.
#pragma once

/// In front of a function: compiled for the baseline and for two later levels of x86-64, of which the widest that the
/// processor has is called. All three do the same operations on the same numbers, each rounded by itself: the build
/// forbids contraction. Elsewhere (other processors, compilers that can't, sanitizers, which the choice would run ahead
/// of) there is the baseline alone.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SIDESTREAM_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SIDESTREAM_WIDE
#endif
