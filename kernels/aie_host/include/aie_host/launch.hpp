// The launch grid: launch iterations x herd, walked over host threads.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include <aie_api/rounding.hpp>

namespace aie_host {

/// Extent of a two-dimensional grid.
struct extent {
    unsigned x;
    unsigned y;
    constexpr unsigned count() const { return x * y; }
};

/// Which core of which launch iteration runs.
struct core_position {
    unsigned launch_x, launch_y;
    unsigned herd_x, herd_y;
};

/// Calls `work(index)` for every index below `count`, on `threads` host threads, each with a `work` of its own that
/// it gets from `make_work()`.
template <typename MakeWork>
void parallel_workers(unsigned count, unsigned threads, MakeWork make_work) {
    std::atomic<unsigned> next{0};
    const auto loop = [&] {
        auto work = make_work();
        for (unsigned index; (index = next.fetch_add(1, std::memory_order_relaxed)) < count;) work(index);
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads && i < count; ++i) others.emplace_back(loop);
    loop();
    for (auto& other : others) other.join();
}

/// Calls `work(index)` for every index below `count`, on `threads` host threads.
template <typename Work>
void parallel_for(unsigned count, unsigned threads, Work work) {
    parallel_workers(count, threads, [&] { return [&](unsigned index) { work(index); }; });
}

/// Plays every launch iteration, row by row, for kernels whose cores share what the segment stages: each host thread
/// calls the segment it gets from `make_segment()`.
template <typename MakeSegment>
void launch_segments(extent iterations, unsigned threads, MakeSegment make_segment) {
    parallel_workers(iterations.count(), threads, [&] {
        return [&, segment = make_segment()](unsigned index) mutable {
            aie::set_rounding(aie::rounding_mode::floor);
            segment(extent{index / iterations.y, index % iterations.y});
        };
    });
}

/// Runs `core(position)` for every core of every launch iteration, and nothing else: what the grid
/// does not cover is never written, as on the device. Every core starts with a fresh control register.
template <typename Core>
void launch(extent iterations, extent herd, unsigned threads, Core core) {
    parallel_for(iterations.count() * herd.count(), threads, [&](unsigned index) {
        const unsigned iteration = index / herd.count();
        const unsigned tile = index % herd.count();
        aie::set_rounding(aie::rounding_mode::floor);
        core(core_position{iteration / iterations.y, iteration % iterations.y, tile / herd.y, tile % herd.y});
    });
}

}  // namespace aie_host
