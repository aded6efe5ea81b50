# SPDX-License-Identifier: Apache-2.0
# Tests, examples and benchmarks, each globbed by folder.
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)

# Kernels are compiled and run by PoCL where there is no GPU; this makes it the same everywhere.
set(MORTON_TEST_ENVIRONMENT POCL_MAX_PTHREAD_COUNT=2 POCL_AFFINITY=1 POCL_MEMORY_LIMIT=2 MORTON_BACKGROUND=off)
# For tests of what is around kernels: PoCL compiles them in half the time where it does not optimise.
set(MORTON_QUICK_KERNELS POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable)
# Of one entry, at most.
set(MORTON_SUITE_SECONDS 900)
if(MORTON_SANITIZE)
  set(MORTON_SUITE_SECONDS 3600)
  list(APPEND MORTON_TEST_ENVIRONMENT ${MORTON_QUICK_KERNELS})
endif()
if(MORTON_SANITIZE STREQUAL "address")
  set(suppressions ${PROJECT_SOURCE_DIR}/tools/lsan_suppressions.txt)
  # GCC 12's runtime takes glibc's blocks of thread-local memory for other ones, and reads wild addresses at the end. A
  # kernel that reads wild addresses on purpose ends its process by a signal, as without the runtime.
  list(APPEND MORTON_TEST_ENVIRONMENT LSAN_OPTIONS=suppressions=${suppressions}:print_suppressions=0
       ASAN_OPTIONS=intercept_tls_get_addr=0:handle_segv=0)
elseif(MORTON_SANITIZE STREQUAL "thread")
  # Code of drivers is not instrumented: their memory is theirs, their locks are seen.
  set(suppressions ${PROJECT_SOURCE_DIR}/tools/tsan_suppressions.txt)
  list(APPEND MORTON_TEST_ENVIRONMENT
       TSAN_OPTIONS=suppressions=${suppressions}:ignore_noninstrumented_modules=1:print_suppressions=0)
endif()

# Tests find the repository's files and the program by these names; relative ones make programs that
# run on another machine, in the repository's root.
set(MORTON_TEST_SOURCE_DIR ${PROJECT_SOURCE_DIR} CACHE STRING "Where tests find the repository")
set(MORTON_TEST_PROGRAM ${PROJECT_BINARY_DIR}/morton CACHE STRING "Where tests find the program")
mark_as_advanced(MORTON_TEST_SOURCE_DIR MORTON_TEST_PROGRAM)

# What tests share: cases, test data, the comparison. Knows the host half only.
file(GLOB support_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.cpp)
add_library(morton_test_support OBJECT ${support_sources})
target_include_directories(morton_test_support PUBLIC
  ${PROJECT_SOURCE_DIR}/tests $<TARGET_PROPERTY:morton_host,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(morton_test_support PRIVATE morton_flags)

# morton_test_executable(name folder LIBRARY...)
#
# One executable for the C++ files of tests/<folder>, if there are any. ctest shows one entry per
# GoogleTest suite, listed when ctest starts (cmake/GTestSuites.cmake.in). Each entry has folders of
# its own for PoCL's cache and Morton's, which each run of ctest starts empty.
function(morton_test_executable name folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  morton_unity(${name})
  target_compile_options(${name} PRIVATE -isystem${MORTON_ONNX_DIR})
  target_compile_definitions(${name} PRIVATE MORTON_SOURCE_DIR="${MORTON_TEST_SOURCE_DIR}"
                                             MORTON_PROGRAM="${MORTON_TEST_PROGRAM}")
  target_link_libraries(${name} PRIVATE morton_flags morton_test_support ${ARGN} Eigen3::Eigen
                                        GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  # Nearly all of a test's time is that of the library and of PoCL's compiler.
  target_compile_options(${name} PRIVATE -fpch-preprocess -O1)
  add_dependencies(${name} morton_onnx_header)
  if(TARGET morton_cli)
    add_dependencies(${name} morton_cli)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)

  set(test_program ${PROJECT_BINARY_DIR}/tests/${name})
  set(test_cache ${PROJECT_BINARY_DIR}/Testing/cache/${name})
  set(test_kernels "")
  if(name STREQUAL "error_tests")
    set(test_kernels ";${MORTON_QUICK_KERNELS}")
  endif()
  list(JOIN MORTON_TEST_ENVIRONMENT " " MORTON_TEST_ENVIRONMENT_WORDS)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/GTestSuites.cmake.in
                 ${PROJECT_BINARY_DIR}/generated/${name}_suites.cmake @ONLY)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES
               ${PROJECT_BINARY_DIR}/generated/${name}_suites.cmake)
