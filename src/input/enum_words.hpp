// The words for the library's enums, for the command and the Python module. Each table is in one place.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "quadmill/external.hpp"
#include "quadmill/linalg.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sketch.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::input {

template <class Value>
using Words = std::vector<std::pair<std::string, Value>>;

inline const Words<Engine> engine_words{{"auto", Engine::Auto},       {"cpu", Engine::Cpu},
                                        {"pbsn", Engine::Pbsn},       {"merge", Engine::Merge},
                                        {"bitonic", Engine::Bitonic}, {"hybrid", Engine::Hybrid}};
inline const Words<Channels> channels_words{
    {"auto", Channels::Auto}, {"windows", Channels::Windows}, {"split", Channels::Split}};
inline const Words<ChannelMerge> channel_merge_words{{"four", ChannelMerge::FourWays}, {"two", ChannelMerge::TwoWays}};
inline const Words<MergeKernel> kernel_words{
    {"auto", MergeKernel::Auto}, {"fragment", MergeKernel::Fragment}, {"subgroup", MergeKernel::Subgroup}};
inline const Words<Representation> representation_words{{"single", Representation::SingleArray},
                                                        {"four", Representation::FourArray}};
inline const Words<KeyType> type_words{{"f16", KeyType::F16}, {"f32", KeyType::F32}, {"f64", KeyType::F64},
                                       {"i32", KeyType::I32}, {"u32", KeyType::U32}, {"i64", KeyType::I64},
                                       {"u64", KeyType::U64}};
inline const Words<Order> order_words{{"asc", Order::Ascending}, {"desc", Order::Descending}};
inline const Words<QueryEngine> query_engine_words{{"auto", QueryEngine::Auto},
                                                   {"cpu", QueryEngine::Cpu},
                                                   {"depth", QueryEngine::Depth},
                                                   {"bitmap", QueryEngine::Bitmap}};
inline const Words<JoinMethod> join_words{
    {"auto", JoinMethod::Auto}, {"loops", JoinMethod::NestedLoops}, {"merge", JoinMethod::SortMerge}};
inline const Words<SumPrecision> sum_words{{"exact", SumPrecision::Exact}, {"float32", SumPrecision::Float32}};
inline const Words<Execution> execution_words{{"pipelined", Execution::Pipelined}, {"one-op", Execution::OneOperation}};
inline const Words<SketchKind> sketch_kind_words{{"thread", SketchKind::Thread}, {"warp", SketchKind::Warp},
                                                 {"half", SketchKind::Half},     {"quarter", SketchKind::Quarter},
                                                 {"msws", SketchKind::Msws},     {"sf", SketchKind::Sf}};
inline const Words<SketchEngine> sketch_engine_words{{"auto", SketchEngine::Auto},
                                                     {"cpu", SketchEngine::Cpu},
                                                     {"blend-counters", SketchEngine::BlendCounters},
                                                     {"blend-buckets", SketchEngine::BlendBuckets},
                                                     {"blend-packed", SketchEngine::BlendPacked},
                                                     {"sort", SketchEngine::Sort}};
inline const Words<SketchKeys> sketch_keys_words{
    {"u32", SketchKeys::U32}, {"u64", SketchKeys::U64}, {"f32", SketchKeys::F32}, {"text", SketchKeys::Text}};
inline const Words<Precision> precision_words{{"f32", Precision::Float32}, {"f16", Precision::Float16}};
inline const Words<Pivot> pivot_words{{"none", Pivot::Diagonal}, {"partial", Pivot::Partial}, {"full", Pivot::Full}};
// Big-endian numbers end in be. An unsigned one, or a byte, is bytes.
inline const Words<FieldType> field_words{
    {"u8", FieldType::U8},       {"i8", FieldType::I8},       {"u16", FieldType::U16},     {"i16", FieldType::I16},
    {"f16", FieldType::F16},     {"u32", FieldType::U32},     {"i32", FieldType::I32},     {"f32", FieldType::F32},
    {"u64", FieldType::U64},     {"i64", FieldType::I64},     {"f64", FieldType::F64},     {"i16be", FieldType::I16Be},
    {"i32be", FieldType::I32Be}, {"f32be", FieldType::F32Be}, {"i64be", FieldType::I64Be}, {"f64be", FieldType::F64Be}};

// Pre: the table has the value.
template <class Value>
const std::string& word_for(const Words<Value>& words, Value value) {
    return std::ranges::find(words, value, &std::pair<std::string, Value>::second)->first;
}

template <class Value>
std::string joined(const Words<Value>& words, const char* between) {
    std::string list;
    for (const auto& [word, value] : words) list += (list.empty() ? "" : between) + word;
    return list;
}

}  // namespace quadmill::detail::input
