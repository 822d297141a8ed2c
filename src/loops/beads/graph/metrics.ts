/**
 * How much hangs on each bead of a graph: what waits for it, in a chain and altogether. Beads are numbers here and lists
 * are arrays of numbers, because all figures are found again after each change, of a hundred thousand beads too.
 */

/** The share of a bead's weight that it hands to what it waits for. */
const DAMPING = 0.85;
/** Sums in different orders differ in their last digits: those must not decide. */
const DIGITS = 1e12;

export class GraphMetrics {
  /** How many beads there are; they have the numbers below it. */
  size = 0;
  isOpen = new Uint8Array(64);
  /** How many beads that are not closed it waits for. */
  openNeeds = new Int32Array(64);
  /** The longest chain of beads that wait for it. */
  criticalPath = new Int32Array(64);
  /** PageRank: the sum over all is 1. */
  rank = new Float64Array(64);
  /** How many beads wait for it and for nothing else. */
  unblocks = new Int32Array(64);
  /** While it is counted: those that wait for it and are not done yet. */
  #waiting = new Int32Array(64);
  /** What a bead waits for: so many numbers of `#needs`, from there on. */
  #from = new Int32Array(64);
  #length = new Int32Array(64);
  #needs = new Int32Array(256);
  #used = 0;

  /** A bead that is closed and waits for nothing, until it is set. */
  add(): number {
    if (this.size === this.isOpen.length) this.#grow();
    return this.size++;
  }

  set(bead: number, { isOpen, needs }: { isOpen: boolean; needs: readonly number[] }): void {
    this.isOpen[bead] = isOpen ? 1 : 0;
    if (needs.length > this.#length[bead]!) {
      this.#from[bead] = this.#reserve(needs.length);
    }
    this.#length[bead] = needs.length;
    this.#needs.set(needs, this.#from[bead]!);
  }

  needsOf(bead: number): number[] {
    const from = this.#from[bead]!;
    return [...this.#needs.subarray(from, from + this.#length[bead]!)];
  }

  /**
   * One pass from what nothing waits for. The graph has no circles, so PageRank needs no repetition: a bead's weight is
   * known once all that wait for it have theirs. Weight that ends at beads without needs would be spread over all alike;
   * that changes every rank by the same factor, which dividing by the sum does too.
   */
  count(): void {
    this.#countNeeds();
    const sum = this.#passWeights();
    const { size, isOpen, rank } = this;
    for (let bead = 0; bead < size; bead++)
      if (isOpen[bead]) rank[bead] = Math.round((rank[bead]! / sum) * DIGITS) / DIGITS;
  }

  #countNeeds(): void {
    const { size, isOpen, openNeeds } = this;
    const [waiting, from, length, needs] = [this.#waiting, this.#from, this.#length, this.#needs];
    openNeeds.fill(0, 0, size);
    waiting.fill(0, 0, size);
    this.criticalPath.fill(0, 0, size);
    this.unblocks.fill(0, 0, size);
    this.rank.fill(1 - DAMPING, 0, size);
    for (let bead = 0; bead < size; bead++) {
      if (!isOpen[bead]) continue;
      const end = from[bead]! + length[bead]!;
      for (let at = from[bead]!; at < end; at++) {
        const need = needs[at]!;
        if (!isOpen[need]) continue;
        openNeeds[bead]!++;
        waiting[need]!++;
      }
    }
  }

  /** Returns the sum of all ranks. */
  #passWeights(): number {
    const { size, isOpen, openNeeds, criticalPath, rank, unblocks } = this;
    const [waiting, from, length, needs] = [this.#waiting, this.#from, this.#length, this.#needs];
    const ready = new Int32Array(size);
    let count = 0;
    for (let bead = 0; bead < size; bead++) if (isOpen[bead] && waiting[bead] === 0) ready[count++] = bead;
    let sum = 0;
    for (let at = 0; at < count; at++) {
      const bead = ready[at]!;
      sum += rank[bead]!;
      const share = (DAMPING * rank[bead]!) / openNeeds[bead]!;
      const chain = criticalPath[bead]! + 1;
      const end = from[bead]! + length[bead]!;
      for (let place = from[bead]!; place < end; place++) {
        const need = needs[place]!;
        if (!isOpen[need]) continue;
        rank[need]! += share;
        if (criticalPath[need]! < chain) criticalPath[need] = chain;
        if (openNeeds[bead] === 1) unblocks[need]!++;
        if (--waiting[need]! === 0) ready[count++] = need;
      }
    }
    return sum;
  }

  /** Room for a longer list; the old place is lost until the next growth puts all lists together again. */
  #reserve(length: number): number {
    if (this.#used + length > this.#needs.length) this.#collect(length);
    this.#used += length;
    return this.#used - length;
  }

  #collect(more: number): void {
    const live = this.#length.subarray(0, this.size).reduce((sum, length) => sum + length, more);
    const needs = new Int32Array(live * 2 + 256);
    let used = 0;
    for (let bead = 0; bead < this.size; bead++) {
      const from = this.#from[bead]!;
      needs.set(this.#needs.subarray(from, from + this.#length[bead]!), used);
      this.#from[bead] = used;
      used += this.#length[bead]!;
    }
    this.#needs = needs;
    this.#used = used;
  }

  #grow(): void {
    const size = this.isOpen.length * 2;
    this.isOpen = copyTo(new Uint8Array(size), this.isOpen);
    this.openNeeds = copyTo(new Int32Array(size), this.openNeeds);
    this.criticalPath = copyTo(new Int32Array(size), this.criticalPath);
    this.rank = copyTo(new Float64Array(size), this.rank);
    this.unblocks = copyTo(new Int32Array(size), this.unblocks);
    this.#waiting = copyTo(new Int32Array(size), this.#waiting);
    this.#from = copyTo(new Int32Array(size), this.#from);
    this.#length = copyTo(new Int32Array(size), this.#length);
  }
}

function copyTo<T extends Uint8Array | Int32Array | Float64Array>(larger: T, smaller: T): T {
  larger.set(smaller);
  return larger;
}
