// Stands between core/parity and ISA-L in the test executable, and ends the process when what
// ISA-L's manual demands is not kept. On machines with AVX-512, pq_gen and xor_gen happen to bear
// other alignments than they say; on others that is a crash, which the tests would not see here.

#include <dlfcn.h>
#include <isa-l/raid.h>

#include <cstdint>
#include <span>

#include "core/base/check.h"

namespace {

using GenerateFunction = int(int vectors, int length, void** array);

GenerateFunction* NextNamed(const char* name) {
  void* const function = dlsym(RTLD_NEXT, name);
  MDVOL_CHECK(function != nullptr);
  return reinterpret_cast<GenerateFunction*>(function);
}

void CheckAligned(int vectors, void** array) {
  for (const void* const address : std::span(array, static_cast<size_t>(vectors))) {
    MDVOL_CHECK(reinterpret_cast<uintptr_t>(address) % 32 == 0);
  }
}

}  // namespace

extern "C" int pq_gen(int vects, int len, void** array) {
  static GenerateFunction* const next = NextNamed("pq_gen");
  MDVOL_CHECK(vects >= 4 && len % 32 == 0);
  CheckAligned(vects, array);
  return next(vects, len, array);
}

extern "C" int xor_gen(int vects, int len, void** array) {
  static GenerateFunction* const next = NextNamed("xor_gen");
  MDVOL_CHECK(vects >= 3);
  CheckAligned(vects, array);
  return next(vects, len, array);
}
