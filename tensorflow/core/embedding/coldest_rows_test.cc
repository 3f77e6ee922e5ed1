#include "tensorflow/core/embedding/coldest_rows.h"

#include <map>
#include <random>

#include "gtest/gtest.h"

namespace deeprec {
namespace embedding {
namespace {

TEST(ColdestRows, ComesInOrderOfRankThenAgeThenKey) {
  ColdestRows rows;
  rows.Begin(10);
  for (const Coldness& row : {Coldness{2, 1, 1}, Coldness{1, 5, 2}, Coldness{1, 4, 3}, Coldness{1, 4, -4}}) rows.Offer(row);
  rows.End();
  Coldness row;
  for (const int64_t key : {-4, 3, 2, 1}) {
    ASSERT_TRUE(rows.Pop(&row));
    EXPECT_EQ(row.key, key);
  }
  EXPECT_FALSE(rows.Pop(&row));
}

TEST(ColdestRows, BeforeAPassThereIsNothing) {
  ColdestRows rows;
  EXPECT_FALSE(rows.active());
  rows.Add(Coldness{1, 1, 1});
  Coldness row;
  EXPECT_FALSE(rows.Pop(&row));
}

TEST(ColdestRows, WhatIsAboveTheBoundIsLeftToTheNextPass) {
  ColdestRows rows;
  rows.Begin(2);
  for (uint64_t rank = 1; rank <= 100; ++rank) rows.Offer(Coldness{101 - rank, 0, int64_t(101 - rank)});
  rows.End();
  rows.Add(Coldness{50, 0, 1000});
  rows.Add(Coldness{0, 0, 2000});
  Coldness row;
  for (const int64_t key : {2000, 1, 2}) {
    ASSERT_TRUE(rows.Pop(&row));
    EXPECT_EQ(row.key, key);
  }
  EXPECT_FALSE(rows.Pop(&row));
}

// Rows that get hotter, come and go, against a map of all of them.
TEST(ColdestRows, TheColdestOfAllComesWhateverHappenedSinceThePass) {
  std::mt19937_64 random(1);
  std::map<int64_t, Coldness> all;
  for (int64_t key = 0; key < 500; ++key) all[key] = Coldness{random() % 20, random() % 1000, key};
  ColdestRows rows;
  int passes = 0;
  for (int step = 0; step < 3000; ++step) {
    for (int i = 0; i < 3; ++i) {
      const int64_t key = int64_t(random() % 2000);
      const auto found = all.find(key);
      if (found != all.end()) {
        found->second.rank += random() % 3;  // hotter: nobody tells the queue
        found->second.age += 1;
      } else if (all.size() < 600) {
        all[key] = Coldness{random() % 20, random() % 1000, key};
        rows.Add(all[key]);
      }
    }
    Coldness row;
    while (true) {
      if (!rows.Pop(&row)) {
        ++passes;
        rows.Begin(40);
        for (const auto& [key, coldness] : all) rows.Offer(coldness);
        rows.End();
        continue;
      }
      const auto found = all.find(row.key);
      if (found == all.end()) continue;
      if (found->second == row) break;
      rows.Add(found->second);
    }
    Coldness coldest = row;
    for (const auto& [key, coldness] : all) {
      if (coldest > coldness) coldest = coldness;
    }
    ASSERT_EQ(row.key, coldest.key) << "step " << step;
    all.erase(row.key);
    if (all.size() < 300) {
      for (int64_t key = 5000 + step; all.size() < 500; key += 3001) {
        all[key] = Coldness{random() % 20, random() % 1000, key};
        rows.Add(all[key]);
      }
    }
  }
  EXPECT_LT(passes, 300);
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec
