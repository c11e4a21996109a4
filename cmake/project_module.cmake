# project_module(NAME DEPS a b LIBS x y): the static library of one folder and its unit tests.
#
# NAME is the folder, e.g. wire/protocol; the library is called wire_protocol. Sources are every .cc below the folder that
# no nested module owns. Tests are tests/unit/NAME/*_test.cc in one program, wire_protocol_test.
set(EVENKEEL_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
    -Wimplicit-fallthrough -Werror=unused-result -Werror=return-type -Wno-missing-field-initializers)

function(project_module name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS;EXCLUDE" ${ARGN})
  string(REPLACE "/" "_" target ${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cc)
  foreach(folder ${ARG_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_SOURCE_DIR}/${folder}/")
  endforeach()
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
  target_compile_options(${target} PRIVATE ${EVENKEEL_WARNINGS})
  set(libraries)
  foreach(dep ${ARG_DEPS})
    string(REPLACE "/" "_" dep_target ${dep})
    list(APPEND libraries ${dep_target})
  endforeach()
  target_link_libraries(${target} PUBLIC ${libraries} ${ARG_LIBS})

  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/${name}/*_test.cc)
  foreach(folder ${ARG_EXCLUDE})
    list(FILTER tests EXCLUDE REGEX "^${CMAKE_SOURCE_DIR}/tests/unit/${folder}/")
  endforeach()
  if(tests AND NOT EVENKEEL_FUZZ)
    find_package(GTest REQUIRED)
    add_executable(${target}_test ${tests})
    target_compile_options(${target}_test PRIVATE ${EVENKEEL_WARNINGS})
    target_link_libraries(${target}_test PRIVATE ${target} GTest::gtest GTest::gmock GTest::gtest_main)
    add_test(NAME ${target}_test COMMAND ${target}_test)
    set_tests_properties(${target}_test PROPERTIES LABELS unit TIMEOUT 300)
  endif()
endfunction()
