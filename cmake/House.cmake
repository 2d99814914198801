# House.cmake - the rules every target follows, and the lines that declare one:
#   house_library(name [PARTS patterns...] [DEPENDS libs...] [FOREIGN pkg...] [EXCLUDE files...])
#                                                    every .c of the folder, or what the patterns name
#   house_program(name SOURCES files... DEPENDS libs...)
#   house_texts(target NAME files.txt...)            text files in it, as the table NAME of base/text.h
#   house_test(test_x.c [DEPENDS libs...] [PARTS suites...] [UNSANITIZED cases...] [KEEPS_FREED])
#                                                    a Criterion test; its ctest name is its path
#   house_fuzz(fuzz_x.c [DEPENDS libs...])           a libFuzzer target, in builds with -DHOUSE_FUZZ=ON

include(GNUInstallDirs)
find_package(PkgConfig REQUIRED)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, RelWithDebInfo or Release" FORCE)
endif()
option(HOUSE_WERROR "Treat warnings as errors (on in CI)" OFF)
set(HOUSE_SANITIZE "" CACHE STRING "Sanitizers for every target, for example address,undefined or thread")

option(HOUSE_FUZZ "Build the fuzz targets, and everything instrumented for them (clang only)" OFF)
set(HOUSE_FUZZ_SECONDS 60 CACHE STRING "How long ctest runs each fuzz target")

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
# What is built carries the RUNPATH of what is installed: the absolute folders of the linked libraries. Otherwise
# CMake pads the build's RUNPATH with ':', and an empty entry makes the loader look in the current folder.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

add_library(house_flags INTERFACE)
target_compile_definitions(house_flags INTERFACE
  _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE HEDGEROW_VERSION="${PROJECT_VERSION}")
target_compile_options(house_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wcast-align -Wcast-qual -Wconversion -Wformat=2 -Wmissing-prototypes
  -Wshadow -Wstrict-prototypes -Wswitch-enum -Wundef -Wvla -Wwrite-strings
  $<$<BOOL:${HOUSE_WERROR}>:-Werror>
  -fstack-protector-strong -fno-omit-frame-pointer
  $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
target_link_options(house_flags INTERFACE -Wl,-z,relro,-z,now)
# 300 test programs are linked in a fifth of the time. What is installed is linked by the compiler's own linker, in every build.
find_program(HOUSE_LLD ld.lld)
if(HOUSE_LLD)
  target_link_options(house_flags INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:HOUSE_INSTALLED>>>:-fuse-ld=lld>)
endif()
target_include_directories(house_flags INTERFACE "${CMAKE_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}/common")
if(HOUSE_SANITIZE)
  target_compile_options(house_flags INTERFACE
    -fsanitize=${HOUSE_SANITIZE} -fno-sanitize-recover=all -U_FORTIFY_SOURCE)
  target_link_options(house_flags INTERFACE -fsanitize=${HOUSE_SANITIZE})
endif()
if(HOUSE_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "HOUSE_FUZZ needs clang: configure with -DCMAKE_C_COMPILER=clang-14")
  endif()
  target_compile_options(house_flags INTERFACE
    -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -U_FORTIFY_SOURCE)
  target_link_options(house_flags INTERFACE -fsanitize=address,undefined)
  add_custom_target(fuzzers)
endif()

# Criterion's macros trip -Wconversion and friends; tests keep the rest of the warnings. A table's format is a literal to
# the compiler only where it optimises.
add_library(house_test_flags INTERFACE)
target_compile_options(house_test_flags INTERFACE
  -Wno-conversion -Wno-missing-prototypes -Wno-cast-qual -Wno-pedantic -Wno-missing-field-initializers
  -Wno-shadow -Wno-format-nonliteral)
# The time of a test is spent in what it tests, and its own code is not optimised: half of a test's compilation. What counts
# outcomes or draws in its own code (exhaustive, property, statistical and the rest) is optimised as far as gcc's warnings need.
add_library(house_test_plain INTERFACE)
add_library(house_test_counting INTERFACE)
if(HOUSE_SANITIZE)
  target_compile_options(house_test_plain INTERFACE -O0)
  target_compile_options(house_test_counting INTERFACE -O0)
elseif(NOT HOUSE_FUZZ AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(house_test_plain INTERFACE -O0 -U_FORTIFY_SOURCE)
  target_compile_options(house_test_counting INTERFACE -O1)
endif()

function(house_foreign target)
  foreach(package IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "pkg_${package}" id)
    if(NOT TARGET PkgConfig::${id})
      # From its cache CMake 3.25 takes -isystem for a flag, and everything that includes ZeroMQ was compiled again.
      unset(__pkg_config_checked_${id} CACHE)
      pkg_check_modules(${id} REQUIRED IMPORTED_TARGET GLOBAL ${package})
    endif()
    target_link_libraries(${target} PRIVATE PkgConfig::${id})
  endforeach()
endfunction()

function(house_library name)
  cmake_parse_arguments(arg "" "" "PARTS;DEPENDS;FOREIGN;EXCLUDE" ${ARGN})
  if(NOT arg_PARTS)
    set(arg_PARTS *.c)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${arg_PARTS})
  foreach(file IN LISTS arg_EXCLUDE)
    list(REMOVE_ITEM sources "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  endforeach()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PRIVATE house_flags PUBLIC ${arg_DEPENDS})
  house_foreign(${name} ${arg_FOREIGN})
endfunction()

function(house_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;FOREIGN" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE house_flags ${arg_DEPENDS})
  house_foreign(${name} ${arg_FOREIGN})
  set_target_properties(${name} PROPERTIES HOUSE_INSTALLED ON)
  string(REGEX REPLACE "^hedgerow-?" "" component "${name}") # a package of packaging/CMakeLists.txt
  if(NOT component)
    set(component tools)
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component})
endfunction()

function(house_texts target name)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DNAME=${name} "-DFILES=${ARGN}" -P ${CMAKE_SOURCE_DIR}/cmake/Texts.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/Texts.cmake
    VERBATIM)
  add_library(${name} STATIC ${out}) # a library, as a rule's output is known in its own folder alone
  target_link_libraries(${name} PRIVATE house_flags)
  target_link_libraries(${target} PRIVATE ${name})
