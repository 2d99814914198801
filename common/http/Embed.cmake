# Embed.cmake - makes a C array of a text file.
# cmake -DOUT=watch_html.c -DNAME=watch_html -DFILE=watch.html -P Embed.cmake

file(READ "${FILE}" hex HEX)
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE "${OUT}" "/* Made by Embed.cmake. */\n#include \"http/watch.h\"\nstatic const unsigned char bytes[] = {\n${bytes}};\n"
  "const struct slice ${NAME} = {bytes, sizeof bytes};\n")
