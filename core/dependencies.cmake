# Finds what the libraries of core/ link with. Included by the build and, installed beside
# mdvolConfig.cmake, by whoever embeds core. Makes: absl::*, tomlplusplus::tomlplusplus, isal::isal,
# PkgConfig::liburing. What is missing ends the configuration with the name of its Debian package.

# mdvol_require_pkg_config(DEBIAN_PACKAGE MODULE): target PkgConfig::MODULE.
function(mdvol_require_pkg_config debian_package module)
  find_package(PkgConfig QUIET)
  if(NOT PKG_CONFIG_FOUND)
    message(FATAL_ERROR "pkg-config was not found: install the Debian package pkg-config")
  endif()
  pkg_check_modules(${module} QUIET IMPORTED_TARGET GLOBAL ${module})
  if(NOT ${module}_FOUND)
    message(FATAL_ERROR "${module} was not found: install the Debian package ${debian_package}")
  endif()
endfunction()

find_package(absl QUIET)
if(NOT absl_FOUND)
  message(FATAL_ERROR "Abseil was not found: install the Debian package libabsl-dev")
endif()

find_package(tomlplusplus QUIET)
if(NOT tomlplusplus_FOUND)
  message(FATAL_ERROR "toml++ was not found: install the Debian package libtomlplusplus-dev")
endif()

mdvol_require_pkg_config(liburing-dev liburing)

if(NOT TARGET isal::isal)
  find_path(ISAL_INCLUDE_DIR isa-l/erasure_code.h)
  find_library(ISAL_LIBRARY isal)
  mark_as_advanced(ISAL_INCLUDE_DIR ISAL_LIBRARY)
  if(NOT ISAL_INCLUDE_DIR OR NOT ISAL_LIBRARY)
    message(FATAL_ERROR "ISA-L was not found: install the Debian package libisal-dev")
  endif()
  add_library(isal::isal UNKNOWN IMPORTED GLOBAL)
  set_target_properties(isal::isal PROPERTIES
    IMPORTED_LOCATION ${ISAL_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${ISAL_INCLUDE_DIR})
endif()
