// aie::mmul<8, 8, 8>: one step of the matrix unit, C[8,8] += A[8,8] * B[8,8].
//
// With AIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16 the operands are quantised to BFP16 (A along its
// rows, B along its columns), as on the device; without it bf16 products are taken as they are.
#pragma once

#include <aie_api/bfp16.hpp>

namespace aie {

template <unsigned M, unsigned K, unsigned N, typename TypeA, typename TypeB, typename Tag = accauto>
class mmul {
    static_assert(M == 8 && K == 8 && N == 8, "aie_api/mmul.hpp models the 8x8x8 shape only: add this one there");
    static_assert(std::is_same_v<TypeA, bfloat16> && std::is_same_v<TypeB, bfloat16>,
                  "aie_api/mmul.hpp models bf16 operands only: add this type there");

public:
    static constexpr unsigned size_A = M * K;
    static constexpr unsigned size_B = K * N;
    static constexpr unsigned size_C = M * N;

    mmul() : accumulator_(zeros<accfloat, size_C>()) {}
    template <typename T>
    explicit mmul(const vector<T, size_C>& c) : accumulator_(c) {}

    /// C += A * B; blocks row by row.
    void mac(const vector<bfloat16, size_A>& a, const vector<bfloat16, size_B>& b) {
        const operand a_by_k = quantised(transpose(a, M, K));
        const operand b_by_k = quantised(b);
        auto c = accumulator_.template to_vector<float>();
        for (unsigned row = 0; row < M; ++row) {
            accum<accfloat, N> sums(c.template extract<N>(row));
            for (unsigned k = 0; k < K; ++k) sums = detail::sum(sums, detail::product(a_by_k[k].spread(row), b_by_k[k].lanes));
            c.insert(row, sums.template to_vector<float>());
        }
        accumulator_.from_vector(c);
    }

    /// C = A * B.
    void mul(const vector<bfloat16, size_A>& a, const vector<bfloat16, size_B>& b) {
        accumulator_ = zeros<accfloat, size_C>();
        mac(a, b);
    }

    template <typename T>
    vector<T, size_C> to_vector() const { return accumulator_.template to_vector<T>(); }

private:
    /// What one step of K multiplies: a row of B, or a column of A.
    struct k_step {
        accum<accfloat, N> lanes;

        accum<accfloat, N> spread(unsigned lane) const {
            const float value = lanes.template to_vector<float>().get(lane);
            return accum<accfloat, N>(broadcast<float, N>(value));
        }
    };
    using operand = std::array<k_step, K>;

    static operand quantised(const vector<bfloat16, size_B>& by_k) {
        operand steps;
        for (unsigned k = 0; k < K; ++k) steps[k].lanes.from_vector(by_k.template extract<N>(k));
#ifdef AIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16
        constexpr unsigned width = accum<accfloat, N>::lanes_per_chunk;
        for (unsigned chunk = 0; chunk < N / width; ++chunk) {
            detail::block_lanes<width> block;
            for (unsigned k = 0; k < K; ++k) block[k] = steps[k].lanes.chunks[chunk];
            detail::quantise<width>(block);
            for (unsigned k = 0; k < K; ++k) steps[k].lanes.chunks[chunk] = block[k];
        }
#endif
        return steps;
    }

    accum<accfloat, size_C> accumulator_;
};

}  // namespace aie
