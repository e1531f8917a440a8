// Host implementation of the part of the AIE API that LLM kernels use: what the AIE2P computes,
// bit for bit. docs/datapath.md says what is modelled and how sure each rule is.
#pragma once

#include <aie_api/accum.hpp>
#include <aie_api/bfp16.hpp>
#include <aie_api/compiler.hpp>
#include <aie_api/elementary.hpp>
#include <aie_api/mmul.hpp>
#include <aie_api/reduce.hpp>
#include <aie_api/rounding.hpp>
#include <aie_api/unmodelled.hpp>
#include <aie_api/vector.hpp>
