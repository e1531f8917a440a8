// aie::mmul<8, 8, 8>: one step of the matrix unit, C[8,8] += A[8,8] * B[8,8].
//
// With AIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16 the operands are quantised to BFP16 (A along its
// rows, B along its columns), as on the device; without it bf16 products are taken as they are.
#pragma once

#include <utility>

#include <aie_api/bfp16.hpp>

namespace aie {

namespace detail {

/// An 8 x 8 block, row by row, in host registers: a register holds two rows, one, or half of one.
class block_8x8 {
public:
    static constexpr unsigned width = chunk_lanes(64);
    static constexpr unsigned count = 64 / width;
    static constexpr unsigned registers_per_row = std::max(1u, 8 / width);
    using floats = lanes<float, width>;
    using words = lanes<uint32_t, width>;

    std::array<floats, count> registers;

    /// Blocks of 8 along a row.
    [[gnu::always_inline]] void quantise_rows() {
        std::array<words, count> ranks;
        each_register([&](auto i) { ranks[i] = rank<width>(registers[i]); });
        if constexpr (width == 16) {
            // The ranks of all rows meet in one register, two lanes a row, so that exponents are made once.
            const words low = larger_of_both<halves_of_rows>(ranks[0], ranks[1]);
            const words high = larger_of_both<halves_of_rows>(ranks[2], ranks[3]);
            const words largest = larger_of_both<quarters_of_rows>(low, high);
            const block_scale<width> scale(block_exponent<width>(larger<width>(largest, swapped<1>(largest))));
            each_register([&](auto i) { registers[i] = spread<i>(scale).quantised(registers[i]); });
        } else {
            each_register([&](auto i) {
                words largest = width < 8 ? larger<width>(ranks[i], ranks[i ^ 1]) : ranks[i];
                if constexpr (width == 8) largest = larger<width>(largest, swapped<4>(largest));
                largest = larger<width>(largest, swapped<2>(largest));
                largest = larger<width>(largest, swapped<1>(largest));
                registers[i] = block_scale<width>(block_exponent<width>(largest)).quantised(registers[i]);
            });
        }
    }

    /// Blocks of 8 along a column.
    [[gnu::always_inline]] void quantise_columns() {
        std::array<words, registers_per_row> ranks{};
        each_register([&](auto i) {
            words& largest = ranks[i % registers_per_row];
            largest = larger<width>(largest, rank<width>(registers[i]));
        });
        if constexpr (width > 8) ranks[0] = larger<width>(ranks[0], swapped<8>(ranks[0]));
        each_register([&](auto i) {
            const block_scale<width> scale(block_exponent<width>(ranks[i % registers_per_row]));
            registers[i] = scale.quantised(registers[i]);
        });
    }

    /// this += a[:, k] * b[k, :].
    template <unsigned k>
    [[gnu::always_inline]] void add_outer_product(const block_8x8& a, const block_8x8& b) {
        each_register([&](auto i) {
            constexpr unsigned row = i / registers_per_row;
            const floats& of_a = a.registers[width < 8 ? row * registers_per_row + k / width : i];
            const floats& of_b = b.registers[k * 8 / width + i % registers_per_row];
            registers[i] += permuted<column_of_a<k>>(of_a) * permuted<row_of_b<k>>(of_b);
        });
    }

private:
    // Which lane of its register an element comes from: in a register of A the k-th of the same row, in one of
    // B the same column of row k.
    template <unsigned k>
    struct column_of_a {
        static constexpr int from(unsigned lane) { return width < 8 ? k % width : lane / 8 * 8 + k; }
    };
    template <unsigned k>
    struct row_of_b {
        static constexpr int from(unsigned lane) { return width > 8 ? k % 2 * 8 + lane % 8 : lane; }
    };
    template <unsigned distance>
    struct partner {
        static constexpr int from(unsigned lane) { return lane ^ distance; }
    };

