#include "cli/command.h"

int main(int count, char **argument)
{
    return (int)command_main(count, argument);
}
