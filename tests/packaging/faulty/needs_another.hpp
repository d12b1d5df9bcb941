// A header that does not include what it uses.
#pragma once

inline std::int64_t forgetful() { return 1; }
