/* Result codes, element types, positions, orders and roles: the numbers that calls of sidestream.h take and return. */
#ifndef SIDESTREAM_CODES_H
#define SIDESTREAM_CODES_H

enum {
  SIDESTREAM_OK = 0,
  SIDESTREAM_ERROR_USAGE = 1,         /* wrong arguments, or a call at the wrong moment */
  SIDESTREAM_ERROR_CONFIGURATION = 2, /* the configuration is missing, unreadable or wrong */
  SIDESTREAM_ERROR_FULL = 3,          /* no room in the buffer, now or ever, for this iteration */
  SIDESTREAM_ERROR_ANALYSIS = 4,      /* an analysis or writer failed on a server (`on_error: stop`) */
  SIDESTREAM_ERROR_FILE = 5,
  SIDESTREAM_ERROR_SYSTEM = 6,  /* the operating system or MPI refused something */
  SIDESTREAM_REFUSED = 7,       /* this iteration is dropped: no room (`when_full: skip`), no servers (`sidecar`), or a
                                 * call in it failed. This is not an error of the program, which can continue;
                                 * sidestream_message says why */
  SIDESTREAM_ERROR_INTERNAL = 8 /* a bug in Sidestream */
};

/* True if a code is an error. A refusal is not: the simulation continues, and the side stream lacks that iteration. */
#define SIDESTREAM_FAILED(code) ((code) != SIDESTREAM_OK && (code) != SIDESTREAM_REFUSED)

/* Element types; the values are those of sidestream::Type. */
typedef enum {
  SIDESTREAM_INT8 = 0,
  SIDESTREAM_INT16 = 1,
  SIDESTREAM_INT32 = 2,
  SIDESTREAM_INT64 = 3,
  SIDESTREAM_UINT8 = 4,
  SIDESTREAM_UINT16 = 5,
  SIDESTREAM_UINT32 = 6,
  SIDESTREAM_UINT64 = 7,
  SIDESTREAM_FLOAT32 = 8,
  SIDESTREAM_FLOAT64 = 9
} sidestream_type;

/* The sidestream_type of the numbers that a pointer points to, where the compiler knows C11. */
#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
/* clang-format off */
#define SIDESTREAM_TYPE_OF(pointer)                                             \
  _Generic(*(pointer),                                                          \
    char: SIDESTREAM_INT8,                                                      \
    signed char: SIDESTREAM_INT8,                                               \
    short: SIDESTREAM_INT16,                                                    \
    int: SIDESTREAM_INT32,                                                      \
    long: sizeof(long) == 8 ? SIDESTREAM_INT64 : SIDESTREAM_INT32,              \
    long long: SIDESTREAM_INT64,                                                \
    unsigned char: SIDESTREAM_UINT8,                                            \
    unsigned short: SIDESTREAM_UINT16,                                          \
    unsigned int: SIDESTREAM_UINT32,                                            \
    unsigned long: sizeof(long) == 8 ? SIDESTREAM_UINT64 : SIDESTREAM_UINT32,   \
    unsigned long long: SIDESTREAM_UINT64,                                      \
    float: SIDESTREAM_FLOAT32,                                                  \
    double: SIDESTREAM_FLOAT64)
/* clang-format on */
#endif

/* The positions of the values. There is a bit for each axis (1: x, 2: y, 4: z). It is set if points lie at the nodes of
 * that axis, and clear if they lie midway between two nodes. x-faces are normal to x, x-edges run along x. Axes that
 * the mesh does not use are left out: NODE on a 2-D mesh adds a point only along x and along y. */
typedef enum {
  SIDESTREAM_CELL = 0,
  SIDESTREAM_X_FACE = 1,
  SIDESTREAM_Y_FACE = 2,
  SIDESTREAM_Z_EDGE = 3,
  SIDESTREAM_Z_FACE = 4,
  SIDESTREAM_Y_EDGE = 5,
  SIDESTREAM_X_EDGE = 6,
  SIDESTREAM_NODE = 7
} sidestream_centering;

/* The index that runs fastest: COLUMN is i (Fortran a(i,j,k), C a[k][j][i]), ROW is k (C a[i][j][k]). */
typedef enum { SIDESTREAM_COLUMN = 0, SIDESTREAM_ROW = 1 } sidestream_order;

/* The role of a variable for its mesh. Arrays with the positions of the mesh are variables of the mesh. They are
 * published like other variables (once, if they do not vary in time) and come along with everything that an analysis
 * asks for. Whole numbers in them count the points of the block from 0. */
typedef enum {
  SIDESTREAM_COORDINATES = 1,  /* for each point, `dimensions` components; float32 or float64 */
  SIDESTREAM_CONNECTIVITY = 2, /* the points of the cells, one cell after the other; `corners` entries */
  SIDESTREAM_OFFSETS = 3,      /* for each cell: where its points end in the connectivity */
  SIDESTREAM_TYPES = 4,        /* for each cell: its type, with VTK's numbers; uint8 */
  SIDESTREAM_FACES = 5, /* for polyhedra: number of faces, then for each face its number of points and the points;
                           `faces` entries */
  SIDESTREAM_FACE_OFFSETS = 6, /* for each cell: where its faces end, -1 for other cells */
  SIDESTREAM_POINT_IDS = 7,    /* for each point: a number that is the same wherever the point occurs */
  SIDESTREAM_CELL_IDS = 8,     /* likewise for each cell */
  SIDESTREAM_POINT_GHOSTS = 9, /* for each point: other than 0, it counts in another block; uint8 */
  SIDESTREAM_CELL_GHOSTS = 10, /* likewise for each cell */
  SIDESTREAM_REFINED = 11,     /* for each cell of a tree: other than 0, it is refined; uint8 */
  SIDESTREAM_OWNED = 12        /* for each cell of a tree: 0, it counts in another block; uint8 */
} sidestream_role;

#endif
