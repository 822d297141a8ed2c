/** How much hangs on a bead: what waits for it, in a chain and altogether. */

/** A bead in memory. Beads that are closed stay as what others point to. */
export interface Node {
  readonly id: string;
  isOpen: boolean;
  /** What it waits for, closed or not. */
  needs: Node[];
  /** How many of them are not closed. */
  openNeeds: number;
  criticalPath: number;
  rank: number;
  unblocks: number;
  /** While it is counted: those that wait for it and are not done yet. */
  waiting: number;
}

/** The share of a bead's weight that it hands to what it waits for. */
const DAMPING = 0.85;
/** Sums in different orders differ in their last digits: those must not decide. */
const DIGITS = 1e12;

/**
 * Sets the figures of every open node, in one pass from what nothing waits for. The graph has no circles, so PageRank
 * needs no repetition: a bead's weight is known once all that wait for it have theirs. Weight that ends at beads without
 * needs would be spread over all alike; that changes every rank by the same factor, which dividing by the sum does too.
 */
export function computeMetrics(nodes: Iterable<Node>): void {
  const open: Node[] = [];
  for (const node of nodes) {
    if (!node.isOpen) continue;
    open.push(node);
    node.openNeeds = 0;
    node.criticalPath = 0;
    node.rank = 1 - DAMPING;
    node.unblocks = 0;
    node.waiting = 0;
  }
  for (const node of open) {
    for (const need of node.needs) {
      if (!need.isOpen) continue;
      node.openNeeds++;
      need.waiting++;
    }
  }
  const sum = passWeights(open);
  for (const node of open) node.rank = Math.round((node.rank / sum) * DIGITS) / DIGITS;
}

/** Returns the sum of all ranks. */
function passWeights(open: readonly Node[]): number {
  const ready = open.filter(({ waiting }) => waiting === 0);
  let sum = 0;
  for (let at = 0; at < ready.length; at++) {
    const node = ready[at]!;
    sum += node.rank;
    const share = (DAMPING * node.rank) / node.openNeeds;
    for (const need of node.needs) {
      if (!need.isOpen) continue;
      need.rank += share;
      if (need.criticalPath <= node.criticalPath) need.criticalPath = node.criticalPath + 1;
      if (node.openNeeds === 1) need.unblocks++;
      if (--need.waiting === 0) ready.push(need);
    }
  }
  return sum;
}
