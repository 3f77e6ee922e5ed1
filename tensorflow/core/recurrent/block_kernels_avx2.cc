#define DEEPREC_BLOCK_KERNELS kAvx2BlockKernels
#include "tensorflow/core/recurrent/block_kernels_body.h"
