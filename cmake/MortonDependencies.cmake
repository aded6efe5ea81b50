# SPDX-License-Identifier: Apache-2.0
# Everything Morton takes from outside; ./dev setup installs the Debian packages.
if(MORTON_STATIC)
  set(Protobuf_USE_STATIC_LIBS ON)
  set(ZLIB_USE_STATIC_LIBS ON)
  find_library(PNG_LIBRARY_RELEASE NAMES libpng.a libpng16.a REQUIRED)
  find_library(MORTON_MINIZIP_LIBRARY NAMES libminizip.a REQUIRED)
  find_library(MORTON_TURBOJPEG_LIBRARY NAMES libturbojpeg.a REQUIRED)
endif()
find_package(Threads REQUIRED)
find_package(OpenCL REQUIRED)
find_package(Protobuf REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_library(MORTON_MINIZIP_LIBRARY NAMES minizip REQUIRED)
find_path(MORTON_MINIZIP_INCLUDE_DIR minizip/unzip.h REQUIRED)
find_library(MORTON_TURBOJPEG_LIBRARY NAMES turbojpeg REQUIRED)
find_path(MORTON_TURBOJPEG_INCLUDE_DIR turbojpeg.h REQUIRED)
find_path(MORTON_XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_path(MORTON_SPDLOG_INCLUDE_DIR spdlog/spdlog.h REQUIRED)

# Debian's spdlog expects {fmt} from outside; both are used header-only so that no libfmt is
# needed at run time.
add_library(morton_spdlog INTERFACE)
target_compile_definitions(morton_spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)
target_include_directories(morton_spdlog SYSTEM INTERFACE ${MORTON_SPDLOG_INCLUDE_DIR})
target_link_libraries(morton_spdlog INTERFACE Threads::Threads)
