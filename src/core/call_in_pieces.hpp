// A call that looks between pieces of its work (between_pieces.hpp) with a function of the caller's.
#pragma once

#include <cxxabi.h>

#include <atomic>
#include <exception>

#include "core/between_pieces.hpp"
#include "core/status.hpp"

namespace hemstitch {

class CallInPieces : public LooksBetweenPieces {
 public:
  // The function, which may be empty, must outlive the call.
  explicit CallInPieces(const BetweenPieces& between_pieces) : between_pieces_(between_pieces) {}

  // Throws what the function threw, whatever work() makes of it.
  template <class Work>
  void run(const Work& work) {
    const Here here(this);
    try {
      work();
#ifdef __GLIBCXX__
    } catch (const abi::__forced_unwind&) {  // must pass, see core/c_call.hpp
      throw;
#endif
    } catch (...) {
      if (!has_ended_) throw;
    }
    if (has_ended_) std::rethrow_exception(thrown_);
  }

  // Once the function has thrown, all threads of the call throw here.
  void look() override {
    if (has_ended_) throw Error(Status::kCancelled, "the call was ended");
    if (!between_pieces_) return;
    try {
      between_pieces_();
#ifdef __GLIBCXX__
    } catch (const abi::__forced_unwind&) {
      throw;
#endif
    } catch (...) {
      if (!has_ended_.exchange(true)) thrown_ = std::current_exception();
      throw;
    }
  }

 private:
  const BetweenPieces& between_pieces_;
  std::atomic<bool> has_ended_ = false;
  std::exception_ptr thrown_;  // read when all threads are done
};

}  // namespace hemstitch
