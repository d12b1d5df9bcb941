/* The version of Sidestream, as numbers and as text. */
#ifndef SIDESTREAM_VERSION_H
#define SIDESTREAM_VERSION_H

#define SIDESTREAM_VERSION_MAJOR 0
#define SIDESTREAM_VERSION_MINOR 1
#define SIDESTREAM_VERSION_PATCH 0
#define SIDESTREAM_VERSION "0.1.0"

#endif
