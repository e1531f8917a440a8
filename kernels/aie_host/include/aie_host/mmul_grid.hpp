// The matrix unit over whole tiles: what a grid of aie::mmul<8, 8, 8> over one tile computes, bit
// for bit, at the speed of a host matrix multiplication.
//
// Each operand is quantised to BFP16 once and kept as the FP32 values it stands for. Every element
// of C is its own chain of multiply-adds in the order of K, so no blocking of M, N or K changes a bit.
#pragma once

#include <aie_api/bfp16.hpp>
#include <aie_host/large_buffer.hpp>
#include <aie_host/launch.hpp>

namespace aie_host {

/// BFP16 operand in strips of `Width` rows of A, or columns of B: element [strip][k][lane].
template <unsigned Width>
class bfp16_panel {
public:
    using bf16_row = std::array<uint16_t, Width>;

    /// Room for `extent` rows of A, or columns of B, of length `depth`.
    bfp16_panel(unsigned extent, unsigned depth)
        : depth_(depth),
          stride_(depth < long_strip ? depth : depth + strip_padding),
          strips_(make_large_buffer<strip_row>(std::size_t{extent} / Width * stride_)) {}

    /// The strip from step `k` on: `Width` floats a step.
    const float* strip(unsigned index, unsigned k) const { return row(index, k).lanes; }

    /// From one strip to the next, in floats.
    std::size_t strip_floats() const { return std::size_t{stride_} * Width; }

    /// Quantises the strip's blocks of 8 along K. `load(k)` gives bf16 patterns of K in [k, k + 8), a lane
    /// a row of A or column of B.
    template <typename Load>
    void fill_strip(unsigned index, Load load) {
        for (unsigned k = 0; k < depth_; k += block_length) {
            const std::array<bf16_row, block_length> patterns = load(k);
            for (unsigned lane = 0; lane < Width; lane += chunk) quantise_chunk(patterns, index, k, lane);
        }
    }

private:
    static constexpr unsigned block_length = aie::detail::block_length;
    static constexpr unsigned chunk = aie::detail::chunk_lanes(Width);

    struct alignas(Width * sizeof(float)) strip_row {
        float lanes[Width];
    };

    strip_row& row(unsigned index, unsigned k) const { return strips_[std::size_t{index} * stride_ + k]; }

    void quantise_chunk(const std::array<bf16_row, block_length>& patterns, unsigned index, unsigned k, unsigned lane) {
        aie::detail::block_lanes<chunk> block;
        for (unsigned i = 0; i < block_length; ++i) {
            aie::detail::lanes<uint16_t, chunk> pattern;
            std::memcpy(&pattern, &patterns[i][lane], sizeof pattern);
            block[i] = aie::detail::widen<chunk>(pattern);
        }
        aie::detail::quantise<chunk>(block);
        for (unsigned i = 0; i < block_length; ++i)
            std::memcpy(row(index, k + i).lanes + lane, &block[i], sizeof block[i]);
    }

    // Long strips of a power of two in length would all start in the same sets of a cache: what a tile reads of
    // each is spread over it instead.
    static constexpr unsigned long_strip = 1024;
    static constexpr unsigned strip_padding = 256 + 16;

    unsigned depth_;
    unsigned stride_;
    large_buffer<strip_row> strips_;
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
        std::array<typename bfp16_panel<Width>::bf16_row, 8> by_k;
        for (unsigned octet = 0; octet < Width; octet += 8) {
            detail::bf16_octet rows[8];
            for (unsigned i = 0; i < 8; ++i)
                std::memcpy(&rows[i], matrix + (strip * Width + octet + i) * stride + k, sizeof rows[i]);
            detail::transpose(rows);
            for (unsigned i = 0; i < 8; ++i)
                std::memcpy(&by_k[i][octet], &rows[i], sizeof rows[i]);
        }
        return by_k;
    });
}

/// Fills one strip from `matrix[depth, extent]`, contraction along its columns (B of a GEMM, V of
/// attention). `stride` in elements.
template <unsigned Width>
void quantise_columns(bfp16_panel<Width>& panel, const bfloat16* matrix, std::size_t stride, unsigned strip) {
    panel.fill_strip(strip, [&](unsigned k) {
        std::array<typename bfp16_panel<Width>::bf16_row, 8> by_k;
        for (unsigned i = 0; i < 8; ++i)
            std::memcpy(&by_k[i], matrix + (k + i) * stride + strip * Width, sizeof by_k[i]);
        return by_k;
    });
}

