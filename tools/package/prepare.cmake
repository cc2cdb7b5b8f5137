# SPDX-License-Identifier: BSD-2-Clause
# Run by CPack on the installed trees before they become packages: Debian has manual pages and changelogs packed, without
# the time in them.
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/share)
file(GLOB_RECURSE pages ${share}/man/*.[1-9] ${share}/doc/changelog ${share}/doc/changelog.Debian)
list(FILTER pages EXCLUDE REGEX "/usr/share/doc/[^/]+/docs/")
if(pages)
    execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
# Debian's Python looks into one directory for all its versions.
file(GLOB modules ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/python/usr/lib/*/python3/site-packages
     ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/python/usr/lib/python3/site-packages)
foreach(directory IN LISTS modules)
    file(MAKE_DIRECTORY ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/python/usr/lib/python3)
    file(RENAME ${directory} ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/python/usr/lib/python3/dist-packages)
endforeach()
# Settings are below the prefix where this project installs, and in /etc where it is packed.
file(GLOB settings ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/etc)
foreach(directory IN LISTS settings)
    cmake_path(GET directory PARENT_PATH usr)
    file(RENAME ${directory} ${usr}/../etc)
endforeach()
