// Memory for operands of many MiB, in large pages where the system has them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace aie_host {

struct free_buffer {
    void operator()(void* memory) const { std::free(memory); }
};

template <typename T>
using large_buffer = std::unique_ptr<T[], free_buffer>;

/// Room for `count` elements, left as it comes: the threads that fill it touch its pages first. From 2 MiB on
/// in pages of that size, since the page faults of a GEMM's operands cost as much as quantising them.
template <typename T>
large_buffer<T> make_large_buffer(std::size_t count) {
    constexpr std::size_t large_page = std::size_t{2} << 20;
    const bool is_large = count * sizeof(T) >= large_page;
    const std::size_t alignment = is_large ? large_page : alignof(T);
    const std::size_t bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, bytes);
    if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
    if (is_large) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return large_buffer<T>(static_cast<T*>(memory));
}

}  // namespace aie_host
