// Every public header behind the macros of Windows, as in a program that includes <windows.h> first. The standard
// library's headers come before: they take care of themselves if there is a Windows. The order is the test:
// clang-format off
#include "standard_headers.hpp"
#include "windows_macros.h"
#include "public_headers.hpp"
#include "enumerators.hpp"
// clang-format on
