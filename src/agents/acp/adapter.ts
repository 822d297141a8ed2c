/**
 * The `acp` agent: any program that speaks the Agent Client Protocol on stdio, such as `gemini --acp` or `opencode acp`.
 * The conversation is held by a process of its own, which tells of it as the built-in agents do.
 */
import { PulseError } from '../../domain/errors.ts';
import type { AgentAdapter } from '../contract.ts';
import { createPricedStreamParser } from '../shared/event-stream.ts';
import { ownScript } from '../shared/own-script.ts';

const SCRIPT = ownScript(import.meta.url, './agent');

export const acpAdapter: AgentAdapter = {
  name: 'acp',
  // Whose variables it needs, nobody knows: `env.pass` names them.
  environment: [],
  idleByDefault: true,
  speaksMcp: true,
  // Only where the agent tells, or its model has a price.
  cost: 'priced',
  // The protocol has no way to ask for one that all programs know: it is the program's own, or its command names it.
  modelOf: () => null,
  async detect() {
    return { available: true, path: SCRIPT, version: null, hint: null };
  },
  command({ brief, command }) {
    if (command === null || command.trim() === '') {
      throw new PulseError('usage', 'The agent "acp" has no program to talk to.', {
        hint: 'Give its command with --command, such as --command "gemini --acp".',
      });
    }
    return {
      file: process.execPath,
      args: [SCRIPT, command],
      env: {},
      stdin: brief,
      stopSignals: ['SIGTERM'],
    };
  },
  createParser: (options) => createPricedStreamParser({ ...options, model: null }),
};
