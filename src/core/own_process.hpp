// Remembers which process made it. fork() copies an object with threads, and not its threads: a child must not
// wait for them, nor take locks that they may have held.
#pragma once

#include <unistd.h>

namespace hemstitch {

class OwnProcess {
 public:
  bool is_here() const { return ::getpid() == process_; }

 private:
  pid_t process_ = ::getpid();
};

}  // namespace hemstitch
