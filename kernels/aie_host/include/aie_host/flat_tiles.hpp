// The walk of flat element-wise kernels: tiles of a one-dimensional buffer dealt to the herd in turn.
#pragma once

#include <cstddef>

#include <aie_host/launch.hpp>

namespace aie_host {

/// Calls `core(first_element)` for every whole tile of every whole herd's turn over `elements`
/// elements; what is left over is never written, as on the device.
template <typename Core>
void launch_flat(std::size_t elements, unsigned tile, extent herd, unsigned threads, Core core) {
    const auto turns = static_cast<unsigned>(elements / (std::size_t{tile} * herd.count()));
    launch({turns, 1}, herd, threads, [&](core_position position) {
        const std::size_t turn = std::size_t{position.launch_x} * herd.count();
        core((turn + position.herd_x * herd.y + position.herd_y) * tile);
    });
}

}  // namespace aie_host
