// Compresses a file to an LZ4 frame and restores it again, in two ways: all at once in memory, and as a
// stream of pieces whose memory stays bounded however long the file is.
//
//   compress_file FILE      writes FILE.lz4; `lz4 -d` and `hemstitch -d` restore it
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "hemstitch/hemstitch.hpp"

namespace {

// One-shot: for data that is in memory anyway.
void compress_in_memory(const std::vector<std::byte>& content) {
  const std::vector<std::byte> frame = hemstitch::compress(content, {.level = 9});
  const std::vector<std::byte> restored = hemstitch::restore(frame);
  std::printf("in memory: %zu bytes -> %zu bytes at level 9, restored %s\n", content.size(), frame.size(),
              restored == content ? "exactly" : "WRONGLY");
}

// Streaming: the compressor hands each finished piece to a function that we give it.
void compress_as_stream(const std::string& source_name, const std::string& target_name) {
  std::ifstream source(source_name, std::ios::binary);
  std::ofstream target(target_name, std::ios::binary);
  hemstitch::Compressor compressor({}, [&](std::span<const std::byte> piece) {
    target.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
  });
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  while (source) {
    source.read(reinterpret_cast<char*>(buffer.data()), static_cast<std::streamsize>(buffer.size()));
    compressor.write(std::span(buffer).first(static_cast<std::size_t>(source.gcount())));
  }
  compressor.finish();  // without it the frame has no end
  target.close();
  if (!target) throw std::runtime_error("could not write " + target_name);
}

bool restores_to(const std::string& frame_name, const std::vector<std::byte>& content) {
  std::ifstream frame(frame_name, std::ios::binary);
  std::vector<std::byte> restored;
  hemstitch::Decompressor decompressor({}, [&](std::span<const std::byte> piece) {
    restored.insert(restored.end(), piece.begin(), piece.end());
  });
  std::vector<std::byte> buffer(std::size_t{1} << 16);
  while (frame) {
    frame.read(reinterpret_cast<char*>(buffer.data()), static_cast<std::streamsize>(buffer.size()));
    decompressor.write(std::span(buffer).first(static_cast<std::size_t>(frame.gcount())));
  }
  decompressor.finish();
  return restored == content;
}

std::vector<std::byte> read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) throw std::runtime_error("could not open " + name);
  std::vector<std::byte> content;
  for (std::istreambuf_iterator<char> at(file), end; at != end; ++at)
    content.push_back(static_cast<std::byte>(*at));
  return content;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fprintf(stderr, "usage: compress_file FILE\n");
    return 1;
  }
  const std::string name = arguments[1];
  try {
    const std::vector<std::byte> content = read_file(name);
    compress_in_memory(content);
    compress_as_stream(name, name + ".lz4");
    const bool exact = restores_to(name + ".lz4", content);
    std::printf("as a stream: wrote %s.lz4, restored %s\n", name.c_str(), exact ? "exactly" : "WRONGLY");
    return exact ? 0 : 1;
  } catch (const hemstitch::Error& error) {
    std::fprintf(stderr, "compress_file: %s: status %d: %s\n", name.c_str(), static_cast<int>(error.status()),
                 error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compress_file: %s\n", error.what());
  }
  return 1;
}
