// Whether anything may change any more.
#pragma once
#include "cuda.h"

// Gate outlives the launch. Runs that follow each other without the host share it: the
// one that meets a number which is not finite leaves its turn there, counted from 1,
// and neither it nor a later one changes anything.
struct Gate { u32 closed, none; };
