// Stacks are switched by jumps, which take no system call, as swapcontext() does. The checks of _FORTIFY_SOURCE take them for
// jumps to frames that have returned.
#undef _FORTIFY_SOURCE

#include "emulated_cuda.hpp"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define HEMSTITCH_TELLS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEMSTITCH_TELLS_SANITIZER
#endif
#endif
#if defined(HEMSTITCH_TELLS_SANITIZER)
#include <dlfcn.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace hemstitch::emulated {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10;
constexpr unsigned kLanes = 32;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "emulated kernel: block %u, thread %u: %s\n", blockIdx.x, threadIdx.x, what);
  std::abort();
}

// A place where threads wait for each other, again and again.
struct MeetingPlace {
  unsigned expected = 0;  // threads that have not returned
  unsigned arrived = 0;
  std::uint64_t round = 0;
  Meeting how = Meeting::kWarp;
  bool says_so = false;
  std::array<bool, 2> said_so = {};                               // for the last two rounds
  std::array<std::array<std::uint64_t, kLanes>, 2> brought = {};  // for the last two rounds

  bool complete() const { return expected != 0 && arrived == expected; }
  void go_on() {
    said_so[round % 2] = std::exchange(says_so, false);
    arrived = 0;
    ++round;
  }
};

struct Warp {
  MeetingPlace whole;
  std::map<unsigned, MeetingPlace> parts;  // by masks
  unsigned returned = 0;                   // lanes, as bits
};

struct Fiber {
  ucontext_t context = {};  // as it begins
  jmp_buf goes_on_at;
  bool has_begun = false;
  void* stack = nullptr;
  void* sanitizer_stack = nullptr;
  const MeetingPlace* waits_at = nullptr;
  std::uint64_t waits_for = 0;  // the round of that place
  bool has_returned = true;

  bool can_run() const { return !has_returned && (waits_at == nullptr || waits_at->round != waits_for); }
};

#if defined(HEMSTITCH_TELLS_SANITIZER)
// The C library's own: AddressSanitizer's forgets, at each jump, all that it has poisoned on a stack, as its swapcontext() does.
using LongJump = void (*)(jmp_buf, int);
LongJump find_long_jump() {
  void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void* const found = library == nullptr ? nullptr : dlsym(library, "_longjmp");
  if (found == nullptr) fail("no _longjmp in the C library");
  return reinterpret_cast<LongJump>(found);
}
const LongJump long_jump = find_long_jump();
#else
constexpr auto& long_jump = _longjmp;
#endif

[[gnu::noinline]] void jump(Fiber& from, Fiber& to) {
  from.has_begun = true;
  if (_setjmp(from.goes_on_at) != 0) return;
  if (to.has_begun) long_jump(to.goes_on_at, 1);
  setcontext(&to.context);
}

// The fibers of this host thread: the one that calls run(), and those of a block. They are kept for the next
// block.
class Fibers {
 public:
  ~Fibers() {
    for (const std::unique_ptr<Fiber>& fiber : fibers_) munmap(fiber->stack, kStackBytes);
  }

  void run_block(unsigned threads, const std::function<void()>& kernel) {
    while (fibers_.size() < threads) {
      fibers_.push_back(std::make_unique<Fiber>());
      void* const stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (stack == MAP_FAILED) fail("no memory for a stack");
      fibers_.back()->stack = stack;
    }
    kernel_ = &kernel;
    threads_ = threads;
    warps_.assign(threads / kLanes, {});
    block_ = {};
    block_.expected = threads;
    for (unsigned i = 0; i < threads; ++i) {
      Fiber& fiber = *fibers_[i];
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = fiber.stack;
      fiber.context.uc_stack.ss_size = kStackBytes;
      fiber.context.uc_link = nullptr;
      fiber.waits_at = nullptr;
      fiber.has_begun = fiber.has_returned = false;
#if defined(HEMSTITCH_TELLS_SANITIZER)
      // Its last frames were left without a return.
      __asan_unpoison_memory_region(fiber.stack, kStackBytes);
#endif
      makecontext(&fiber.context, &Fibers::begin, 0);
    }
    caller_.has_returned = true;
    current_ = &caller_;
    at_ = threads - 1;
    leave(false);
  }

