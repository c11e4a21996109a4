// The request type of this command; it shares its source with the other cursor command.
#pragma once

#include "query/request/cursor_request.h"  // IWYU pragma: export
