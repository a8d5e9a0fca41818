# mdvol_script_test(NAME SCRIPT file [ARGS arg...] [TOOLS target...] [LABELS label...] [TIMEOUT seconds] [LONG seconds]
#                   [LOCKS name...] [AS_USER] [PROCESSORS n])
# Registers a test script that sources tests/support/case.sh. The first label is the kind of test, i.e. the
# folder's first component below tests/. LONG replaces TIMEOUT where MDVOL_TEST_TIMEOUT_SCALE is not 1 (the long
# forms). LOCKS: what no two tests may use at once. AS_USER: runs as an ordinary user when root starts it
# (tests/support/as_user.sh). A script that exits 77 is no skip: nothing is skipped.
function(mdvol_script_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "AS_USER" "SCRIPT;TIMEOUT;LONG;PROCESSORS" "ARGS;TOOLS;LABELS;LOCKS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SCRIPT)
    message(FATAL_ERROR "mdvol_script_test(${name}): no SCRIPT, or unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests
             OUTPUT_VARIABLE relative)
  string(REGEX REPLACE "/.*" "" kind ${relative})
  set(labels ${kind} ${arg_LABELS})
  foreach(label IN LISTS labels)
    mdvol_label_target(${label})
    add_dependencies(tests-${label} mdvol ${arg_TOOLS})
  endforeach()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(arg_LONG AND NOT MDVOL_TEST_TIMEOUT_SCALE EQUAL 1)
    set(timeout ${arg_LONG})
  else()
    math(EXPR timeout "${arg_TIMEOUT} * ${MDVOL_TEST_TIMEOUT_SCALE}")
  endif()
  if(MDVOL_SANITIZE)
    math(EXPR timeout "${timeout} * 4")
  endif()
  # The script ends itself before ctest would kill it and leave mounts behind.
  math(EXPR limit "${timeout} - 10")
  set(command bash ${CMAKE_CURRENT_SOURCE_DIR}/${arg_SCRIPT} ${arg_ARGS})
  if(arg_AS_USER)
    set(command bash ${PROJECT_SOURCE_DIR}/tests/support/as_user.sh ${command})
  endif()
  add_test(NAME ${kind}.${name} COMMAND ${command})
  set(environment MDVOL_BIN=$<TARGET_FILE:mdvol> MDVOL_TOOLS=${PROJECT_BINARY_DIR}/tests/tools
      MDVOL_SOURCE=${PROJECT_SOURCE_DIR} MDVOL_TEST_LIMIT=${limit})
  set_tests_properties(${kind}.${name} PROPERTIES
    LABELS "${labels}" TIMEOUT ${timeout} ENVIRONMENT "${environment}")
  if(arg_LOCKS)
    set_tests_properties(${kind}.${name} PROPERTIES RESOURCE_LOCK "${arg_LOCKS}")
  endif()
  if(arg_PROCESSORS)
    set_tests_properties(${kind}.${name} PROPERTIES PROCESSORS ${arg_PROCESSORS})
  endif()
endfunction()
