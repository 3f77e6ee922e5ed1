#define DEEPREC_KERNEL_TABLE kAvx512Kernels
#include "tensorflow/core/sparse/row_update_body.h"
