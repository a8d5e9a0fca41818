// The numbers 0, 1 and 2, which a caller may have closed (`mdvol … 2>&-`). What is opened next gets
// the lowest free number: a member opened as 2 would be written over by whatever anybody prints to
// standard error, and one opened as 0 or 1 lost when the daemon leaves its terminal.

#ifndef MDVOL_FUSE_STANDARD_STREAMS_H_
#define MDVOL_FUSE_STANDARD_STREAMS_H_

namespace mdvol {

// Puts /dev/null at those of the three numbers that are closed, the other way round: reading from
// standard input and writing to the others fails with EBADF as before, so that output that nobody
// can get is still told as an error. To be called before anything else is opened, and before there
// are other threads. False when it could not: then nothing may be opened.
[[nodiscard]] bool OccupyStandardStreams();

}  // namespace mdvol

#endif  // MDVOL_FUSE_STANDARD_STREAMS_H_
