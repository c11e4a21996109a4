// Implements MongoDB's hash of a value.
//
// MD5 runs over the seed and the value's element: rank of its type as int32, its name with a zero
// byte (fields of nested documents only), its bytes. Numbers give eight bytes of the truncated
// integer; objects and arrays give their elements, then the end rank, an int32 0. Found by
// experiment against the published values in the test.
#include "base/bson/hash.h"

#include <bson/bson.h>

#include "base/bson/compare.h"
#include "base/bson/number.h"

namespace evenkeel::bson {
namespace {

constexpr int32_t kSeed = 0;
constexpr int32_t kEndRank = 0;

// libbson deprecates its MD5 for use outside MongoDB's protocols; this is one of them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

class Md5 {
 public:
  Md5() { bson_md5_init(&state_); }
  void Add(std::string_view bytes) {
    bson_md5_append(&state_, reinterpret_cast<const uint8_t*>(bytes.data()),
                    static_cast<uint32_t>(bytes.size()));
  }
  template <typename T>
  void AddLittle(T value) {
    Add({reinterpret_cast<const char*>(&value), sizeof(value)});
  }
  // The first eight bytes.
  int64_t Finish() {
    uint8_t digest[16];
    bson_md5_finish(&state_, digest);
    return LoadLittle<int64_t>(reinterpret_cast<const char*>(digest));
  }

 private:
  bson_md5_t state_;
};

#pragma GCC diagnostic pop

void AddContent(Value value, Md5* md5);

void AddFields(View document, Md5* md5) {
  for (const Element& element : document) {
    md5->AddLittle(int32_t{CanonicalRank(element.value.type())});
    md5->Add({element.key.data(), element.key.size() + 1});  // with its zero byte
    AddContent(element.value, md5);
  }
  md5->AddLittle(kEndRank);
}

void AddContent(Value value, Md5* md5) {
  if (value.IsNumber()) {
    md5->AddLittle(ToInt64Truncated(value));
  } else if (value.Is(Type::kObject) || value.Is(Type::kArray)) {
    AddFields(value.AsDocument(), md5);
  } else if (value.Is(Type::kCodeWithScope)) {
    const std::string_view code = value.AsCodeWithScopeCode();
    md5->Add({code.data(), code.size() + 1});
    AddFields(value.AsCodeWithScopeScope(), md5);
  } else if (value.SizeBytes() > 0) {
    md5->Add(value.Bytes());
  }
}

}  // namespace

int64_t HashValue(Value value) {
  if (value.missing()) value = Value(Type::kNull, nullptr);
  Md5 md5;
  md5.AddLittle(kSeed);
  md5.AddLittle(int32_t{CanonicalRank(value.type())});
  AddContent(value, &md5);
  return md5.Finish();
}

}  // namespace evenkeel::bson
