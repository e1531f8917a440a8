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
        const block a_by_k = operand(transpose(a, M, K));
        const block b_by_k = operand(b);
        for (unsigned row = 0; row < M; ++row) {
            auto c = get_row(row);
            for (unsigned k = 0; k < K; ++k) c += a_by_k[k][row] * b_by_k[k];
            set_row(row, c);
        }
    }

    /// C = A * B.
    void mul(const vector<bfloat16, size_A>& a, const vector<bfloat16, size_B>& b) {
        accumulator_ = zeros<accfloat, size_C>();
        mac(a, b);
    }

    template <typename T>
    vector<T, size_C> to_vector() const { return accumulator_.template to_vector<T>(); }

private:
    using block = detail::block_lanes<N>;
    using row_lanes = detail::lanes<float, N>;

    static block operand(const vector<bfloat16, size_B>& by_k) {
        block wide;
        for (unsigned k = 0; k < K; ++k)
            wide[k] = detail::widen<N>(by_k.template extract<N>(k).chunks[0]);
#ifdef AIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16
        detail::quantise<N>(wide);
#endif
        return wide;
    }

    row_lanes get_row(unsigned row) const {
        row_lanes c;
        std::memcpy(&c, reinterpret_cast<const float*>(accumulator_.chunks.data()) + row * N, sizeof c);
        return c;
    }
    void set_row(unsigned row, const row_lanes& c) {
        std::memcpy(reinterpret_cast<float*>(accumulator_.chunks.data()) + row * N, &c, sizeof c);
    }

    accum<accfloat, size_C> accumulator_;
};

}  // namespace aie
