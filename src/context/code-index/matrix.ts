/** The little linear algebra that a fit needs. Matrices are rows after rows in one array. */

/** Columns made orthogonal and of length one, by Cholesky's factors of their products. In place; yields in between. */
export function* orthonormalise(matrix: Float32Array, width: number): Generator<void, Float32Array> {
  for (let pass = 0; pass < 2; pass++) {
    const factor = cholesky(yield* columnProducts(matrix, width), width);
    for (let at = 0; at < matrix.length; at += width) {
      solveRow(matrix.subarray(at, at + width), factor, width);
      if (at % (width * ROWS_A_SLICE) === 0) yield;
    }
  }
  return matrix;
}

/** Each column with each other. */
function* columnProducts(matrix: Float32Array, width: number): Generator<void, Float64Array> {
  const products = new Float64Array(width * width);
  for (let at = 0; at < matrix.length; at += width) {
    addProducts(products, matrix.subarray(at, at + width));
    if (at % (width * ROWS_A_SLICE) === 0) yield;
  }
  return products;
}

const ROWS_A_SLICE = 500;

/** The lower half alone; `cholesky` and `eigenvectors` read no other. */
export function addProducts(products: Float64Array, row: Float32Array): void {
  const width = row.length;
  for (let a = 0; a < width; a++) {
    const factor = row[a]!;
    if (factor === 0) continue;
    for (let b = 0; b <= a; b++) products[a * width + b]! += factor * row[b]!;
  }
}

/** The lower factor. A column that depends on others gets none of it: its row becomes zero. */
function cholesky(products: Float64Array, width: number): Float64Array {
  const factor = new Float64Array(width * width);
  for (let row = 0; row < width; row++) {
    for (let column = 0; column <= row; column++) {
      let sum = products[row * width + column]!;
      for (let k = 0; k < column; k++) sum -= factor[row * width + k]! * factor[column * width + k]!;
      if (row === column)
        factor[row * width + row] = sum > 1e-10 * products[row * width + row]! ? Math.sqrt(sum) : 0;
      else factor[row * width + column] = divided(sum, factor[column * width + column]!);
    }
  }
  return factor;
}

function solveRow(row: Float32Array, factor: Float64Array, width: number): void {
  for (let column = 0; column < width; column++) {
    let sum = row[column]!;
    for (let k = 0; k < column; k++) sum -= row[k]! * factor[column * width + k]!;
    row[column] = divided(sum, factor[column * width + column]!);
  }
}

function divided(value: number, by: number): number {
  return by === 0 ? 0 : value / by;
}

const MAX_SWEEPS = 30;

/** Of a symmetric matrix, by Jacobi's rotations: as columns, the one with the largest eigenvalue first. */
export function eigenvectors(lowerHalf: Float64Array, width: number): Float64Array {
  const matrix = Float64Array.from(lowerHalf, (value, at) => {
    const [row, column] = [Math.floor(at / width), at % width];
    return column > row ? lowerHalf[column * width + row]! : value;
  });
  const vectors = new Float64Array(width * width);
  for (let axis = 0; axis < width; axis++) vectors[axis * width + axis] = 1;
  for (let sweep = 0; sweep < MAX_SWEEPS && rotateAll({ matrix, vectors, width }); sweep++);
  const order = Array.from({ length: width }, (_, axis) => axis).sort(
    (a, b) => matrix[b * width + b]! - matrix[a * width + a]!,
  );
  const sorted = new Float64Array(vectors.length);
  for (let row = 0; row < width; row++) {
    for (const [column, from] of order.entries()) sorted[row * width + column] = vectors[row * width + from]!;
  }
  return sorted;
}

interface Rotated {
  matrix: Float64Array;
  vectors: Float64Array;
  width: number;
}

/** One rotation for each pair of axes that still depend on one another. False when none did. */
function rotateAll({ matrix, vectors, width }: Rotated): boolean {
  let hasRotated = false;
  for (let p = 0; p < width; p++) {
    for (let q = p + 1; q < width; q++) {
      const both = matrix[p * width + q]!;
      const scale = Math.abs(matrix[p * width + p]!) + Math.abs(matrix[q * width + q]!);
      if (Math.abs(both) <= 1e-10 * scale || both === 0) continue;
      hasRotated = true;
      const theta = (matrix[q * width + q]! - matrix[p * width + p]!) / (2 * both);
      const tangent = Math.sign(theta || 1) / (Math.abs(theta) + Math.hypot(theta, 1));
      const cosine = 1 / Math.hypot(tangent, 1);
      const turn = { p, q, cosine, sine: tangent * cosine, width };
      rotateColumns(matrix, turn);
      rotateRows(matrix, turn);
      rotateColumns(vectors, turn);
    }
  }
  return hasRotated;
}

interface Turn {
  p: number;
  q: number;
  cosine: number;
  sine: number;
  width: number;
}

function rotateColumns(matrix: Float64Array, { p, q, cosine, sine, width }: Turn): void {
  for (let at = 0; at < matrix.length; at += width) {
    const [a, b] = [matrix[at + p]!, matrix[at + q]!];
    matrix[at + p] = cosine * a - sine * b;
    matrix[at + q] = sine * a + cosine * b;
  }
}

function rotateRows(matrix: Float64Array, { p, q, cosine, sine, width }: Turn): void {
  for (let column = 0; column < width; column++) {
    const [a, b] = [matrix[p * width + column]!, matrix[q * width + column]!];
    matrix[p * width + column] = cosine * a - sine * b;
    matrix[q * width + column] = sine * a + cosine * b;
  }
}
