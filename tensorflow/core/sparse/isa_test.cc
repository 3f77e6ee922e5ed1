#include "tensorflow/core/sparse/isa.h"

#include "gtest/gtest.h"

namespace deeprec {
namespace sparse {
namespace {

TEST(ChooseIsaTest, TakesTheBestIfNothingIsAsked) {
  EXPECT_EQ(ChooseIsa(nullptr, Isa::kAvx512).isa, Isa::kAvx512);
  EXPECT_EQ(ChooseIsa("", Isa::kAvx2).isa, Isa::kAvx2);
  EXPECT_EQ(ChooseIsa(nullptr, Isa::kAvx512).warning, "");
}

TEST(ChooseIsaTest, FollowsARequestTheCpuCanServe) {
  EXPECT_EQ(ChooseIsa("scalar", Isa::kAvx512).isa, Isa::kScalar);
  EXPECT_EQ(ChooseIsa("avx2", Isa::kAvx512).isa, Isa::kAvx2);
  EXPECT_EQ(ChooseIsa("avx512", Isa::kAvx512).isa, Isa::kAvx512);
  EXPECT_EQ(ChooseIsa("avx512", Isa::kAvx512).warning, "");
}

TEST(ChooseIsaTest, WarnsAndTakesTheBestIfTheCpuLacksIt) {
  const IsaChoice choice = ChooseIsa("avx512", Isa::kAvx2);
  EXPECT_EQ(choice.isa, Isa::kAvx2);
  EXPECT_EQ(choice.warning, "TF_DEEPREC_ISA=avx512 is not supported by this CPU; using avx2");
}

TEST(ChooseIsaTest, WarnsAboutAnUnknownName) {
  const IsaChoice choice = ChooseIsa("AVX2", Isa::kAvx2);
  EXPECT_EQ(choice.isa, Isa::kAvx2);
  EXPECT_EQ(choice.warning,
            "TF_DEEPREC_ISA=AVX2 is not one of scalar, avx2, avx512; using avx2");
}

TEST(KernelsTest, EveryTableIsComplete) {
  for (Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    for (int type = 0; type < kNumElementTypes; ++type) {
      for (int rule = 0; rule < kNumRules; ++rule) {
        EXPECT_NE(Kernels(isa).apply[rule][type], nullptr);
      }
      EXPECT_NE(Kernels(isa).adam_all_rows[type], nullptr);
    }
  }
}

}  // namespace
}  // namespace sparse
}  // namespace deeprec
