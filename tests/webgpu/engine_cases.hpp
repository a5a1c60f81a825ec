// Blocks for an engine, and what the twins make of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "engine/reference/reference_backend.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

// What an engine made of a task.
struct Answer {
  Status status = Status::kInternal;
  Bytes bytes;
  friend bool operator==(const Answer&, const Answer&) = default;
};

// A task's data, with bytes behind its output that must stay as they are.
struct EngineCase {
  std::string name;
  Bytes history, input;
  std::size_t room = 0;
};

inline Bytes copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

inline std::vector<Answer> answers(BlockEngine& engine, const std::vector<EngineCase>& cases,
                                   const std::function<void(BlockEngine&, std::span<BlockTask>)>& work) {
  constexpr std::size_t kGuardBytes = 16;
  std::vector<Bytes> outputs;
  std::vector<BlockTask> tasks;
  for (const EngineCase& one : cases) outputs.emplace_back(one.room + kGuardBytes, std::byte{0xEE});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    BlockTask task;
    task.input = cases[i].input;
    task.history = cases[i].history;
    task.output = std::span(outputs[i]).first(cases[i].room);
    tasks.push_back(task);
  }
  work(engine, tasks);
  std::vector<Answer> result;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_TRUE(std::all_of(outputs[i].begin() + static_cast<std::ptrdiff_t>(cases[i].room), outputs[i].end(),
                            [](std::byte byte) { return byte == std::byte{0xEE}; }))
        << cases[i].name << ": bytes behind the output were written";
    Answer answer{tasks[i].status, {}};
    if (tasks[i].status == Status::kOk)
      answer.bytes.assign(outputs[i].begin(),
                          outputs[i].begin() + static_cast<std::ptrdiff_t>(tasks[i].output_bytes));
    result.push_back(std::move(answer));
  }
  return result;
}

inline void expect_twins(BlockEngine& engine, const std::vector<EngineCase>& cases,
                         const std::function<void(BlockEngine&, std::span<BlockTask>)>& work) {
  const auto reference = make_reference_backend()->make_engine({});
  const std::vector<Answer> expected = answers(*reference, cases, work), got = answers(engine, cases, work);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(got[i].status, expected[i].status) << cases[i].name << ", case " << i;
    EXPECT_TRUE(got[i].bytes == expected[i].bytes)
        << cases[i].name << ", case " << i << ": " << got[i].bytes.size() << " bytes, not those "
        << expected[i].bytes.size();
  }
}

}  // namespace hemstitch::testing
