/// The version of the library, as text: "major.minor.patch".
#pragma once

#define QUADMILL_VERSION "0.1.0"
