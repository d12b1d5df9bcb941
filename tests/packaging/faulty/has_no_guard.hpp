// Cannot be included twice.
inline int defined_twice() { return 1; }
