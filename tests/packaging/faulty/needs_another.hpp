// Forgets to include what it uses.
#pragma once

inline std::int64_t forgetful() { return 1; }
