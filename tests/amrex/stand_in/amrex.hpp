// Stands in for the framework AMReX in tests; see boxes.hpp.
#pragma once

#include "boxes.hpp"
#include "fields.hpp"
#include "levels.hpp"
#include "particles.hpp"
