# SPDX-License-Identifier: GPL-2.0-or-later
# Run by `cmake --install` behind everything else, with what install-folders.cmake has set: notes the prefix and the files,
# for uninstall.cmake.
if(NOT root MATCHES "/_CPack_Packages/")
  set(files "")
  if(EXISTS ${record}.files)
    file(STRINGS ${record}.files files)
    list(POP_FRONT files)
  endif()
  foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
    get_filename_component(file "$ENV{DESTDIR}${file}" ABSOLUTE)
    list(APPEND files ${file})
  endforeach()
  list(REMOVE_DUPLICATES files)
  list(JOIN files "\n" files)
  file(WRITE ${record}.files "${root}\n${files}\n")
endif()