endfunction()

# A program's objects and libraries once more, with another definition of io/variant.h and what tests alone have. Never installed.
function(house_variant name program variant)
  get_target_property(libraries ${program} LINK_LIBRARIES)
  add_executable(${name} $<TARGET_OBJECTS:${program}> "${CMAKE_SOURCE_DIR}/tests/support/variant_${variant}.c")
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE support ${libraries})
endfunction()

# A test that reads thousands of tables keeps what it frees. Otherwise the kernel clears the pages of every reader's
# buffers anew, which takes up to nine tenths of the time. The sanitizers' allocators do not read these variables.
function(house_keeps_freed)
  set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT MALLOC_TRIM_THRESHOLD_=1073741824 MALLOC_MMAP_THRESHOLD_=33554432)
endfunction()

# The ctest name is the path without the extension: unit.common.dp.test_ledger. PARTS are suites that ctest runs as tests of
# their own, for they take long: unit.study.test_studies.survival. The test without a part's name has all other suites.
# UNSANITIZED are cases that repeat, for their figures, what other cases do: gcc's build alone runs them (docs/TESTING.md).
function(house_test source)
  cmake_parse_arguments(arg "KEEPS_FREED" "TIMEOUT" "DEPENDS;FOREIGN;LABELS;PARTS;UNSANITIZED" ${ARGN})
  file(RELATIVE_PATH name "${CMAKE_SOURCE_DIR}/tests" "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
  string(REGEX REPLACE "\\.c$" "" name "${name}")
  string(REPLACE "/" "." name "${name}")
  add_executable(${name} ${source})
  set(level house_test_counting)
  if(name MATCHES "^(unit|integration)[.]")
    set(level house_test_plain)
  endif()
  target_link_libraries(${name} PRIVATE house_flags house_test_flags ${level} ${arg_DEPENDS})
  house_foreign(${name} criterion ${arg_FOREIGN})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  target_compile_definitions(${name} PRIVATE TEST_VECTORS="${CMAKE_SOURCE_DIR}/tests/vectors")
  set(tests ${name})
  if(arg_PARTS)
    list(JOIN arg_PARTS "|" parts)
    add_test(NAME ${name} COMMAND ${name} --jobs 1 --filter "!(${parts})/*")
    foreach(part IN LISTS arg_PARTS)
      add_test(NAME ${name}.${part} COMMAND ${name} --jobs 1 --filter "${part}/*")
      list(APPEND tests ${name}.${part})
    endforeach()
  elseif(arg_UNSANITIZED AND HOUSE_SANITIZE)
    list(TRANSFORM arg_UNSANITIZED PREPEND "*/")
    list(JOIN arg_UNSANITIZED "|" cases)
    add_test(NAME ${name} COMMAND ${name} --jobs 1 --filter "!(${cases})")
  else()
    add_test(NAME ${name} COMMAND ${name} --jobs 1)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900) # ends what hangs, on the busiest machine; says nothing about how long a test takes
  endif()
  set_tests_properties(${tests} PROPERTIES TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77)
  if(arg_LABELS)
    set_tests_properties(${tests} PROPERTIES LABELS "${arg_LABELS}")
  endif()
  if("long" IN_LIST arg_LABELS)
    set_tests_properties(${tests} PROPERTIES COST 100) # long ones start first, so that none is left over at the end
  endif()
  if(arg_KEEPS_FREED)
    house_keeps_freed(${tests})
  endif()
endfunction()

# A fuzz target starts from tests/fuzz/corpus/<name>/ and leaves what it finds beside the build.
function(house_fuzz source)
  if(NOT HOUSE_FUZZ)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "DEPENDS;FOREIGN" ${ARGN})
  get_filename_component(name "${source}" NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE house_flags house_test_flags ${arg_DEPENDS})
  house_foreign(${name} ${arg_FOREIGN})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name})
  set(found "${CMAKE_BINARY_DIR}/fuzz/${name}")
  file(MAKE_DIRECTORY "${found}")
  set(corpus "${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name}")
  if(NOT EXISTS "${corpus}")
    set(corpus "")
  endif()
  add_test(NAME fuzz.${name} COMMAND ${name} -max_total_time=${HOUSE_FUZZ_SECONDS} -timeout=60
    -rss_limit_mb=2048 -print_final_stats=1 "-artifact_prefix=${found}-" "${found}" ${corpus})
  math(EXPR timeout "${HOUSE_FUZZ_SECONDS} + 1800")
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT ${timeout})
endfunction()
