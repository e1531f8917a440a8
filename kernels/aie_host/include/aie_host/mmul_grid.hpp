// The matrix unit over whole tiles: what a grid of aie::mmul<8, 8, 8> over one tile computes, bit
// for bit, at the speed of a host matrix multiplication.
//
// Each operand is quantised to BFP16 once and kept as the FP32 values it stands for. Every element
// of C is its own chain of multiply-adds in the order of K, so no blocking of M, N or K changes a bit.
#pragma once

#include <memory>

#include <aie_api/bfp16.hpp>
#include <aie_host/launch.hpp>

namespace aie_host {

using lanes16 = aie::detail::lanes<float, 16>;

/// BFP16 operand in strips of `Width` rows of A, or columns of B: element [strip][k][lane].
template <unsigned Width>
class bfp16_panel {
public:
    using strip_lanes = aie::detail::lanes<float, Width>;
    using bf16_lanes = aie::detail::lanes<uint16_t, Width>;

    /// Room for `extent` rows of A, or columns of B, of length `depth`. Left as it comes: the threads that
    /// fill the strips touch their pages first.
    bfp16_panel(unsigned extent, unsigned depth)
        : depth_(depth), strips_(std::make_unique_for_overwrite<strip_lanes[]>(std::size_t{extent} / Width * depth)) {}

    unsigned depth() const { return depth_; }
    strip_lanes* strip(unsigned index) { return strips_.get() + std::size_t{index} * depth_; }
    const strip_lanes* strip(unsigned index) const { return strips_.get() + std::size_t{index} * depth_; }

