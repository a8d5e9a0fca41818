// libfuse's low-level API, in the version that we are written against. Newer parts of the library
// are used behind FUSE_VERSION checks. Only files in fuse/ include this.

#ifndef MDVOL_FUSE_LIBFUSE_H_
#define MDVOL_FUSE_LIBFUSE_H_

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#endif  // MDVOL_FUSE_LIBFUSE_H_
