#include "tensorflow/core/kernels/override/register.h"

#include "gtest/gtest.h"

namespace tensorflow {
namespace {

TEST(NamesKernelTest, FindsAWholeNameAmongSeveral) {
  EXPECT_TRUE(NamesKernel("Unique,SparseApplyFtrl", "SparseApplyFtrl"));
  EXPECT_TRUE(NamesKernel(" Unique , SparseApplyFtrl ", "Unique"));
  EXPECT_FALSE(NamesKernel("SparseApplyFtrlV2", "SparseApplyFtrl"));
  EXPECT_FALSE(NamesKernel("SparseApplyFtrl", "SparseApplyFtrlV2"));
}

TEST(NamesKernelTest, AllNamesEveryKernel) {
  EXPECT_TRUE(NamesKernel("all", "SparseApplyFtrl"));
  EXPECT_TRUE(NamesKernel("Unique,all", "SparseApplyFtrl"));
}

TEST(NamesKernelTest, NothingNamesNone) {
  EXPECT_FALSE(NamesKernel(nullptr, "Unique"));
  EXPECT_FALSE(NamesKernel("", "Unique"));
  EXPECT_FALSE(NamesKernel(",", "Unique"));
}

}  // namespace
}  // namespace tensorflow
