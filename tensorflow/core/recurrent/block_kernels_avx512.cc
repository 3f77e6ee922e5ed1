#define DEEPREC_BLOCK_KERNELS kAvx512BlockKernels
#include "tensorflow/core/recurrent/block_kernels_body.h"