endfunction()

morton_test_executable(host_tests host morton_host)
# What the command line makes of its samples, and says of a training, needs no device. Nor does
# reading what the boards' compilers print.
file(GLOB page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/pages/*.cpp)
file(GLOB board_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/tools/boards/*.cpp)
# All of `reproduce` but its command, which runs processes, and its text on the build.
file(GLOB reproduce_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/reproduce/*.cpp
     ${PROJECT_SOURCE_DIR}/cli/reproduce/answers/*.cpp)
list(FILTER reproduce_sources EXCLUDE REGEX "/(reproduce|build)[.]cpp$")
target_sources(host_tests PRIVATE ${PROJECT_SOURCE_DIR}/src/tools/inspect/layout_map.cpp
               ${PROJECT_SOURCE_DIR}/src/tools/inspect/fetched_lines.cpp
               ${PROJECT_SOURCE_DIR}/src/tools/inspect/did_you_mean.cpp
               ${PROJECT_SOURCE_DIR}/cli/common/statistics.cpp
                                  ${PROJECT_SOURCE_DIR}/cli/train/train_text.cpp ${page_sources}
                                  ${PROJECT_SOURCE_DIR}/cli/run/profile_rating.cpp
                                  ${PROJECT_SOURCE_DIR}/cli/common/output.cpp
                                  ${PROJECT_SOURCE_DIR}/cli/run/picture_output.cpp
                                  ${PROJECT_SOURCE_DIR}/cli/run/picture_boxes.cpp
                                  ${PROJECT_SOURCE_DIR}/cli/run/picture_colours.cpp
                                  ${PROJECT_SOURCE_DIR}/cli/bench/published.cpp
                                  ${reproduce_sources}
                                  ${PROJECT_SOURCE_DIR}/cli/reproduce/running/findings.cpp
                                  ${PROJECT_SOURCE_DIR}/cli/common/terminal.cpp
                                  ${PROJECT_SOURCE_DIR}/cli/common/log.cpp ${board_sources})
# How the server makes batches of requests needs none of its libraries.
target_sources(host_tests PRIVATE ${PROJECT_SOURCE_DIR}/serve/models/batch_times.cpp
                                  ${PROJECT_SOURCE_DIR}/serve/models/batching.cpp
                                  ${PROJECT_SOURCE_DIR}/serve/models/request_queue.cpp)
# The targets of fuzzing read a sample here; libFuzzer itself is for clang (MortonFuzz.cmake).
file(GLOB_RECURSE fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*.cpp)
list(FILTER fuzz_sources EXCLUDE REGEX "/fuzz/main[.]cpp$")
target_sources(host_tests PRIVATE ${fuzz_sources} ${MORTON_FUZZED_SOURCES})
target_link_libraries(host_tests PRIVATE ${MORTON_FMT} morton_spdlog)
target_include_directories(host_tests PRIVATE ${PROJECT_SOURCE_DIR}/cli ${PROJECT_SOURCE_DIR}/serve)
morton_test_executable(device_tests device morton_host morton_device morton_tools_objects)
morton_test_executable(model_tests model morton_host morton_device morton_tools_objects)
morton_test_executable(error_tests error morton_host morton_device morton_tools_objects)
morton_test_executable(plan_tests plans morton_host morton_device morton_tools_objects)

# Computes random graphs for tests/graphs/random_graphs.py (./dev check --graphs).
add_executable(graph_runner EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/graphs/graph_runner.cpp)
target_link_libraries(graph_runner PRIVATE morton_flags morton_test_support morton_host morton_device)
set_target_properties(graph_runner PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)

# Files that `morton new` writes, under ONNX's own checker where it is installed.
execute_process(COMMAND /usr/bin/python3 -c "import onnx" RESULT_VARIABLE no_onnx
                OUTPUT_QUIET ERROR_QUIET)
if(no_onnx)
  message(STATUS "python3-onnx is not installed: no test has ONNX check the files of morton new")
else()
  add_test(NAME onnx_checker
           COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tests/model/check_new.py
                   ${MORTON_TEST_PROGRAM} c18-mlp c18-cnn fashion-cnn lenet5 resnet18 resnet50
                   mobilenet_v2 squeezenet1_1 densenet121 shufflenet_v2 efficientnet_b0 unet espcn
                   tiny_yolo yolov8n)
  set_tests_properties(onnx_checker PROPERTIES TIMEOUT 300)
endif()

find_program(OCLGRIND oclgrind)
if(OCLGRIND)
  # What Oclgrind is asked to find it does find.
  add_test(NAME oclgrind_planted_defects
           COMMAND ${PROJECT_SOURCE_DIR}/tools/oclgrind.sh --planted $<TARGET_FILE:device_tests>)
endif()

# What a training writes, read by TensorBoard, safetensors and ONNX Runtime; skipped, with the reason,
# where Python lacks them.
set(MORTON_TRAINING_PYTHON python3 CACHE STRING
    "Python with tensorboard, safetensors, onnxruntime and numpy")
mark_as_advanced(MORTON_TRAINING_PYTHON)
add_test(NAME training_files
         COMMAND ${MORTON_TRAINING_PYTHON} -B
                 ${PROJECT_SOURCE_DIR}/tests/model/check_training_files.py
                 $<TARGET_FILE:host_tests>)
set_tests_properties(training_files PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77)
set(trained_cache ${PROJECT_BINARY_DIR}/Testing/cache/trained_models)
file(MAKE_DIRECTORY ${trained_cache})
add_test(NAME trained_models
         COMMAND ${MORTON_TRAINING_PYTHON} -B
                 ${PROJECT_SOURCE_DIR}/tests/model/check_trained_models.py ${MORTON_TEST_PROGRAM})
set_tests_properties(trained_models PROPERTIES
  TIMEOUT 600 SKIP_RETURN_CODE 77 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  ENVIRONMENT "${MORTON_TEST_ENVIRONMENT};MORTON_CACHE_DIR=${trained_cache};POCL_CACHE_DIR=${trained_cache}")
add_test(NAME bench_training
         COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tests/model/check_bench_training.py)
add_test(NAME bench_tables
         COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tests/model/check_bench_tables.py)

# The pages of --html in a browser without a window; skipped, with the reason, where there is none.
find_program(MORTON_CHROMIUM chromium)
mark_as_advanced(MORTON_CHROMIUM)
if(NOT MORTON_SANITIZE)
  set(pages_cache ${PROJECT_BINARY_DIR}/Testing/cache/browser_pages)
  file(MAKE_DIRECTORY ${pages_cache})
  add_test(NAME browser_pages
           COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tests/browser/check_pages.py
                   ${MORTON_TEST_PROGRAM} ${MORTON_CHROMIUM})
  set_tests_properties(browser_pages PROPERTIES
    TIMEOUT 300 SKIP_RETURN_CODE 77
    ENVIRONMENT "${MORTON_TEST_ENVIRONMENT};${MORTON_QUICK_KERNELS};MORTON_CACHE_DIR=${pages_cache};POCL_CACHE_DIR=${pages_cache}")
endif()

# ONNX's own tests of its operators, where they are installed. PoCL does not optimise their kernels,
# which it would take longer for than for all else here; ./dev check --long has them optimised.
set(MORTON_ONNX_NODE_TESTS /usr/share/libonnx-testdata/data/node CACHE PATH "ONNX's node tests")
mark_as_advanced(MORTON_ONNX_NODE_TESTS)
if(EXISTS ${MORTON_ONNX_NODE_TESTS})
  set(conformance_cache ${PROJECT_BINARY_DIR}/Testing/cache/onnx_conformance)
  add_test(NAME onnx_conformance
           COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tests/model/check_conformance.py
                   ${MORTON_TEST_PROGRAM} ${MORTON_ONNX_NODE_TESTS}
                   ${PROJECT_SOURCE_DIR}/tests/model/conformance.txt)
  set_tests_properties(onnx_conformance PROPERTIES
    TIMEOUT 1500 COST 1000
    ENVIRONMENT "${MORTON_TEST_ENVIRONMENT};MORTON_CACHE_DIR=${conformance_cache}/morton;POCL_CACHE_DIR=${conformance_cache}/pocl;${MORTON_QUICK_KERNELS}")
else()
  message(STATUS "libonnx-testdata is not installed: ONNX's tests of its operators do not run")
endif()

# The installed library, used as strangers use it.
file(GLOB public_header CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/morton/morton.hpp)
if(public_header AND NOT MORTON_SANITIZE)
  add_test(NAME install_and_consume
           COMMAND ${PROJECT_SOURCE_DIR}/tests/consumer/run.sh ${PROJECT_BINARY_DIR}
                   ${PROJECT_BINARY_DIR}/Testing/consumer)
  set(consumer_cache ${PROJECT_BINARY_DIR}/Testing/cache/consumer)
  file(MAKE_DIRECTORY ${consumer_cache})
  set_tests_properties(install_and_consume PROPERTIES
    TIMEOUT 300
    ENVIRONMENT "${MORTON_TEST_ENVIRONMENT};POCL_CACHE_DIR=${consumer_cache};MORTON_CACHE_DIR=${consumer_cache};CXX=${CMAKE_CXX_COMPILER}")
endif()

# The server, asked as clients do.
if(TARGET morton_serve)
  set(serve_cache ${PROJECT_BINARY_DIR}/Testing/cache/serve)
  file(MAKE_DIRECTORY ${serve_cache})
  foreach(part serve grpc haproxy examples)
    set(serve_test serve_${part})
    if(part STREQUAL "serve")
      set(serve_test serve)
    endif()
    add_test(NAME ${serve_test} COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tests/serve/check_${part}.py
                                        $<TARGET_FILE:morton_serve> $<TARGET_FILE:morton_cli>)
    list(APPEND serve_tests ${serve_test})
  endforeach()
  # A sample of what ./dev check --load sends.
  add_test(NAME serve_storm COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tests/serve/storm.py
                                    $<TARGET_FILE:morton_serve> $<TARGET_FILE:bench_serve_load> 20000)
  list(APPEND serve_tests serve_storm)
  set_tests_properties(${serve_tests} PROPERTIES TIMEOUT 600 SKIP_REGULAR_EXPRESSION "Skipped: "
    ENVIRONMENT "${MORTON_TEST_ENVIRONMENT};POCL_CACHE_DIR=${serve_cache}/pocl;MORTON_CACHE_DIR=${serve_cache}/morton")
endif()

# Training over MPI; skipped, with the reason, where there is none.
if(BUILD_SHARED_LIBS AND NOT MORTON_SANITIZE)
  set(mpi_cache ${PROJECT_BINARY_DIR}/Testing/cache/mpi)
  file(MAKE_DIRECTORY ${mpi_cache})
  add_test(NAME mpi COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tests/mpi/check_mpi.py
                            $<TARGET_FILE:morton_cli> ${PROJECT_BINARY_DIR}/libexec/morton/morton-mpi.so)
  set_tests_properties(mpi PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77
    ENVIRONMENT "${MORTON_TEST_ENVIRONMENT};POCL_CACHE_DIR=${mpi_cache}/pocl;MORTON_CACHE_DIR=${mpi_cache}/morton")
endif()

include(MortonTestsC)
include(MortonTestsFaults)
include(MortonTestsShell)

# Every folder of examples/ is one program; so is every file of bench/.
file(GLOB example_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*/main.cpp
     ${PROJECT_SOURCE_DIR}/examples/*/main.c)
foreach(source IN LISTS example_sources)
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(GET folder FILENAME name)
  add_executable(example_${name} ${source})
  target_link_libraries(example_${name} PRIVATE morton_flags morton::morton)
  file(STRINGS ${source} own_opencl REGEX "include <(morton/mirror[.]hpp|CL/cl[.]h)>")
  if(own_opencl)
    target_link_libraries(example_${name} PRIVATE OpenCL::OpenCL)
    target_compile_definitions(example_${name} PRIVATE CL_TARGET_OPENCL_VERSION=120)
  endif()
  set_target_properties(example_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  # An example without arguments runs on files of the repository, from its root.
  morton_example_test(${name} example_${name})
endforeach()
set_tests_properties(example_two_models PROPERTIES
  PASS_REGULAR_EXPRESSION "16 of 50 noisy digits are right, 49 behind the denoiser.*both on the device")
# What does not fit is refused, with both shapes.
function(morton_example_refuses test program message)
  list(JOIN ARGN " " arguments)
  add_test(NAME example_${program}_refuses_${test}
           COMMAND sh -c "$<TARGET_FILE:example_${program}> ${arguments}; echo status $?")
  set_tests_properties(example_${program}_refuses_${test} PROPERTIES
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} PASS_REGULAR_EXPRESSION "^error: ${message}.*\nstatus 1\n$"
    ENVIRONMENT "${MORTON_TEST_ENVIRONMENT};POCL_CACHE_DIR=${PROJECT_BINARY_DIR}/Testing/cache/examples;MORTON_CACHE_DIR=${PROJECT_BINARY_DIR}/Testing/cache/examples")
endfunction()
set(denoiser examples/two_models/denoiser.onnx)
set(five_classes examples/personalise/zero_to_four.onnx)
# 50 black pictures of 36x36, in MNIST's files.
set(large ${PROJECT_BINARY_DIR}/Testing/large_pictures)
file(MAKE_DIRECTORY ${large})
execute_process(COMMAND sh -c "printf '\\0\\0\\10\\3\\0\\0\\0\\62\\0\\0\\0\\44\\0\\0\\0\\44' > t10k-images-idx3-ubyte;
  head -c 64800 /dev/zero >> t10k-images-idx3-ubyte;
  printf '\\0\\0\\10\\1\\0\\0\\0\\62' > t10k-labels-idx1-ubyte; head -c 50 /dev/zero >> t10k-labels-idx1-ubyte"
  WORKING_DIRECTORY ${large} COMMAND_ERROR_IS_FATAL ANY)
morton_example_refuses(pictures two_models
  "[^\n]*: has examples of 50x1x36x36; expected u8 levels of grey pictures .1 channel., at most 32x32"
  ${denoiser} models/lenet5.onnx ${large})
morton_example_refuses(another_input two_models "DENOISER gives '[^\n]*', 50x1x32x32, and MODEL takes 'picture', 50x1x28x28"
  ${denoiser} ${five_classes})
morton_example_refuses(no_classes two_models "MODEL gives '[^\n]*', 50x1x32x32; expected f32 shares of classes"
  ${denoiser} ${denoiser})
morton_example_refuses(another_model opencl_interop "the model's 'picture' is 10x1x28x28; this program has f32 of 10x1x32x32"
  ${five_classes})
morton_example_refuses(no_device opencl_interop "there is no device whose name has 'nowhere'; those here:\n  "
  models/lenet5.onnx nowhere)
# A training of no steps is refused, with a status that says so.
foreach(steps 0 -5 many)
  add_test(NAME example_04_train_mnist_refuses_${steps}
           COMMAND sh -c "$<TARGET_FILE:example_04_train_mnist> data/mnist ${steps}; echo status $?")
  set_tests_properties(example_04_train_mnist_refuses_${steps} PROPERTIES
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    PASS_REGULAR_EXPRESSION "^error: STEPS: expected a whole number above 0, got '${steps}'\nstatus 1\n$")
endforeach()

file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
foreach(source IN LISTS bench_sources)
  cmake_path(GET source STEM name)
  # Planning and adding gradients up lie behind the public headers.
  set(measured morton::morton)
  if(name STREQUAL planning)
    set(measured morton_host)
  elseif(name STREQUAL exchange)
    set(measured morton_host morton_device)
  endif()
  add_executable(bench_${name} ${source})
  target_link_libraries(bench_${name} PRIVATE morton_flags ${measured} Eigen3::Eigen
                                              benchmark::benchmark)
  set_target_properties(bench_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endforeach()

# gemmlowp as a library that `morton bench gemm --peer gemmlowp` loads (libgemmlowp-dev).
find_path(MORTON_GEMMLOWP_INCLUDE_DIR gemmlowp/public/gemmlowp.h)
mark_as_advanced(MORTON_GEMMLOWP_INCLUDE_DIR)
if(MORTON_GEMMLOWP_INCLUDE_DIR AND NOT MORTON_STATIC)
  add_library(morton_gemmlowp MODULE ${PROJECT_SOURCE_DIR}/bench/peers/gemmlowp_product.cpp)
  target_include_directories(morton_gemmlowp SYSTEM PRIVATE ${MORTON_GEMMLOWP_INCLUDE_DIR})
  target_link_libraries(morton_gemmlowp PRIVATE morton_flags Threads::Threads)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    target_compile_options(morton_gemmlowp PRIVATE -mavx2)
    target_compile_definitions(morton_gemmlowp PRIVATE GEMMLOWP_ENABLE_AVX2)
  endif()
  set_target_properties(morton_gemmlowp PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endif()