  const std::uint64_t* meet_lanes(unsigned mask, Meeting how, std::uint64_t brought) {
    Warp& warp = warps_[at_ / kLanes];
    if ((mask >> at_ % kLanes & 1) == 0) fail("a lane that its mask does not name");
    if ((mask & warp.returned) != 0) fail("lanes meet when others that the mask names have returned");
    MeetingPlace& place = mask == ~0u ? warp.whole : warp.parts[mask];
    place.expected = static_cast<unsigned>(std::popcount(mask));
    if (place.arrived == 0)
      place.how = how;
    else if (place.how != how)
      fail("lanes of a warp meet at different places");
    const std::uint64_t round = place.round;
    place.brought[round % 2][at_ % kLanes] = brought;
    meet_at(place);
    return place.brought[round % 2].data();
  }

  bool meet_threads(bool says_so) {
    const std::uint64_t round = block_.round;
    block_.says_so |= says_so;
    meet_at(block_);
    return block_.said_so[round % 2];
  }

 private:
  static void begin();

  void meet_at(MeetingPlace& place) {
    ++place.arrived;
    if (place.complete()) return place.go_on();
    current_->waits_at = &place;
    current_->waits_for = place.round;
    leave(false);
    current_->waits_at = nullptr;
  }

  // Switches to the next fiber that can run, or to the caller if all have returned.
  void leave(bool for_good) {
    Fiber& from = *current_;
    Fiber* to = nullptr;
    for (unsigned i = 1; i <= threads_ && to == nullptr; ++i) {
      const unsigned next = (at_ + i) % threads_;
      if (!fibers_[next]->can_run()) continue;
      to = fibers_[next].get();
      at_ = next;
    }
    if (to == nullptr) {
      for (unsigned i = 0; i < threads_; ++i)
        if (!fibers_[i]->has_returned) fail("threads wait for each other");
      to = &caller_;
    }
    if (to == &from) return;
    current_ = to;
    threadIdx.x = at_;
#if defined(HEMSTITCH_TELLS_SANITIZER)
    const bool to_caller = to == &caller_;
    __sanitizer_start_switch_fiber(for_good ? nullptr : &from.sanitizer_stack,
                                   to_caller ? caller_stack_ : to->stack,
                                   to_caller ? caller_bytes_ : kStackBytes);
#else
    static_cast<void>(for_good);
#endif
    jump(from, *to);
    arrive(from.sanitizer_stack);
  }

  // Called in the fiber that continues.
  void arrive([[maybe_unused]] void* sanitizer_stack) {
#if defined(HEMSTITCH_TELLS_SANITIZER)
    const void* stack = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(sanitizer_stack, &stack, &bytes);
    if (caller_stack_ == nullptr)
      caller_stack_ = stack, caller_bytes_ = bytes;  // the first switch comes from the caller
#endif
  }

  void run_thread() {
    arrive(nullptr);
    (*kernel_)();
    current_->has_returned = true;
    warps_[at_ / kLanes].returned |= 1u << at_ % kLanes;
    --block_.expected;
    if (block_.complete()) block_.go_on();
    leave(true);
  }

  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber caller_;
  [[maybe_unused]] const void* caller_stack_ = nullptr;
  [[maybe_unused]] std::size_t caller_bytes_ = 0;
  Fiber* current_ = nullptr;
  unsigned at_ = 0;  // number of the current fiber
  unsigned threads_ = 0;
  const std::function<void()>* kernel_ = nullptr;
  std::vector<Warp> warps_;
  MeetingPlace block_;
};

thread_local Fibers fibers;

void Fibers::begin() { fibers.run_thread(); }

}  // namespace

std::byte* shared_begin() {
  thread_local std::byte begin;
  return &begin;
}

thread_local Index threadIdx, blockIdx, blockDim, gridDim;

const std::uint64_t* meet_lanes(unsigned mask, Meeting how, std::uint64_t brought) {
  return fibers.meet_lanes(mask, how, brought);
}

bool meet_threads(bool says_so) { return fibers.meet_threads(says_so); }

void run(unsigned blocks, unsigned threads, const std::function<void()>& kernel) {
  if (threads == 0 || threads % kLanes != 0) fail("a thread block that is no whole warps");
  gridDim.x = blocks;
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) fibers.run_block(threads, kernel);
}

}  // namespace hemstitch::emulated
