/**
 * The `acp` agent: any program that speaks the Agent Client Protocol on stdio, such as `gemini --acp` or `opencode acp`.
 * A separate process talks to the program and prints the event stream, as the built-in agents do.
 */
import { PulseError } from '../../domain/errors.ts';
import type { AgentAdapter } from '../contract.ts';
import { createPricedStreamParser } from '../shared/event-stream.ts';
import { ownScript } from '../shared/own-script.ts';

const SCRIPT = ownScript(import.meta.url, './agent');

export const acpAdapter: AgentAdapter = {
  name: 'acp',
  // The variables depend on the program: the user names them in `env.pass`.
  environment: [],
  idleByDefault: true,
  speaksMcp: true,
  // Only if the agent reports it, or its model has a price.
  cost: 'priced',
  // The protocol has no common way to choose a model: the program's default, or an argument in its command.
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
