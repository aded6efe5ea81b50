// SPDX-License-Identifier: Apache-2.0
//
// elementwise.program and pack.program, which take chunks, for CPUs; their twins _items: dst[e] = what the
// work program computes of element e, in the order of dst's memory.
//
//   program   five numbers: elements; instructions that run once, and those for each chunk; the
//             register of the result, and that of the places in dst, or -1: e itself; then the
//             instructions, five words each:  code  result  a  b  c
//   arrays    what the program loads from: the operand, then up to three side operands
//
//        e   [0 ........ CHUNK-1][CHUNK ........ 2*CHUNK-1][ ...          a work-item takes a chunk,
//             one instruction after another works on all                 then another, CHUNK * items on
//             elements of the chunk, WIDTH at a time
//
//        registers, REGISTERS x CHUNK words: reals, whole numbers or truth values 0 and 1
//
// The text depends on no model: chains and the places of operands are data. So it is built once for a
// device, and serves where no kernel for a model is built yet.
//
// Tunables: CHUNK elements of a work-item at a time; WIDTH of vectors, 1 or 16.
// pack.program_part, pack.program_part_items: the elements are those of the problem, row-major, and dst
// is a part of a tensor.
//
// Assumes: elements, padding included, are countable in 31 bits.
#if WIDTH == 16
#define REALS float16
#define WHOLES int16
#define NATURALS uint16
#define AS_REALS as_float16
#define AS_WHOLES as_int16
#define AS_NATURALS as_uint16
#define TO_REALS convert_float16
#define LANES (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define FETCH(from) vload16(0, from)
#define KEEP(words, to) vstore16(words, 0, to)
#else
#define REALS float
#define WHOLES int
#define NATURALS uint
#define AS_REALS as_float
#define AS_WHOLES as_int
#define AS_NATURALS as_uint
#define TO_REALS convert_float
#define LANES 0
#define FETCH(from) (*(from))
#define KEEP(words, to) (*(to) = (words))
#endif

// A work-item of many elements keeps its registers where all of a work-group's lie: it is alone there.
#if CHUNK > 1
#define PLACE __local
#else
#define PLACE __private
#endif

#define VECTORS (CHUNK / WIDTH)
#define WHOLE(r) (((PLACE WHOLES*)registers)[(r) * VECTORS + i])
#define REAL(r) AS_REALS(WHOLE(r))
#define EACH(words)                                                   \
  for (int i = 0; i < VECTORS; ++i) WHOLE(to) = AS_WHOLES(words); \
  break
// Not 1, which a compiler knows: it then widens the bits of a vector, and Oclgrind 21.10 makes 255 of each.
#define EACH_TRUTH(condition)                                        \
  for (int i = 0; i < VECTORS; ++i) WHOLE(to) = (condition) & truth; \
  break

