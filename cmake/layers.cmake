# One interface target carries the flags that every target of ours is compiled with, and
# cupel_layer() makes a static library that exports its own folder and nothing else.

find_package(PkgConfig REQUIRED)
if(CUPEL_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a) # what pkg_check_modules looks for
endif()

add_library(cupel_flags INTERFACE)
target_compile_definitions(cupel_flags INTERFACE _GNU_SOURCE)
target_compile_options(
  cupel_flags
  INTERFACE -Wall -Wextra -Werror -Wshadow -Wcast-qual -Wvla -Wundef -Wformat=2 -Wno-format-nonliteral
            $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
            # the oracle's error bounds hold for IEEE arithmetic, operation by operation
            -ffp-contract=off -fno-math-errno)
if(CUPEL_SANITIZE)
  target_compile_options(cupel_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                                               -fno-omit-frame-pointer)
  target_link_options(cupel_flags INTERFACE -fsanitize=address,undefined)
  if(CMAKE_C_COMPILER_ID MATCHES Clang)
    # loops that ask to be vectorised cannot be under the sanitizers
    target_compile_options(cupel_flags INTERFACE -Wno-pass-failed)
    # coverage of our own libraries for the fuzz targets of tests/fuzz; programs without libFuzzer ignore it
    target_compile_options(cupel_flags INTERFACE -fsanitize=fuzzer-no-link)
  endif()
endif()

# cupel_layer(name SOURCES ... USES lower layers and libraries ...)
function(cupel_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;USES" ${ARGN})
  add_library(${name} STATIC ${LAYER_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${LAYER_USES} PRIVATE cupel_flags)
  set_property(GLOBAL APPEND PROPERTY CUPEL_LAYERS ${name})
  if(CUPEL_SANITIZE)
    # shows that the sanitizers cover this library: tests/unit/project
    configure_file(${CMAKE_SOURCE_DIR}/cmake/canary.c.in ${CMAKE_CURRENT_BINARY_DIR}/canary_${name}.c @ONLY)
    target_sources(${name} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/canary_${name}.c)
  endif()
endfunction()

# cupel_test(name SOURCES ... USES ... [LABELS short|long|gpu ...] [ARGS ...]): a cmocka program under ctest.
function(cupel_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;USES;LABELS;ARGS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_USES} cmocka m cupel_flags)
  add_test(NAME ${name} COMMAND ${name} ${TEST_ARGS})
  if(NOT TEST_LABELS)
    set(TEST_LABELS short)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}")
endfunction()
