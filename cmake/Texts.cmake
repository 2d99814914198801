# Texts.cmake - makes a table of text files in C, for base/text.h.
# cmake -DOUT=cli_help.c -DNAME=cli_help "-DFILES=plan.txt;plan-job.txt" -P Texts.cmake

cmake_minimum_required(VERSION 3.18)
set(arrays "")
set(rows "")
foreach(file IN LISTS FILES)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  get_filename_component(name "${file}" NAME_WE)
  string(MAKE_C_IDENTIFIER "${name}" id)
  string(REPLACE "-" " " name "${name}")
  string(APPEND arrays "static const char text_of_${id}[] = {\n${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", text_of_${id}},\n")
endforeach()
file(WRITE "${OUT}" "/* Made by Texts.cmake. */\n#include \"base/text.h\"\n${arrays}"
  "extern const struct embedded ${NAME}[];\nconst struct embedded ${NAME}[] = {\n${rows}    {0, 0}};\n")
