# SPDX-License-Identifier: Apache-2.0
# Manual pages of the program, made from what its --help prints, and completion for shells.
set(MORTON_MAN_PAGES "" CACHE PATH
    "Folder of manual pages of another build, for one whose program cannot run on this machine")
find_package(Python3 QUIET COMPONENTS Interpreter)
set(man_pages "")
if(NOT TARGET morton_cli)
  return()
endif()
if(MORTON_MAN_PAGES)
  set(man_pages ${MORTON_MAN_PAGES})
  if(NOT EXISTS ${man_pages}/morton.1)
    message(FATAL_ERROR "MORTON_MAN_PAGES: there is no morton.1 in ${man_pages}")
  endif()
elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "No manual pages: the program cannot run here; MORTON_MAN_PAGES names those of another build")
elseif(NOT Python3_Interpreter_FOUND OR MORTON_SANITIZE)
  message(STATUS "No manual pages: they need python3 and a build without sanitizers")
else()
  set(man_pages ${PROJECT_BINARY_DIR}/man)
  set(of_pages morton_cli)
  if(TARGET morton_serve)
    list(APPEND of_pages morton_serve)
  endif()
  add_custom_command(
    OUTPUT ${man_pages}/morton.1
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/man_pages.py ${man_pages}
            ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:morton_cli>
    DEPENDS ${PROJECT_SOURCE_DIR}/tools/man_pages.py ${of_pages}
    COMMENT "Writing manual pages" VERBATIM)
  add_custom_target(morton_man ALL DEPENDS ${man_pages}/morton.1)
endif()
if(man_pages)
  # A build of the program alone has none.
  install(DIRECTORY ${man_pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL
          FILES_MATCHING PATTERN "morton*.1")
endif()

# Completion, where bash-completion and zsh look for it.
install(FILES ${PROJECT_SOURCE_DIR}/cli/shell/morton.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME morton)
install(FILES ${PROJECT_SOURCE_DIR}/cli/shell/_morton
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
