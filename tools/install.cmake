# tools/install.cmake -- installs the headers, the library, and what
# find_package(gorge) and pkg-config need to find them.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(folders GLOBAL PROPERTY GORGE_FOLDERS)
foreach(folder IN LISTS folders)
  # internal/ too: the public templates are made of it.
  install(DIRECTORY ${folder}
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/gorge"
    FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES gorge.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/gorge")

install(TARGETS gorge
  EXPORT gorgeTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gorge")
install(EXPORT gorgeTargets NAMESPACE gorge:: DESTINATION "${package_dir}")
configure_package_config_file(tools/gorgeConfig.cmake.in
  "${PROJECT_BINARY_DIR}/gorgeConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/gorgeConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/gorgeConfig.cmake"
  "${PROJECT_BINARY_DIR}/gorgeConfigVersion.cmake"
  DESTINATION "${package_dir}")

file(RELATIVE_PATH GORGE_PC_PREFIX
  "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
set(GORGE_PC_DEFINES "")
if(GORGE_CHECKED)
  set(GORGE_PC_DEFINES "-DGORGE_CHECKED=1")
endif()
configure_file(tools/gorge.pc.in "${PROJECT_BINARY_DIR}/gorge.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/gorge.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
