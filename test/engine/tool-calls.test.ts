import { describe, expect, it } from 'vitest';
import { createCallLog } from '../../src/engine/tool-calls.ts';

const call = (name: string, target: string, ok: boolean) => ({ name, target, ok });

describe('the calls of a pulse', () => {
  it('counts the last call of each key: a later success clears a failure', () => {
    const log = createCallLog([]);
    log.ended(call('edit_file', 'a.txt', false));
    log.ended(call('edit_file', 'b.txt', false));
    log.ended(call('edit_file', 'a.txt', true));
    expect(log.failed().map(({ key }) => key)).toEqual(['edit_file b.txt']);
  });

  it('knows a shell by its command, whatever the agent calls it', () => {
    const log = createCallLog([]);
    log.ended(call('Bash', 'npm test', false));
    log.ended(call('shell', 'npm test', true));
    expect(log.failed()).toEqual([]);
    log.ended(call('command_execution', 'npm test -- a', false));
    expect(log.failed()).toEqual([{ key: 'shell npm test -- a', ok: false, isShell: true }]);
  });

  it.each(['pulse_done', 'pulse_signal', 'report_usage', 'grep', 'glob_search', 'semantic_search'])(
    '%s does not count',
    (name) => {
      const log = createCallLog([]);
      log.ended(call(name, 'x', false));
      expect(log.calls()).toEqual([]);
    },
  );

  it.each(['mcp__pulse__edit_file', 'pulse/edit_file', 'pulse_edit_file', 'mcp_pulse_edit_file'])(
    "%s in an agent's stream is Pulse's own tool, counted where it is called",
    (name) => {
      const log = createCallLog([]);
      log.saw({ type: 'tool_start', id: '1', name });
      log.saw({ type: 'tool_end', id: '1', ok: false });
      expect(log.calls()).toEqual([]);
      log.saw({ type: 'tool_start', id: '2', name: 'Edit', summary: 'a.txt' });
      log.saw({ type: 'tool_end', id: '2', ok: false });
      expect(log.failed()).toMatchObject([{ key: 'edit a.txt' }]);
    },
  );

  it('a refused call of a tool of Pulse in a shell is no failed command', () => {
    const log = createCallLog([]);
    log.ended(call('bash', `/bin/bash -lc 'pulse tool pulse_done "{}"'`, false));
    log.ended(call('shell', 'cd x && pulse tool pulse_done {}', false));
    expect(log.failed()).toEqual([]);
    log.ended(call('shell', 'impulse tools', false));
    expect(log.failed()).toHaveLength(1);
  });

  it('remembers twenty, over the runs of a pulse', () => {
    const first = createCallLog([]);
    first.ended(call('edit_file', 'old', false));
    const next = createCallLog(first.calls());
    expect(next.failed()).toHaveLength(1);
    for (let index = 0; index < 20; index++) next.ended(call('edit_file', `f${index}`, true));
    expect(next.failed()).toEqual([]);
    expect(next.calls()).toHaveLength(20);
  });

  it('forgives what was held against it once', () => {
    const log = createCallLog([]);
    log.ended(call('shell', 'make', false));
    log.forgive(log.failed());
    expect(log.failed()).toEqual([]);
  });
});
