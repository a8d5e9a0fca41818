// The order in which the kernel closes the descriptors of a process that has died: ascending.
//
// With -o auto_unmount a fusermount3 waits at a socket for the daemon's end, and then unmounts if
// the mount is dead. libfuse opens that socket before /dev/fuse; were it closed before it too, the
// mount might still look alive, and would be left behind.

#ifndef MDVOL_FUSE_CLOSED_LAST_H_
#define MDVOL_FUSE_CLOSED_LAST_H_

#include <vector>

namespace mdvol {

// The sockets that this process has open, ascending. Empty where /proc is not mounted.
std::vector<int> OpenSockets();

// Moves a descriptor, whose number nobody knows, to the highest number that is free within the
// limit. It stays where it is when there is none; errors make the order worse, and nothing else.
void CloseLast(int descriptor);

}  // namespace mdvol

#endif  // MDVOL_FUSE_CLOSED_LAST_H_
