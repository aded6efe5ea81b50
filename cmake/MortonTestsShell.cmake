# SPDX-License-Identifier: Apache-2.0
# Tests of what is installed beside the program: manual pages and completion.
if(TARGET morton_man)
  add_test(NAME man_pages
           COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/shell/check_man_pages.py
                   ${MORTON_TEST_PROGRAM} ${man_pages})
  set_tests_properties(man_pages PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
endif()
if(TARGET morton_cli)
  add_test(NAME shell_completion
           COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tests/shell/check_completion.py
                   ${MORTON_TEST_PROGRAM} ${PROJECT_SOURCE_DIR}/cli/shell/morton.bash)
  set_tests_properties(shell_completion PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120)
endif()
