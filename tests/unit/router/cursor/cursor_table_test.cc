// Who may use a cursor, and when it ends.
#include "router/cursor/cursor_table.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "router/cursor/documents_cursor.h"

namespace evenkeel::router {
namespace {

class CursorTableTest : public testing::Test {
 protected:
  CursorId Add(std::string lsid = "", bool no_timeout = false,
               std::optional<TxnNumber> transaction = std::nullopt) {
    const CursorId id = table_.NewId();
    std::unique_ptr<ClientCursor> cursor =
        std::make_unique<DocumentsCursor>("db.c", std::vector<bson::Document>(1));
    CursorOwner owner;
    owner.ns = "db.c";
    owner.lsid = std::move(lsid);
    owner.no_timeout = no_timeout;
    owner.transaction = transaction;
    EXPECT_TRUE(table_.Put(id, cursor, std::move(owner)).ok());
    return id;
  }
  ErrorCode CheckOutCode(CursorId id, std::string_view ns, std::string_view lsid,
                         std::optional<TxnNumber> transaction = std::nullopt) {
    return CodeOf(table_.CheckOut(id, ns, {lsid, transaction}).status());
  }

  base::FakeWallClock wall_{absl::FromUnixSeconds(1000)};
  CursorTable table_{&wall_};
};

TEST_F(CursorTableTest, ACursorIsUsedByOneCommandAtATime) {
  const CursorId id = Add();
  auto cursor = table_.CheckOut(id, "db.c", {});
  ASSERT_TRUE(cursor.ok());
  EXPECT_EQ(CheckOutCode(id, "db.c", ""), ErrorCode::kCursorInUse);
  EXPECT_EQ(table_.Return(id, *std::move(cursor)), nullptr);
  EXPECT_TRUE(table_.CheckOut(id, "db.c", {}).ok());
}

TEST_F(CursorTableTest, OnlyItsOwnerGetsACursor) {
  const CursorId plain = Add(), owned = Add("session");
  struct Case {
    CursorId id;
    std::string_view ns, lsid;
    ErrorCode code;
  } const cases[] = {
      {CursorId{plain.value ^ owned.value ^ 1}, "db.c", "", ErrorCode::kCursorNotFound},
      {plain, "db.other", "", ErrorCode::kUnauthorized},
      {plain, "db.c", "session", Location(50736)},
      {owned, "db.c", "", Location(50737)},
      {owned, "db.c", "other", Location(50738)},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CheckOutCode(c.id, c.ns, c.lsid), c.code) << c.ns << " " << c.lsid;
  }
}

TEST_F(CursorTableTest, OnlyItsTransactionGetsACursor) {
  const std::optional<TxnNumber> none, one = TxnNumber{1}, two = TxnNumber{2};
  const CursorId plain = Add("s"), owned = Add("s", false, one);
  EXPECT_EQ(CheckOutCode(plain, "db.c", "s", one), Location(50739));
  EXPECT_EQ(CheckOutCode(owned, "db.c", "s", none), Location(50740));
  EXPECT_EQ(CheckOutCode(owned, "db.c", "s", two), Location(50741));
  EXPECT_EQ(CheckOutCode(owned, "db.c", "t", one), Location(50738)) << "the session comes first";
  EXPECT_TRUE(table_.CheckOut(owned, "db.c", {"s", one}).ok());
}

TEST_F(CursorTableTest, CursorsOfAListAreTaken) {
  const CursorId a = Add(), b = Add(), used = Add();
  const auto cursor = table_.CheckOut(used, "db.c", {});
  EXPECT_EQ(table_.Take({a, CursorId{1}, used}).size(), 1u);
  EXPECT_EQ(CheckOutCode(a, "db.c", ""), ErrorCode::kCursorNotFound);
  EXPECT_EQ(CheckOutCode(used, "db.c", ""), ErrorCode::kCursorNotFound) << "it ends with its use";
  EXPECT_TRUE(table_.CheckOut(b, "db.c", {}).ok());
}

TEST_F(CursorTableTest, IdleOnesAreListed) {
  const CursorId id = Add("s", true, TxnNumber{3});
  const auto used = table_.CheckOut(Add(), "db.c", {});
  wall_.Advance(absl::Seconds(5));
  EXPECT_EQ(table_.Return(id, *table_.CheckOut(id, "db.c", {"s", TxnNumber{3}})), nullptr);
  const auto listed = table_.ListIdle();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].id, id);
  EXPECT_EQ(listed[0].transaction, TxnNumber{3});
  EXPECT_EQ(listed[0].batches, 2);
  EXPECT_EQ(listed[0].last_use - listed[0].created, absl::Seconds(5));
}

TEST_F(CursorTableTest, KillTakesACursorOut) {
  const CursorId id = Add();
  EXPECT_EQ(CodeOf(table_.Kill(id, "db.other").status()), ErrorCode::kUnauthorized);
  EXPECT_NE(*table_.Kill(id, "db.c"), nullptr);
  EXPECT_EQ(CodeOf(table_.Kill(id, "db.c").status()), ErrorCode::kCursorNotFound);
}

TEST_F(CursorTableTest, AKilledCursorThatIsInUseComesBackToBeClosed) {
  const CursorId id = Add();
  auto cursor = table_.CheckOut(id, "db.c", {});
  EXPECT_EQ(*table_.Kill(id, "db.c"), nullptr);
  EXPECT_EQ(CheckOutCode(id, "db.c", ""), ErrorCode::kCursorNotFound);
  EXPECT_NE(table_.Return(id, *std::move(cursor)), nullptr);
  EXPECT_EQ(table_.counts().open, 0u);
}

TEST_F(CursorTableTest, IdleCursorsEndButNotThoseWithoutTimeout) {
  Add();
  Add("", /*no_timeout=*/true);
  wall_.Advance(absl::Minutes(9));
  Add();
  wall_.Advance(absl::Minutes(2));
  EXPECT_EQ(table_.TakeIdle().size(), 1u);
  EXPECT_EQ(table_.counts().open, 2u);
  EXPECT_EQ(table_.counts().timed_out, 1u);
  EXPECT_EQ(table_.counts().no_timeout, 1u);
}

TEST_F(CursorTableTest, ASessionTakesItsCursorsAlong) {
  Add("a");
  Add("a", /*no_timeout=*/true);
  const CursorId other = Add("b");
  EXPECT_EQ(table_.TakeOfSession("a").size(), 2u);
  EXPECT_TRUE(table_.CheckOut(other, "db.c", {"b", {}}).ok());
  EXPECT_EQ(table_.TakeAll().size(), 0u) << "the one in use is only marked";
}

TEST_F(CursorTableTest, IdsAreRandomAndPositive) {
  const CursorId a = table_.NewId(), b = table_.NewId();
  EXPECT_GT(a.value, 0);
  EXPECT_NE(a, b);
  EXPECT_GT(a.value ^ b.value, 1000) << "not counted up";
}

}  // namespace
}  // namespace evenkeel::router
