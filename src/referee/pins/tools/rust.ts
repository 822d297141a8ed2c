/** Cargo and what is run by it. */
import type { Tool } from './tool.ts';

const cargo: Tool = {
  args: 'work',
  follow: (_, { findings }) => void findings.families.add('rust'),
};

export const RUST_TOOLS: Record<string, Tool> = { cargo, 'cargo-nextest': cargo, cross: cargo };