namespace detail {

// What is kept in registers at once: 8 x 32 of C in 16 of AVX-512's 32 registers, 4 x 16 in 8 of
// AVX2's 16, 2 x 16 in 8 of 16 narrower ones.
inline constexpr unsigned rows_at_once = aie::detail::host_register_lanes / 2;
inline constexpr unsigned strips_at_once = aie::detail::host_register_lanes == 16 ? 2 : 1;

using host_register = aie::detail::lanes<float, aie::detail::host_register_lanes>;
inline constexpr unsigned registers_per_strip = right_width / aie::detail::host_register_lanes;

/// C[rows_at_once, 16 * Strips] += A * B over `depth` steps of K.
template <unsigned Strips>
inline void multiply_accumulate(const float* a, const float* const* b, unsigned depth, float* c,
                                std::size_t c_stride) {
    constexpr unsigned lanes = aie::detail::host_register_lanes;
    constexpr unsigned registers = Strips * registers_per_strip;
    host_register sums[rows_at_once][registers];
    for (unsigned row = 0; row < rows_at_once; ++row)
        for (unsigned r = 0; r < registers; ++r)
            std::memcpy(&sums[row][r], c + row * c_stride + r * lanes, sizeof(host_register));
    for (unsigned k = 0; k < depth; ++k) {
        host_register right[registers];
        for (unsigned r = 0; r < registers; ++r)
            std::memcpy(&right[r], b[r / registers_per_strip] + k * right_width + r % registers_per_strip * lanes,
                        sizeof(host_register));
        for (unsigned row = 0; row < rows_at_once; ++row)
            for (unsigned r = 0; r < registers; ++r) sums[row][r] += a[k * left_width + row] * right[r];
    }
    for (unsigned row = 0; row < rows_at_once; ++row)
        for (unsigned r = 0; r < registers; ++r)
            std::memcpy(c + row * c_stride + r * lanes, &sums[row][r], sizeof(host_register));
}

template <unsigned Strips>
inline void multiply_accumulate_strip(const float* a, const float* const* b, unsigned depth, float* c,
                                      std::size_t c_stride) {
    for (unsigned row = 0; row < left_width; row += rows_at_once)
        multiply_accumulate<Strips>(a + row, b, depth, c + row * c_stride, c_stride);
}

}  // namespace detail

/// Where along the contraction each operand's panel is read from: the two may be cut differently.
struct k_offset {
    unsigned left;
    unsigned right;
};

namespace detail {

inline constexpr std::size_t cache_line = 64;

/// Asks for the `part`-th of `parts` equal parts of `bytes` bytes from `first` on. An address that is not there is ignored.
inline void prefetch_part(const float* first, std::size_t bytes, unsigned part, unsigned parts) {
    const char* address = reinterpret_cast<const char*>(first);
    for (std::size_t at = bytes * part / parts; at < bytes * (part + 1) / parts; at += cache_line)
        __builtin_prefetch(address + at, 0, 2);
}

}  // namespace detail

/// C[rows, columns] += A * B over `depth` steps of K, for the tile whose first row and column are
/// given. Rows are a multiple of 8, columns of 16; C is FP32, row by row.
inline void mac_tile(const left_panel& a, unsigned first_row, unsigned rows, const right_panel& b,
                     unsigned first_column, unsigned columns, k_offset first_k, unsigned depth, float* c,
                     std::size_t c_stride) {
    constexpr unsigned wide = detail::strips_at_once;
    const std::size_t strip_bytes = std::size_t{depth} * right_width * sizeof(float);
    for (unsigned column = 0; column < columns;) {
        const unsigned strips = std::min(wide, (columns - column) / right_width);
        const float* right[wide];
        for (unsigned i = 0; i < strips; ++i)
            right[i] = b.strip((first_column + column) / right_width + i, first_k.right);
        const bool last = column + strips * right_width >= columns;
        for (unsigned row = 0; row < rows; row += left_width) {
            // While these strips are multiplied, the next ones come nearer, a part with every eight rows.
            for (unsigned i = 0; i < strips && !last; ++i)
                detail::prefetch_part(right[i] + strips * b.strip_floats(), strip_bytes, row / left_width, rows / left_width);
            const float* left = a.strip((first_row + row) / left_width, first_k.left);
            float* block = c + row * c_stride + column;
            if (strips == wide)
                detail::multiply_accumulate_strip<wide>(left, right, depth, block, c_stride);
            else
                detail::multiply_accumulate_strip<1>(left, right, depth, block, c_stride);
        }
        column += right_width * strips;
    }
}

}  // namespace aie_host