    /// Quantises the strip's blocks of 8 along K. `load(k)` gives bf16 patterns of K in [k, k + 8), a lane
    /// a row of A or column of B.
    template <typename Load>
    void fill_strip(unsigned index, Load load) {
        for (unsigned k = 0; k < depth_; k += aie::detail::block_length) {
            const std::array<bf16_lanes, aie::detail::block_length> patterns = load(k);
            aie::detail::block_lanes<Width> block;
            for (unsigned i = 0; i < aie::detail::block_length; ++i)
                block[i] = aie::detail::widen<Width>(patterns[i]);
            aie::detail::quantise<Width>(block);
            std::copy(block.begin(), block.end(), strip(index) + k);
        }
    }

private:
    unsigned depth_;
    std::unique_ptr<strip_lanes[]> strips_;
};

inline constexpr unsigned left_width = 8;
inline constexpr unsigned right_width = 16;
using left_panel = bfp16_panel<left_width>;
using right_panel = bfp16_panel<right_width>;

namespace detail {

using bf16_octet = aie::detail::lanes<uint16_t, 8>;

/// Transposes 8 x 8 bf16 patterns in registers: three rounds of interleaving row i with row i + 4.
inline void transpose(bf16_octet (&rows)[8]) {
    for (unsigned round = 0; round < 3; ++round) {
        bf16_octet interleaved[8];
        for (unsigned i = 0; i < 4; ++i) {
            interleaved[2 * i] = __builtin_shufflevector(rows[i], rows[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
            interleaved[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
        }
        std::copy(interleaved, interleaved + 8, rows);
    }
}

}  // namespace detail

/// Fills one strip from `matrix[extent, depth]`, contraction along its rows (A of a GEMM, Q, K and P of
/// attention). `stride` in elements.
template <unsigned Width>
void quantise_rows(bfp16_panel<Width>& panel, const bfloat16* matrix, std::size_t stride, unsigned strip) {
    panel.fill_strip(strip, [&](unsigned k) {
        std::array<typename bfp16_panel<Width>::bf16_lanes, 8> by_k;
        for (unsigned octet = 0; octet < Width; octet += 8) {
            detail::bf16_octet rows[8];
            for (unsigned i = 0; i < 8; ++i)
                std::memcpy(&rows[i], matrix + (strip * Width + octet + i) * stride + k, sizeof rows[i]);
            detail::transpose(rows);
            for (unsigned i = 0; i < 8; ++i)
                std::memcpy(reinterpret_cast<uint16_t*>(&by_k[i]) + octet, &rows[i], sizeof rows[i]);
        }
        return by_k;
    });
}

/// Fills one strip from `matrix[depth, extent]`, contraction along its columns (B of a GEMM, V of
/// attention). `stride` in elements.
template <unsigned Width>
void quantise_columns(bfp16_panel<Width>& panel, const bfloat16* matrix, std::size_t stride, unsigned strip) {
    panel.fill_strip(strip, [&](unsigned k) {
        std::array<typename bfp16_panel<Width>::bf16_lanes, 8> by_k;
        for (unsigned i = 0; i < 8; ++i)
            std::memcpy(&by_k[i], matrix + (k + i) * stride + strip * Width, sizeof by_k[i]);
        return by_k;
    });
}

namespace detail {

// C rows and C registers kept at once: 16 of 32 registers with AVX-512, 8 of 16 with AVX2.
#ifdef __AVX512F__
inline constexpr unsigned rows_at_once = 8, registers_at_once = 2;
#else
inline constexpr unsigned rows_at_once = 4, registers_at_once = 1;
#endif

/// C[rows, 16 * registers] += A * B over `depth` steps of K.
template <unsigned Rows, unsigned Registers>
inline void multiply_accumulate(const float* a, const lanes16* const* b, unsigned depth, float* c,
                                std::size_t c_stride) {
    lanes16 sums[Rows][Registers];
    for (unsigned row = 0; row < Rows; ++row)
        for (unsigned r = 0; r < Registers; ++r)
            std::memcpy(&sums[row][r], c + row * c_stride + r * 16, sizeof(lanes16));
    for (unsigned k = 0; k < depth; ++k) {
        lanes16 right[Registers];
        for (unsigned r = 0; r < Registers; ++r) right[r] = b[r][k];
        for (unsigned row = 0; row < Rows; ++row)
            for (unsigned r = 0; r < Registers; ++r) sums[row][r] += a[k * left_width + row] * right[r];
    }
    for (unsigned row = 0; row < Rows; ++row)
        for (unsigned r = 0; r < Registers; ++r)
            std::memcpy(c + row * c_stride + r * 16, &sums[row][r], sizeof(lanes16));
}

template <unsigned Registers>
inline void multiply_accumulate_strip(const left_panel::strip_lanes* a, const lanes16* const* b, unsigned depth,
                                      float* c, std::size_t c_stride) {
    for (unsigned row = 0; row < left_width; row += rows_at_once)
        multiply_accumulate<rows_at_once, Registers>(reinterpret_cast<const float*>(a) + row, b, depth,
                                                     c + row * c_stride, c_stride);
}

}  // namespace detail

/// Where along the contraction each operand's panel is read from: the two may be cut differently.
struct k_offset {
    unsigned left;
    unsigned right;
};

/// C[rows, columns] += A * B over `depth` steps of K, for the tile whose first row and column are
/// given. Rows are a multiple of 8, columns of 16; C is FP32, row by row.
inline void mac_tile(const left_panel& a, unsigned first_row, unsigned rows, const right_panel& b,
                     unsigned first_column, unsigned columns, k_offset first_k, unsigned depth, float* c,
                     std::size_t c_stride) {
    constexpr unsigned wide = detail::registers_at_once;
    for (unsigned column = 0; column < columns;) {
        const unsigned left_over = (columns - column) / right_width;
        const lanes16* strips[wide];
        for (unsigned r = 0; r < std::min(wide, left_over); ++r)
            strips[r] = b.strip((first_column + column) / right_width + r) + first_k.right;
        for (unsigned row = 0; row < rows; row += left_width) {
            const auto* strip = a.strip((first_row + row) / left_width) + first_k.left;
            float* block = c + row * c_stride + column;
            if (left_over >= wide)
                detail::multiply_accumulate_strip<wide>(strip, strips, depth, block, c_stride);
            else
                detail::multiply_accumulate_strip<1>(strip, strips, depth, block, c_stride);
        }
        column += right_width * std::min(wide, left_over);
    }
}

}  // namespace aie_host
