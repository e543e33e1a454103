// The same values, perhaps of another type.
#include "elementwise.cuh"

FUNCTION_OF_X(Copy, x);
