# The Debian package: cpack -G DEB in the build folder. docs/guide/installing.md
# What is packed is what was built before: cpack does not build.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stapgen)
set(CPACK_PACKAGE_CONTACT "stapgen's maintainers <stapgen@users.noreply.example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "times and drops of packets in the kernel's network stack")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"stapgen writes the SystemTap script for the kernel's network stack, runs stap
with what this machine needs, and turns the output into numbers: percentiles
per stage of every packet, where the tail comes from, drops by place and
reason, and an account of everything it saw.

It needs neither the kernel's debug information nor BTF. A recipe is compiled
where SystemTap and the kernel's headers are, and also runs where only
systemtap-runtime is. Recordings, and what other tools print, are read
anywhere.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
# staprun is enough for exec, and report needs neither; compiling is what most want.
set(CPACK_DEBIAN_PACKAGE_DEPENDS systemtap-runtime)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS systemtap)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "linux-headers-amd64 | linux-headers-generic, libdebuginfod1t64 | libdebuginfod1")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(DPKG_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# The same source gives the same package: its files have the time of the commit.
configure_file(packaging/epoch.cmake.in ${CMAKE_BINARY_DIR}/package-epoch.cmake @ONLY)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/package-epoch.cmake)
set(changelog ${CMAKE_BINARY_DIR}/changelog.gz)
add_custom_command(OUTPUT ${changelog} DEPENDS ${CMAKE_SOURCE_DIR}/packaging/changelog
  COMMAND sh -c "gzip -9nc ${CMAKE_SOURCE_DIR}/packaging/changelog >${changelog}" VERBATIM)
add_custom_target(changelog ALL DEPENDS ${changelog})
install(FILES ${changelog} packaging/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(FILES packaging/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME stapgen)
include(CPack)
