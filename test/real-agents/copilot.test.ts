import { describeAgent } from './cases.ts';

describeAgent({
  name: 'copilot',
  user: (url) => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: 'dummy',
    COPILOT_MODEL: 'gpt-4.1',
  }),
  calls: {
    read: (path) => ({ tool: 'view', input: { path } }),
    edit: (path, { from, to }) => ({ tool: 'edit', input: { path, old_str: from, new_str: to } }),
    write: (path, file_text) => ({ tool: 'create', input: { path, file_text } }),
    shell: (command) => ({ tool: 'bash', input: { command, description: 'a step' } }),
    signal: (signal) => ({ tool: 'pulse-pulse_signal', input: { signal } }),
  },
  costOfCall: null, // no price is known for its model
  quietMs: 10_000,
  hasNoGuard: true,
  tellsRetries: true,
});
