/** The `native` agent: Pulse's own tool loop on the AI SDK, in a process of its own. */
import type { AgentAdapter } from '../contract.ts';
import { createPricedStreamParser } from '../shared/event-stream.ts';
import { ownScript } from '../shared/own-script.ts';
import { readSettings, SettingsError } from './settings.ts';

const SCRIPT = ownScript(import.meta.url, './agent');

export const nativeAdapter: AgentAdapter = {
  name: 'native',
  environment: [
    'PULSE_NATIVE_*',
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_BASE_URL',
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
  ],
  idleByDefault: true,
  cost: 'priced',
  modelOf(wanted, environment) {
    try {
      return readSettings(wanted, environment).model;
    } catch (error) {
      if (error instanceof SettingsError) return wanted;
      throw error;
    }
  },
  async detect(environment, wantedModel = null) {
    const found = { path: SCRIPT, version: null };
    try {
      readSettings(wantedModel, environment);
      return { available: true, ...found, hint: null };
    } catch (error) {
      if (error instanceof SettingsError) return { available: false, ...found, hint: error.message };
      throw error;
    }
  },
  command({ brief, model }) {
    const args = model === null ? [SCRIPT] : [SCRIPT, model];
    return { file: process.execPath, args, env: {}, stdin: brief, stopSignals: ['SIGTERM'] };
  },
  createParser: createPricedStreamParser,
};
