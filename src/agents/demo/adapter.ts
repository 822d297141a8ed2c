/** The `demo` agent: scripted, but a real process that does real work, so that a newcomer sees a real loop. */
import type { AgentAdapter } from '../contract.ts';
import { createEventStreamParser } from '../shared/event-stream.ts';
import { ownScript } from '../shared/own-script.ts';

const SCRIPT = ownScript(import.meta.url, './agent');

export const demoAdapter: AgentAdapter = {
  name: 'demo',
  environment: ['PULSE_DEMO_*'],
  idleByDefault: true,
  isScripted: true,
  cost: 'reported',
  async detect() {
    return { available: true, path: SCRIPT, version: null, hint: null };
  },
  command({ brief }) {
    return { file: process.execPath, args: [SCRIPT], env: {}, stdin: brief, stopSignals: ['SIGTERM'] };
  },
  createParser: createEventStreamParser,
};
