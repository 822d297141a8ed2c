/** The kind of sessions that draft beads. */
export const BEAD_PLAN = 'bead-plan';
