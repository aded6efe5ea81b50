// SPDX-License-Identifier: Apache-2.0
//
// Kernels as R17 writes them. Two matrix products r = a * b: sizes first, then a, b and r; one work-item for each patch of
// r, the first global id counting rows. Kernels of one or two matrices work in place. See docs/r17_files.md.

// One element of r; all three matrices row-major. Source: R17, section 6.1.
__kernel void product_rm(uint l, uint w, __global const HON_DATA_TYPE* a,
                         __global const HON_DATA_TYPE* b, __global HON_DATA_TYPE* r) {
  const size_t row = get_global_id(0);
  const size_t column = get_global_id(1);
  HON_DATA_TYPE sum = 0;
  for (uint k = 0; k < l; ++k) sum += a[row * l + k] * b[k * w + column];
  r[row * w + column] = sum;
}

// Two rows of four, or four rows of two: eight neighbours in memory, read as two vectors.
typedef struct {
  HON_DATA_TYPE_VECTOR first, second;
} Run;

Run run_at(__global const HON_DATA_TYPE_VECTOR* matrix, size_t index) {
  Run run;
  run.first = matrix[2 * index];
  run.second = matrix[2 * index + 1];
  return run;
}

// A patch of 2 x 2; a is R_2_4_R, b and r are C_4_2_C. Source: R17, section 8.4 and appendix 12.7.
__kernel void product_morton(uint l, uint h, __global const HON_DATA_TYPE_VECTOR* a,
                             __global const HON_DATA_TYPE_VECTOR* b, __global HON_DATA_TYPE* r) {
  const size_t row_pair = get_global_id(0);
  const size_t column_pair = get_global_id(1);
  const uint runs = l / 4;
  HON_DATA_TYPE_VECTOR patch = 0;  // by columns: (0,0) (1,0) (0,1) (1,1)
  for (uint i = 0; i < runs; ++i) {
    const Run rows = run_at(a, row_pair * runs + i);
    const Run columns = run_at(b, column_pair * runs + i);
    patch += (HON_DATA_TYPE_VECTOR)(dot(rows.first, columns.first), dot(rows.second, columns.first),
                                    dot(rows.first, columns.second),
                                    dot(rows.second, columns.second));
  }
  __global HON_DATA_TYPE* run = r + column_pair * 2 * h + row_pair / 2 * 8 + row_pair % 2 * 2;
  vstore2(patch.lo, 0, run);
  vstore2(patch.hi, 0, run + 4);
}

// A column added to each column of a, in place.
__kernel void add_column(uint h, uint w, __global HON_DATA_TYPE* a, __global const HON_DATA_TYPE* b) {
  const size_t row = get_global_id(0);
  a[row * w + get_global_id(1)] += b[row];
}

// In place, of each element wherever it lies: no layout is asked for.
__kernel void sigmoid_each(__global HON_DATA_TYPE* a) {
  const size_t i = get_global_id(0);
  a[i] = 1 / (1 + exp(-a[i]));
}

// Four neighbours at once.
__kernel void relu_fours(__global HON_DATA_TYPE_VECTOR* a) {
  const size_t i = get_global_id(0);
  a[i] = fmax(a[i], 0);
}
