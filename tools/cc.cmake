# tools/cc.cmake -- gorge_library() and gorge_test() for CMake; cc.bzl is the
# twin for Bazel. Both find a folder's files by pattern, so a new file needs no
# line in any build file.

# Own headers are found as "gorge/<folder>/<file>" through one link per folder.
set(GORGE_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")
file(MAKE_DIRECTORY "${GORGE_INCLUDE_DIR}/gorge")

find_program(GORGE_CCACHE ccache)
if(GORGE_IS_TOP_LEVEL AND GORGE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${GORGE_CCACHE}")
endif()

set(GORGE_WARNINGS
  -Wall -Wextra -Wpedantic -Wshadow -Wcast-qual -Wnon-virtual-dtor
  -Woverloaded-virtual -Wextra-semi -Wvla
  $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wthread-safety>
  $<$<BOOL:${GORGE_WERROR}>:-Werror>
)

if(GORGE_SANITIZE STREQUAL "address")
  set(GORGE_SANITIZE_FLAGS
    -fsanitize=address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
elseif(GORGE_SANITIZE STREQUAL "thread")
  set(GORGE_SANITIZE_FLAGS -fsanitize=thread -fno-omit-frame-pointer)
elseif(GORGE_SANITIZE)
  message(FATAL_ERROR "GORGE_SANITIZE is address, thread or empty")
endif()

# What every target of this tree is compiled with.
function(gorge_compile_options target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE ${GORGE_WARNINGS})
endfunction()

# What the library hands on to those who link it.
function(gorge_library_options target)
  gorge_compile_options(${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${GORGE_INCLUDE_DIR}>)
  if(GORGE_CHECKED)
    target_compile_definitions(${target} PUBLIC GORGE_CHECKED=1)
  endif()
  # Public inside the tree only: the installed library says nothing of it.
  target_compile_options(${target} PUBLIC
    "$<BUILD_INTERFACE:${GORGE_SANITIZE_FLAGS}>")
  target_link_options(${target} PUBLIC
    "$<BUILD_INTERFACE:${GORGE_SANITIZE_FLAGS}>")
endfunction()

# Makes a header of the top level known as "gorge/<name>".
function(gorge_header name)
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${name}"
    "${GORGE_INCLUDE_DIR}/gorge/${name}" SYMBOLIC)
endfunction()

# Adds a folder of the top level, if it exists.
function(gorge_folder name)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${name}/CMakeLists.txt")
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${name}"
      "${GORGE_INCLUDE_DIR}/gorge/${name}" SYMBOLIC)
    add_subdirectory(${name})
  endif()
endfunction()

# gorge_library(NAME folder [FOLDERS ...] [OPENS ...] [DEPS ...])
#
# Adds the sources of the current folder to the library.
#   FOLDERS  folders whose public headers it may include
#   OPENS    folders whose internal/ it may open
#   DEPS     libraries of others
function(gorge_library)
  cmake_parse_arguments(arg "" "NAME" "FOLDERS;OPENS;DEPS" ${ARGN})
  foreach(folder IN LISTS arg_FOLDERS arg_OPENS)
    get_property(known GLOBAL PROPERTY GORGE_FOLDERS)
    if(NOT folder IN_LIST known)
      message(FATAL_ERROR "${arg_NAME} may not use ${folder}, a layer above it")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY GORGE_FOLDERS ${arg_NAME})

  file(GLOB sources CONFIGURE_DEPENDS
    "${CMAKE_CURRENT_SOURCE_DIR}/*.cc"
    "${CMAKE_CURRENT_SOURCE_DIR}/internal/*.cc"
    "${CMAKE_CURRENT_SOURCE_DIR}/*.h"
    "${CMAKE_CURRENT_SOURCE_DIR}/internal/*.h")
  target_sources(gorge PRIVATE ${sources})
  target_link_libraries(gorge PUBLIC ${arg_DEPS})
endfunction()

# gorge_program(NAME name SRCS ... [DEPS ...])
function(gorge_program)
  cmake_parse_arguments(arg "" "NAME" "SRCS;DEPS" ${ARGN})
  add_executable(${arg_NAME} ${arg_SRCS})
  gorge_compile_options(${arg_NAME})
  target_link_libraries(${arg_NAME} PRIVATE ${arg_DEPS} gorge::gorge)
endfunction()

# gorge_test(NAME name SRCS ... [DEPS ...] [ARGS ...])
#
# One program, registered as one test. What GoogleTest reports goes to
# <build>/reports/<name>.xml, where tools/count_tests.py adds it up.
function(gorge_test)
  cmake_parse_arguments(arg "" "NAME" "SRCS;DEPS;ARGS" ${ARGN})
  gorge_program(NAME ${arg_NAME} SRCS ${arg_SRCS} DEPS ${arg_DEPS})
  if(NOT arg_ARGS)
    set(arg_ARGS "--gtest_output=xml:${PROJECT_BINARY_DIR}/reports/${arg_NAME}.xml")
  endif()
  add_test(NAME ${arg_NAME} COMMAND ${arg_NAME} ${arg_ARGS})
  gorge_test_properties(${arg_NAME})
endfunction()

# gorge_script_test(NAME name COMMAND ...): runs a command at the top level.
function(gorge_script_test)
  cmake_parse_arguments(arg "" "NAME" "COMMAND" ${ARGN})
  add_test(NAME ${arg_NAME} COMMAND ${arg_COMMAND}
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  gorge_test_properties(${arg_NAME})
endfunction()

function(gorge_test_properties name)
  set_tests_properties(${name} PROPERTIES
    TIMEOUT 300
    ENVIRONMENT "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tools/tsan.supp;UBSAN_OPTIONS=print_stacktrace=1")
endfunction()
