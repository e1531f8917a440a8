// What the DMA does on the way to L1 and back: matrices become 8 x 8 blocks and rows again.
//
// Blocks are stored one after the other, block columns outermost or innermost as the kernel wants it.
#pragma once

#include <cstddef>
#include <cstring>

namespace aie_host {

inline constexpr unsigned block_side = 8;
inline constexpr unsigned block_elements = block_side * block_side;

/// Which blocks of a matrix are neighbours in L1.
enum class block_order { along_rows, along_columns };

namespace detail {

/// Calls `visit(block, row, column)` with the number and the first row and column of every block.
template <typename Visit>
inline void each_block(unsigned rows, unsigned columns, block_order order, Visit visit) {
    const unsigned down = rows / block_side, across = columns / block_side;
    for (unsigned i = 0; i < down; ++i)
        for (unsigned j = 0; j < across; ++j)
            visit(order == block_order::along_rows ? i * across + j : j * down + i, i * block_side, j * block_side);
}

}  // namespace detail

/// Copies matrix[rows, columns], `stride` elements from row to row, into blocks.
template <typename T>
inline void to_blocks(const T* matrix, std::size_t stride, unsigned rows, unsigned columns, block_order order,
                      T* blocks) {
    detail::each_block(rows, columns, order, [&](unsigned block, unsigned row, unsigned column) {
        for (unsigned i = 0; i < block_side; ++i)
            std::memcpy(static_cast<void*>(blocks + block * block_elements + i * block_side),
                        matrix + (row + i) * stride + column, block_side * sizeof(T));
    });
}

/// Copies blocks into matrix[rows, columns], `stride` elements from row to row.
template <typename T>
inline void from_blocks(const T* blocks, unsigned rows, unsigned columns, block_order order, T* matrix,
                        std::size_t stride) {
    detail::each_block(rows, columns, order, [&](unsigned block, unsigned row, unsigned column) {
        for (unsigned i = 0; i < block_side; ++i)
            std::memcpy(static_cast<void*>(matrix + (row + i) * stride + column),
                        blocks + block * block_elements + i * block_side, block_side * sizeof(T));
    });
}

}  // namespace aie_host
