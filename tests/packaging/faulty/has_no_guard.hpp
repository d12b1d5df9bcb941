// A header that cannot be included twice.
inline int defined_twice() { return 1; }
