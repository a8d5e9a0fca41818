// Operations: the callbacks that libfuse makes for a request, each of which asks the tree or the
// volume file and replies. The one place where a Status becomes an errno in a reply.
//
// A callback runs in the worker that received the request, from start to end, unless what it would
// write is suspended (suspension.h); replies are sent with
// no lock held (a reply may be the last use of what it replies about). Nothing here keeps state but
// the handles of open control files and folders.

#ifndef MDVOL_FUSE_OPERATIONS_H_
#define MDVOL_FUSE_OPERATIONS_H_

#include <atomic>

#include "fuse/control/suspension.h"
#include "fuse/init_extension.h"
#include "fuse/libfuse.h"
#include "fuse/tree.h"

namespace mdvol {

// The user data of the session.
struct OperationsContext {
  Tree& tree;
  bool writeback = false;                // the kernel gathers small buffered writes
  Suspension* suspension = nullptr;      // null: no write is ever suspended
  std::atomic<bool> initialized{false};  // FUSE_INIT has been answered
  // Written while FUSE_INIT is answered, before any other callback runs.
  InitExtension init_extension = {};
  bool has_parallel_direct_writes = false;
};

const fuse_lowlevel_ops& Operations();

}  // namespace mdvol

#endif  // MDVOL_FUSE_OPERATIONS_H_
