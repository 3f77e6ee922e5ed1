// The reference: no vector instructions beyond the baseline, one loop per rule.
#define DEEPREC_NO_FIXED_LENGTHS
#define DEEPREC_KERNEL_TABLE kScalarKernels
#include "tensorflow/core/sparse/row_update_body.h"
