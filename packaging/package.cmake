# SPDX-License-Identifier: GPL-2.0-or-later
# The packages: cpack -G DEB in the build folder, and -G RPM where STAPGEN_STATIC is on. docs/guide/installing.md
# What is packed is what was built before: cpack does not build.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stapgen)
set(CPACK_PACKAGE_CONTACT "stapgen's maintainers <stapgen@users.noreply.example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "times and drops of packets in the kernel's network stack")
set(CPACK_PACKAGE_DESCRIPTION
"stapgen writes the SystemTap script for the kernel's network stack, runs stap
with what this machine needs, and turns the output into numbers: percentiles
per stage of every packet, where the tail comes from, drops by place and
reason, and an account of everything it saw.

It needs neither the kernel's debug information nor BTF. A recipe is compiled
where SystemTap and the kernel's headers are, and also runs where only
systemtap-runtime is. Recordings, and what other tools print, are read
anywhere.")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(changelog ${CMAKE_BINARY_DIR}/changelog.gz)
add_custom_command(OUTPUT ${changelog} DEPENDS ${CMAKE_SOURCE_DIR}/packaging/changelog
  COMMAND sh -c "gzip -9nc ${CMAKE_SOURCE_DIR}/packaging/changelog >${changelog}" VERBATIM)
add_custom_target(changelog ALL DEPENDS ${changelog})
install(FILES packaging/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)

# Debian's. It has what `cmake --install` installs, and the component debian.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_SECTION net)
# staprun is enough for exec, and report needs neither; compiling is what most want.
set(CPACK_DEBIAN_PACKAGE_DEPENDS systemtap-runtime)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS systemtap)
set(headers linux-headers-amd64)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  # cpack asks dpkg and rpm, which name this machine's.
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
  set(CPACK_RPM_PACKAGE_ARCHITECTURE aarch64)
  set(headers linux-headers-arm64)
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "${headers} | linux-headers-generic, libdebuginfod1t64 | libdebuginfod1")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
install(FILES packaging/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME stapgen
        COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${changelog} DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT debian EXCLUDE_FROM_ALL OPTIONAL)

# The one for rpm has the static program in place of the other and of share/stapgen: what is linked on Debian 12 wants
# Debian's libraries.
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_RPM_PACKAGE_LICENSE GPL-2.0-or-later)
set(CPACK_RPM_PACKAGE_GROUP Applications/Internet)
set(CPACK_RPM_PACKAGE_REQUIRES systemtap-runtime)
set(CPACK_RPM_PACKAGE_AUTOREQ OFF)
set(CPACK_RPM_PACKAGE_RELOCATABLE OFF)
set(CPACK_PACKAGE_VENDOR "stapgen's maintainers")
# Folders of other packages.
foreach(folder IN ITEMS licenses bash-completion bash-completion/completions fish fish/vendor_completions.d
        man man/man1 zsh zsh/site-functions zsh/vendor-completions)
  list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/${folder})
endforeach()
# CPack 3.25 has no variable for weak dependencies. rpmbuild would strip the program again, and so change what the SBOM
# has the checksum of.
set(CPACK_RPM_SPEC_MORE_DEFINE "Recommends: systemtap
Suggests: kernel-devel
%define __os_install_post %{nil}
%define _build_id_links none
%define _buildhost localhost
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1")
if(TARGET stapgen_static)
  install(PROGRAMS $<TARGET_FILE:stapgen_static> DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT static EXCLUDE_FROM_ALL)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/stapgen COMPONENT static EXCLUDE_FROM_ALL)
  install(FILES ${CMAKE_BINARY_DIR}/static/stapgen.spdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT static
          EXCLUDE_FROM_ALL OPTIONAL)
endif()

configure_file(packaging/generator.cmake.in ${CMAKE_BINARY_DIR}/package-generator.cmake @ONLY)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/package-generator.cmake)
include(CPack)