__kernel ATTRIBUTES void program(ARGUMENTS) {
  PLACE int registers[REGISTERS * CHUNK] __attribute__((aligned(64)));
  __global const uint* arrays[] = {ARRAYS};
  const int last = work[0] - 1;
  const int truth = work[0] > 0;
  const int once = work[1];
  const int for_each = work[2];
  const int result = work[3];
  const int places = work[4];
  const int stride = (int)(get_global_size(0) * get_global_size(1)) * CHUNK;
  int first = (int)(get_global_id(1) * get_global_size(0) + get_global_id(0)) * CHUNK;
  if (first > last) return;
  // The first turn is that of the instructions that run once.
  for (int turn = 0;; ++turn) {
    const int instructions = turn == 0 ? once : for_each;
    __global const int* code = work + 5 + (turn == 0 ? 0 : once * 5);
    const int is_whole = first + CHUNK - 1 <= last;
    for (int n = 0; n < instructions; ++n, code += 5) {
      const int to = code[1];
      const int a = code[2];
      const int b = code[3];
      const int c = code[4];
      switch (code[0]) {
        case CODE_element:
          // Of two vectors: Oclgrind 21.10 takes the smaller of a vector and a number wrongly.
          EACH(min(LANES + (first + i * WIDTH), (WHOLES)(last)));
        case CODE_fill:
          EACH((WHOLES)(a));
        case CODE_load_single: {
          const int word = arrays[a][0];
          EACH((WHOLES)(word));
        }
        case CODE_load_run: {
          __global const uint* from = arrays[a] + first + b;
          if (is_whole) {
            EACH(FETCH(from + i * WIDTH));
          }
          for (int l = 0; l < CHUNK; ++l) registers[to * CHUNK + l] = from[min(l, last - first)];
          break;
        }
        case CODE_load_at: {
          __global const uint* from = arrays[b];
          for (int l = 0; l < CHUNK; ++l) registers[to * CHUNK + l] = from[registers[a * CHUNK + l]];
          break;
        }
        case CODE_whole_add:
          EACH(WHOLE(a) + WHOLE(b));
        case CODE_whole_subtract:
          EACH(WHOLE(a) - WHOLE(b));
        case CODE_whole_multiply:
          EACH(WHOLE(a) * WHOLE(b));
        case CODE_whole_divide:
          for (int l = 0; l < CHUNK; ++l) {
            registers[to * CHUNK + l] = registers[a * CHUNK + l] / registers[b * CHUNK + l];
          }
          break;
        case CODE_whole_remainder:
          for (int l = 0; l < CHUNK; ++l) {
            registers[to * CHUNK + l] = registers[a * CHUNK + l] % registers[b * CHUNK + l];
          }
          break;
        case CODE_whole_add_n:
          EACH(WHOLE(a) + b);
        case CODE_whole_multiply_n:
          EACH(WHOLE(a) * b);
        case CODE_whole_divide_n:
          EACH(mul_hi(AS_NATURALS(WHOLE(a)), (NATURALS)((uint)b)) >> (NATURALS)((uint)c));
        case CODE_whole_min:
          EACH(min(WHOLE(a), WHOLE(b)));
        case CODE_whole_max:
          EACH(max(WHOLE(a), WHOLE(b)));
        case CODE_whole_equal:
          EACH_TRUTH(WHOLE(a) == WHOLE(b));
        case CODE_whole_less:
          EACH_TRUTH(WHOLE(a) < WHOLE(b));
        case CODE_whole_less_equal:
          EACH_TRUTH(WHOLE(a) <= WHOLE(b));
        case CODE_to_real:
          EACH(TO_REALS(WHOLE(a)));
        case CODE_to_truth:
          EACH_TRUTH(REAL(a) != 0.0f);

        case CODE_add:
          EACH(REAL(a) + REAL(b));
        case CODE_sub:
          EACH(REAL(a) - REAL(b));
        case CODE_mul:
          EACH(REAL(a) * REAL(b));
        case CODE_div:
          EACH(REAL(a) / REAL(b));
        case CODE_pow:
          EACH(pow(REAL(a), REAL(b)));
        case CODE_min:
          EACH(REAL(a) > REAL(b) ? REAL(b) : REAL(a));
        case CODE_max:
          EACH(REAL(a) < REAL(b) ? REAL(b) : REAL(a));
        case CODE_neg:
          EACH(-REAL(a));
        case CODE_abs:
          EACH(fabs(REAL(a)));
        case CODE_sign:
          // A NaN stays one; a zero of either sign becomes 0. Oclgrind 21.10 makes 255 of a vector's truth values.
          EACH(REAL(a) > 0.0f   ? (REALS)(1.0f)
               : REAL(a) < 0.0f ? (REALS)(-1.0f)
                                : (REAL(a) == 0.0f ? (REALS)(0.0f) : REAL(a)));
        case CODE_floor:
          EACH(floor(REAL(a)));
        case CODE_ceil:
          EACH(ceil(REAL(a)));
        case CODE_trunc:
          EACH(trunc(REAL(a)));
        case CODE_round:
          EACH(rint(REAL(a)));
        case CODE_exp:
          EACH(exp(REAL(a)));
        case CODE_log:
          EACH(log(REAL(a)));
        case CODE_sqrt:
          EACH(sqrt(REAL(a)));
        case CODE_sin:
          EACH(sin(REAL(a)));
        case CODE_cos:
          EACH(cos(REAL(a)));
        case CODE_tanh:
          EACH(tanh(REAL(a)));
        case CODE_erf:
          EACH(erf(REAL(a)));
        case CODE_equal:
          EACH_TRUTH(REAL(a) == REAL(b));
        case CODE_less:
          EACH_TRUTH(REAL(a) < REAL(b));
        case CODE_less_equal:
          EACH_TRUTH(REAL(a) <= REAL(b));
        case CODE_and:
          EACH(WHOLE(a) & WHOLE(b));
        case CODE_or:
          EACH(WHOLE(a) | WHOLE(b));
        case CODE_xor:
          EACH(WHOLE(a) ^ WHOLE(b));
        case CODE_not:
          EACH(1 - WHOLE(a));
        case CODE_is_nan:
          EACH_TRUTH(REAL(a) != REAL(a));
        case CODE_is_inf:
          EACH_TRUTH(fabs(REAL(a)) == INFINITY);
        case CODE_select:
          EACH(WHOLE(a) != 0 ? WHOLE(b) : WHOLE(c));
        default:
          break;
      }
    }
    if (turn == 0) continue;
    if (places >= 0) {
      for (int l = 0; l < CHUNK && first + l <= last; ++l) {
        dst[registers[places * CHUNK + l]] = registers[result * CHUNK + l];
      }
    } else if (is_whole) {
      for (int i = 0; i < VECTORS; ++i) {
        KEEP(AS_NATURALS(WHOLE(result)), dst + first + i * WIDTH);
      }
    } else {
      for (int l = 0; first + l <= last; ++l) dst[first + l] = registers[result * CHUNK + l];
    }
    if (first > last - stride) break;
    first += stride;
  }
}
#undef REALS
#undef WHOLES
#undef NATURALS
#undef AS_REALS
#undef AS_WHOLES
#undef AS_NATURALS
#undef TO_REALS
#undef LANES
#undef FETCH
#undef KEEP
#undef PLACE
#undef VECTORS
#undef WHOLE
#undef REAL
#undef EACH
#undef EACH_TRUTH
