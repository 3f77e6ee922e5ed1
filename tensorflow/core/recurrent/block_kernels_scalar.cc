#define DEEPREC_BLOCK_KERNELS kScalarBlockKernels
#include "tensorflow/core/recurrent/block_kernels_body.h"
