# SPDX-License-Identifier: BSD-2-Clause
# Installs the build tree BUILD into PREFIX, which is emptied first: what an earlier build left there
# must not hide what this one forgets.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}
                COMMAND_ERROR_IS_FATAL ANY)
