# SPDX-License-Identifier: GPL-2.0-or-later
# Writes what `stapgen --version` says of the build: cmake -DSOURCE=DIR -DVERSION=V -DCOMPILER=C -DOUT=FILE.cpp -P this
# It runs at every build, and leaves the file alone where nothing has changed.
function(git_says variable)
  execute_process(COMMAND git -C ${SOURCE} ${ARGN} OUTPUT_VARIABLE text ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE code)
  if(code)
    set(text "")
  endif()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

set(revision unknown)
string(TIMESTAMP date "%Y-%m-%d" UTC)  # of $SOURCE_DATE_EPOCH where that is set
# An archive of the source has it written there (.gitattributes).
file(STRINGS ${SOURCE}/scripts/revision archived)
if(archived MATCHES "^([0-9a-f]+) ([0-9-]+)$")
  string(SUBSTRING ${CMAKE_MATCH_1} 0 12 revision)
  if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
    set(date ${CMAKE_MATCH_2})
  endif()
endif()
# A tarball unpacked in another repository is not of it.
git_says(prefix rev-parse --show-prefix)
git_says(commit rev-parse --short=12 HEAD)
if(commit AND prefix STREQUAL "")
  set(revision ${commit})
  git_says(changes status --porcelain --untracked-files=no)
  if(changes)
    string(APPEND revision ", dirty")
  endif()
  if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
    git_says(date log -1 --format=%cs)
  endif()
endif()

# As recipe_hash() of src/cli/help/version.cpp.
file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${SOURCE} ${SOURCE}/tapsets/* ${SOURCE}/templates/*)
list(APPEND files workarounds.toml)
list(SORT files)
set(sums "")
foreach(file IN LISTS files)
  file(SHA256 ${SOURCE}/${file} sum)
  string(APPEND sums "${sum}  ${file}\n")
endforeach()
string(SHA256 recipes "${sums}")

file(CONFIGURE OUTPUT ${OUT} CONTENT [[
#include "base/build_facts.h"

namespace stapgen::base {

const BuildFacts build_facts{"@VERSION@", "@revision@", "@COMPILER@", "@date@",
                             "@recipes@"};

}  // namespace stapgen::base
]] @ONLY)
