# SPDX-License-Identifier: GPL-2.0-or-later
# For arm64, on another Debian: cmake --preset program --toolchain scripts/arm64.cmake
# It needs g++-aarch64-linux-gnu and the libraries of scripts/install-packages as :arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
