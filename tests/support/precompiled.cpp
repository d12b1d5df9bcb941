// An empty program, for which the headers are precompiled that all test programs share.