    // Two registers of two rows each become one of four rows, each row's upper or lower half of lanes; two of
    // those one of eight rows, each row's upper or lower pair. Lane 16 is the second register's first.
    template <unsigned upper>
    struct halves_of_rows {
        static constexpr int from(unsigned lane) { return lane / 4 * 8 + upper * 4 + lane % 4; }
    };
    template <unsigned upper>
    struct quarters_of_rows {
        static constexpr int from(unsigned lane) { return lane / 2 % 2 * 16 + lane / 4 * 4 + upper * 2 + lane % 2; }
    };
    // Where the rows of register i are after both steps.
    template <unsigned i>
    struct gathered_rows {
        static constexpr int from(unsigned lane) { return (i % 2 * 2 + lane / 8) * 4 + i / 2 * 2; }
    };

    template <typename Order, typename Register>
    [[gnu::always_inline]] static Register merged(Register x, Register y) {
        return [&]<std::size_t... lane>(std::index_sequence<lane...>) __attribute__((always_inline)) {
            return Register(__builtin_shufflevector(x, y, Order::from(lane)...));
        }(std::make_index_sequence<width>());
    }
    template <typename Order, typename Register>
    [[gnu::always_inline]] static Register permuted(Register x) { return merged<Order>(x, x); }

    template <template <unsigned> typename Order>
    [[gnu::always_inline]] static words larger_of_both(words x, words y) {
        return larger<width>(merged<Order<0>>(x, y), merged<Order<1>>(x, y));
    }
    template <unsigned i>
    [[gnu::always_inline]] static block_scale<width> spread(const block_scale<width>& scale) {
        using order = gathered_rows<i>;
        return {permuted<order>(scale.down), permuted<order>(scale.constant), permuted<order>(scale.up)};
    }
    template <unsigned distance>
    [[gnu::always_inline]] static words swapped(words x) { return permuted<partner<distance>>(x); }

    /// Calls `work` with each register's index as a constant, so that the block stays in registers.
    template <typename Work>
    [[gnu::always_inline]] static void each_register(Work work) {
        [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
            (work(std::integral_constant<unsigned, i>()), ...);
        }(std::make_index_sequence<count>());
    }
};

}  // namespace detail

template <unsigned M, unsigned K, unsigned N, typename TypeA, typename TypeB, typename Tag = accauto>
class mmul {
    static_assert(M == 8 && K == 8 && N == 8, "aie::mmul: aie_api/mmul.hpp models the 8x8x8 shape only: add this one there");
    static_assert(std::is_same_v<TypeA, bfloat16> && std::is_same_v<TypeB, bfloat16>,
                  "aie::mmul: aie_api/mmul.hpp models bf16 operands only: add this type there");

public:
    static constexpr unsigned size_A = M * K;
    static constexpr unsigned size_B = K * N;
    static constexpr unsigned size_C = M * N;

    mmul() : sums_{} {}
    template <typename T>
    explicit mmul(const vector<T, size_C>& c) : sums_{accum<accfloat, size_C>(c).chunks} {}

    /// C += A * B; blocks row by row. Every element adds its products in the order of K.
    [[gnu::always_inline]] void mac(const vector<bfloat16, size_A>& a, const vector<bfloat16, size_B>& b) {
        detail::block_8x8 left{a.chunks}, right{b.chunks};
#ifdef AIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16
        left.quantise_rows();
        right.quantise_columns();
#endif
        [&]<std::size_t... k>(std::index_sequence<k...>) __attribute__((always_inline)) {
            (sums_.add_outer_product<k>(left, right), ...);
        }(std::make_index_sequence<K>());
    }

    /// C = A * B.
    [[gnu::always_inline]] void mul(const vector<bfloat16, size_A>& a, const vector<bfloat16, size_B>& b) {
        sums_ = {};
        mac(a, b);
    }

    template <typename T>
    vector<T, size_C> to_vector() const {
        accum<accfloat, size_C> sums;
        sums.chunks = sums_.registers;
        return sums.template to_vector<T>();
    }

private:
    detail::block_8x8 sums_;
};

}  // namespace aie
