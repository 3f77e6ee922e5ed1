#define DEEPREC_KERNEL_TABLE kAvx2Kernels
#include "tensorflow/core/sparse/row_update_body.h"
