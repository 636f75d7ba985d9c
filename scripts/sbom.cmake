# SPDX-License-Identifier: GPL-2.0-or-later
# Writes what is in the static program, as SPDX 2.3: cmake -D SOURCE=DIR -D BUILD=DIR -D VERSION=V -P this
# It goes by what the linker has taken (its map) and by the headers that the compiler has read (its depfiles), of the
# Debian packages that these files are of. BUILD/static/stapgen.spdx.json
cmake_minimum_required(VERSION 3.25)
set(program ${BUILD}/static/stapgen)

function(lines variable)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE "\n" ";" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# Archives of which a member is linked, and what the compiler adds (crt1.o).
lines(linked sed -n -E -e "s,^([^ (]+[.]a)[(].*,\\1,p" -e "s,^LOAD (/[^ ]+[.]o)$,\\1,p" ${program}.map)
list(REMOVE_DUPLICATES linked)
list(FILTER linked INCLUDE REGEX "^/")  # those of this build are relative
lines(headers sh -c "find '${BUILD}/src' -name '*.d' -exec cat {} + | grep -oE ' /usr/[^ ]+' | sort -u")
if(NOT linked OR NOT headers)
  message(FATAL_ERROR "no ${program}.map, or no depfiles below ${BUILD}/src")
endif()

# packages_of(VARIABLE FILE...): of which packages the files are.
function(packages_of variable)
  set(files "")
  foreach(file IN LISTS ARGN)
    string(STRIP "${file}" file)
    file(REAL_PATH "${file}" file)
    list(APPEND files ${file})
  endforeach()
  list(REMOVE_DUPLICATES files)
  # Debian 12's dpkg knows some of them below /lib.
  string(REGEX REPLACE "(^|;)/usr/lib/" "\\1/lib/" others "${files}")
  execute_process(COMMAND dpkg-query -S ${files} ${others} OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCHALL "[^\n]+" rows "${text}")
  set(known "")
  set(packages "")
  foreach(row IN LISTS rows)
    if(row MATCHES "^([^ ]+): (/.*)$")
      list(APPEND packages ${CMAKE_MATCH_1})
      string(REGEX REPLACE "^/lib/" "/usr/lib/" path "${CMAKE_MATCH_2}")
      list(APPEND known ${path})
    endif()
  endforeach()
  list(REMOVE_ITEM files ${known})
  list(FILTER files EXCLUDE REGEX "^${BUILD}/")
  if(files)
    message(FATAL_ERROR "of no Debian package: ${files}")
  endif()
  list(REMOVE_DUPLICATES packages)
  list(SORT packages)
  set(${variable} "${packages}" PARENT_SCOPE)
endfunction()

packages_of(linked_packages ${linked})
packages_of(header_packages ${headers})
list(REMOVE_ITEM header_packages ${linked_packages})

file(STRINGS ${SOURCE}/packaging/licences.txt licences REGEX "^[^#]")
function(licence_of name)
  foreach(row IN LISTS licences)
    if(row MATCHES "^([^\t]+)\t([^\t]+)\t" AND CMAKE_MATCH_1 STREQUAL name)
      set(licence "${CMAKE_MATCH_2}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "packaging/licences.txt has no licence of ${name}")
endfunction()

# add(NAME VERSION SOURCE SOURCE_TEXT PURL SUPPLIER RELATION)
set(packages "")
set(relations "")
function(add name version source source_text purl supplier relation)
  licence_of(${source})
  string(REGEX REPLACE "[^A-Za-z0-9.-]" "-" id "SPDXRef-${name}")
  string(APPEND packages ",
    {\"SPDXID\": \"${id}\", \"name\": \"${name}\", \"versionInfo\": \"${version}\", \"supplier\": \"${supplier}\",
     \"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false, \"sourceInfo\": \"${source_text}\",
     \"licenseConcluded\": \"${licence}\", \"licenseDeclared\": \"${licence}\", \"copyrightText\": \"NOASSERTION\",
     \"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", \"referenceType\": \"purl\", \"referenceLocator\": \"${purl}\"}]}")
  string(APPEND relations ",
    {\"spdxElementId\": \"SPDXRef-stapgen\", \"relationshipType\": \"${relation}\", \"relatedSpdxElement\": \"${id}\"}")
  set(packages "${packages}" PARENT_SCOPE)
  set(relations "${relations}" PARENT_SCOPE)
endfunction()

foreach(relation IN ITEMS STATIC_LINK GENERATED_FROM)
  set(names ${linked_packages})
  if(relation STREQUAL GENERATED_FROM)
    set(names ${header_packages})
  endif()
  foreach(package IN LISTS names)
    lines(facts dpkg-query -W -f "\${Package}\n\${Version}\n\${Architecture}\n\${source:Package}\n\${source:Version}" ${package})
    foreach(field IN ITEMS name version architecture source source_version)
      list(POP_FRONT facts ${field})
    endforeach()
    string(REPLACE "+" "%2B" purl "pkg:deb/debian/${name}@${version}?arch=${architecture}")
    add(${name} ${version} ${source} "Debian source package ${source} ${source_version}" ${purl} "Organization: Debian" ${relation})
  endforeach()
endforeach()

file(SHA256 ${program} sum)
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND git -C ${SOURCE} log -1 --format=%ct OUTPUT_VARIABLE epoch ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE code)
  if(NOT code)
    set(ENV{SOURCE_DATE_EPOCH} ${epoch})
  endif()
endif()
string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC)
file(WRITE ${program}.spdx.json "{
  \"spdxVersion\": \"SPDX-2.3\", \"dataLicense\": \"CC0-1.0\", \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"stapgen-${VERSION}\", \"documentNamespace\": \"https://spdx.org/spdxdocs/stapgen-${VERSION}-${sum}\",
  \"creationInfo\": {\"created\": \"${created}\", \"creators\": [\"Tool: stapgen-sbom.cmake\"]},
  \"comment\": \"The statically linked stapgen. STATIC_LINK: parts of the package's libraries are in it. GENERATED_FROM: headers of the package were compiled into it.\",
  \"hasExtractedLicensingInfos\": [{\"licenseId\": \"LicenseRef-public-domain\", \"name\": \"public domain\",
    \"extractedText\": \"liblzma is in the public domain.\"}],
  \"packages\": [
    {\"SPDXID\": \"SPDXRef-stapgen\", \"name\": \"stapgen\", \"versionInfo\": \"${VERSION}\", \"packageFileName\": \"stapgen\",
     \"primaryPackagePurpose\": \"APPLICATION\", \"supplier\": \"NOASSERTION\",
     \"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false, \"checksums\": [{\"algorithm\": \"SHA256\", \"checksumValue\": \"${sum}\"}],
     \"licenseConcluded\": \"GPL-3.0-or-later\", \"licenseDeclared\": \"GPL-2.0-or-later\", \"copyrightText\": \"2026 the stapgen authors\",
     \"licenseComments\": \"stapgen's source is under GPL-2.0-or-later; with protozero's code under Apache-2.0 the whole is under GPL-3.0-or-later.\"}${packages}
  ],
  \"relationships\": [
    {\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \"relatedSpdxElement\": \"SPDXRef-stapgen\"}${relations}
  ]
}
")
