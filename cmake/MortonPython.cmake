# SPDX-License-Identifier: Apache-2.0
# The Python package `morton`: its module _native, and the folder python/morton beside it.
if(NOT Python_EXECUTABLE AND EXISTS /usr/bin/python3)
  # The one that Debian's NumPy and pytest belong to.
  set(Python_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
# PyPI's pybind11 says where it is; Debian's is found anyway.
execute_process(COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir
                OUTPUT_VARIABLE pybind11_hint OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(pybind11 CONFIG REQUIRED HINTS ${pybind11_hint})

file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/bindings/*.cpp)
pybind11_add_module(morton_python NO_EXTRAS ${python_sources})
morton_unity(morton_python)
# The package in the build folder is the one of the sources, beside the module.
set_target_properties(morton_python PROPERTIES
  OUTPUT_NAME _native LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/morton)
target_include_directories(morton_python PRIVATE ${generated_include})
target_link_libraries(morton_python PRIVATE morton morton_flags)
file(GLOB_RECURSE python_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python
     ${PROJECT_SOURCE_DIR}/python/morton/*.py ${PROJECT_SOURCE_DIR}/python/morton/*.pyi
     ${PROJECT_SOURCE_DIR}/python/morton/py.typed)
foreach(file IN LISTS python_files)
  configure_file(${PROJECT_SOURCE_DIR}/python/${file} ${PROJECT_BINARY_DIR}/python/${file} COPYONLY)
endforeach()

if(MORTON_TESTS)
  set(test_cache ${PROJECT_BINARY_DIR}/Testing/cache/python)
  add_test(NAME python_package
           COMMAND ${Python_EXECUTABLE} -m pytest -q -p no:cacheprovider ${PROJECT_SOURCE_DIR}/tests/python)
  set_tests_properties(python_package PROPERTIES COST 100 ENVIRONMENT
    "PYTHONPATH=${PROJECT_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1;MORTON_CACHE_DIR=${test_cache}/morton;POCL_CACHE_DIR=${test_cache}/pocl;${MORTON_TEST_ENVIRONMENT};${MORTON_QUICK_KERNELS}")

  # What a reader types who follows the first of docs/tutorials; ./dev check --long follows all of them.
  if(NOT MORTON_SANITIZE)
    add_test(NAME tutorials COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tests/docs/check_tutorials.py
                                    ${PROJECT_BINARY_DIR} ${Python_EXECUTABLE}
                                    first_result_cpp first_result_c first_result_python)
    set_tests_properties(tutorials PROPERTIES TIMEOUT 600 ENVIRONMENT "${MORTON_TEST_ENVIRONMENT}")
  endif()

  # The examples that use the package.
  if(NOT MORTON_SANITIZE)
    set(python_example ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_BINARY_DIR}/python ${Python_EXECUTABLE} -B)
    set(examples ${PROJECT_SOURCE_DIR}/examples)
    morton_example_test(python_classify ${python_example} ${examples}/python_classify/main.py)
    set_tests_properties(example_python_classify PROPERTIES PASS_REGULAR_EXPRESSION
      "digit_0[.]png: zero 99[.].*digit_7[.]png: seven 99[.].*digit_9[.]png: nine 99[.].*10 pictures in")
    morton_example_test(python_frames ${python_example} ${examples}/python_frames/main.py 100)
    set_tests_properties(example_python_frames PROPERTIES PASS_REGULAR_EXPRESSION
      "in_turns .* frames a second.*meanwhile .* frames a second.*shown: 0 1 2 3 4\n")
    # Skipped, with the reason, where this Python has no package silero-vad.
    morton_example_test(python_speech sh -c "
      \"$0\" -c '__import__(\"sys\").exit(__import__(\"importlib.util\").util.find_spec(\"silero_vad\") is None)' || {
        echo \"$1:1: Skipped\" && echo 'not installed: silero-vad (pip install --no-deps silero-vad)' && exit 77
      }
      PYTHONPATH=${PROJECT_BINARY_DIR}/python exec \"$0\" -B \"$1\""
      ${Python_EXECUTABLE} ${examples}/python_speech/main.py)
    set_tests_properties(example_python_speech PROPERTIES SKIP_RETURN_CODE 77 PASS_REGULAR_EXPRESSION
      "^speech from 0[.]99 to 3[.]20 s\n4[.]00 s of sound")
    # Skipped where this Python has no Ray.
    add_test(NAME example_python_ray COMMAND ${Python_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/python/check_ray.py
                                             ${PROJECT_BINARY_DIR}/python)
    set_tests_properties(example_python_ray PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 ENVIRONMENT "${MORTON_TEST_ENVIRONMENT}")
    # Before and after: digits 0 to 4, 5 to 9, all.
    morton_example_test(personalise ${python_example} ${examples}/personalise/main.py)
    set_tests_properties(example_personalise PROPERTIES PASS_REGULAR_EXPRESSION
      "before +99[.].% +0[.]0% +52[.].%.*after +(8[5-9]|9.)[.].% +(8[3-9]|9.)[.].% +(8[5-9]|9.)[.].%")
  endif()
  # These write a network by the package onnx.
  if(NOT no_onnx AND NOT MORTON_SANITIZE)
    morton_example_test(python_speech_loudness ${python_example} ${examples}/python_speech/main.py --loudness)
    set_tests_properties(example_python_speech_loudness PROPERTIES
      PASS_REGULAR_EXPRESSION "^speech from 1[.]09 to 3[.]20 s\n4[.]00 s of sound")
    morton_example_test(python_train ${python_example} ${examples}/python_train/main.py)
    set_tests_properties(example_python_train PROPERTIES
      PASS_REGULAR_EXPRESSION "(4[5-9][0-9]|500) of 500 points are in the right ring")
  endif()

  # The site and its links, without a browser; skipped, with the reason, where what makes it is missing.
  if(NOT MORTON_SANITIZE)
    add_test(NAME site COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tools/site/build.py
                               ${PROJECT_BINARY_DIR}/Testing/site)
    set_tests_properties(site PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77 ENVIRONMENT
      "PYTHONPATH=${PROJECT_BINARY_DIR}/python;${MORTON_TEST_ENVIRONMENT}")
  endif()
endif()

# What a wheel holds beside the package's own files; no part of an installation for other languages.
install(TARGETS morton_python LIBRARY DESTINATION morton COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS morton_compile RUNTIME DESTINATION morton/libexec/morton COMPONENT python EXCLUDE_FROM_ALL)
