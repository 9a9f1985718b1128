# Compiles a file that includes HEADER with a layer's include folders. EXPECTATION forbidden: the compiler must not find it.
set(arguments "")
foreach(folder ${INCLUDES})
  list(APPEND arguments -I ${folder})
endforeach()
file(MAKE_DIRECTORY ${FOLDER})
file(WRITE ${FOLDER}/probe.c "#include \"${HEADER}\"\nint cupel_probe;\n")
execute_process(
  COMMAND ${COMPILER} -std=c17 -D_GNU_SOURCE -fsyntax-only ${arguments} ${FOLDER}/probe.c
  RESULT_VARIABLE status
  ERROR_VARIABLE output)
if(EXPECTATION STREQUAL permitted)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${HEADER} should compile:\n${output}")
  endif()
elseif(status EQUAL 0)
  message(FATAL_ERROR "${HEADER} is within reach of a layer that must not know it")
elseif(NOT output MATCHES "(file not found|No such file)")
  message(FATAL_ERROR "the compiler failed for another reason than a missing header:\n${output}")
endif()
