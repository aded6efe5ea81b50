// SPDX-License-Identifier: Apache-2.0
//
// attention.naive: dst[b,h,m,w] = EPILOGUE(sum over l of share[m,l] * value[b,h,l,w]), where share
// is the softmax over l of SCALE * sum over d of query[b,h,m,d] * key[b,h,l,d] + mask[e,f,g,s]
//
// Attention that is always possible, with operands in any order. Each score is computed twice for each element of dst.
//
//   query(b, h, m, d), key(b, h, l, d), value(b, h, l, w), mask(e, f, g, s), dst(b, h, m, w)   through accessors
//
//        query[m] . key[0]  ---> largest --->  exp(score - largest) * value[0,w]
//        query[m] . key[1]                     exp(score - largest) * value[1,w]   ---> sum / sum of exp
//        ...                                   ...
//
// One work-item: one element of dst; they are numbered along w, m, h, b and spread over two dimensions of 32,768 at most.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(B * H * M * W)) return;
  const place at = place_of(e, H, M, W);
  TYPE_acc largest = -INFINITY;
  TYPE_acc sum = 0.0f;
  TYPE_acc result = 0.0f;
  for (int pass = 0; pass < 2; ++pass) {
    for (int l = 0; l < L; ++l) {
      TYPE_acc score = 0.0f;
      for (int d = 0; d < D; ++d) {
        score += LOAD_query(at.n, at.c, at.h, d) * LOAD_key(at.n, at.c, l, d);
      }
      score *= as_float(SCALE);
      score += LOAD_mask(E == 1 ? 0 : at.n, F == 1 ? 0 : at.c, G == 1 ? 0 : at.h, S == 1 ? 0 : l);
      if (pass == 0) {
        largest = largest < score ? score : largest;
      } else {
        const TYPE_acc power = exp(score - largest);
        sum += power;
        result += power * LOAD_value(at.n, at.c, l, at.w);
      }
    }
  }
  STORE_dst(at.n, at.c, at.h, at.w, EPILOGUE(result / sum, at.n, at.c, at.h, at.w));
}
