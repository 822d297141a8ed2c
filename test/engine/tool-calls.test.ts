import { describe, expect, it } from 'vitest';
import { createCallLog } from '../../src/loops/workflow/tool-calls.ts';

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

  it('tells commands apart by all of them, however long, and by their white space', () => {
    const long = `printf ${'x'.repeat(500)}`;
    const log = createCallLog([]);
    for (const command of [`${long}1`, `${long}2`, "grep 'a  b' f", "grep 'a b' f"])
      log.ended(call('shell', command, false));
    expect(log.failed()).toHaveLength(4);
    expect(Math.max(...log.failed().map(({ key }) => key.length))).toBeLessThan(250);
    log.ended(call('shell', `${long}2`, true));
    log.ended(call('shell', "grep 'a b' f", true));
    expect(log.failed().map(({ key }) => key)).toEqual([
      expect.stringMatching(/^shell printf x{193}… \(#[0-9a-f]{12}\)$/),
      expect.stringMatching(/^shell grep 'a b' f… \(#[0-9a-f]{12}\)$/),
    ]);
  });

  it("takes a CLI's exact command where its line for people is shorter", () => {
    const log = createCallLog([]);
    for (const [id, end, ok] of [
      ['1', 'one', false],
      ['2', 'two', true],
    ] as const) {
      log.saw({ type: 'tool_start', id, name: 'Bash', summary: 'npm test…', target: `npm test -- ${end}` });
      log.saw({ type: 'tool_end', id, ok });
    }
    expect(log.failed().map(({ key }) => key)).toEqual(['shell npm test -- one']);
  });

  it('looks into the shell that a CLI starts around a command', () => {
    const log = createCallLog([]);
    log.ended(call('command_execution', "/bin/bash -lc 'npx tsc --noEmit'", false));
    log.ended(call('command_execution', '/bin/sh -c "npm test"', false));
    log.ended(call('command_execution', `/bin/bash -lc "echo \\"x\\""`, false));
    expect(log.failed().map(({ key }) => key)).toEqual([
      'shell npx tsc --noEmit',
      'shell npm test',
      `shell /bin/bash -lc "echo \\"x\\""`,
    ]);
  });

  it.each([
    ...['pulse_done', 'pulse_signal', 'report_usage', 'grep', 'glob_search', 'semantic_search'],
    ...['pulse_context_search', 'pulse_context_turn'],
    ...['read_file', 'Read', 'read_many_files', 'view', 'list_directory', 'LS', 'NotebookRead', 'WebFetch'],
    ...['web_search', 'search_file_content', 'mcp__github__get_issue', 'docs/fetch'],
  ])('%s does not count: it only looks', (name) => {
    const log = createCallLog([]);
    log.ended(call(name, 'x', false));
    expect(log.calls()).toEqual([]);
  });

  it.each([
    'Edit',
    'write_file',
    'multi_edit',
    'apply_patch',
    'replace',
    'NotebookEdit',
    'mcp__db__run',
    'readwrite',
  ])('%s counts: it changes or runs something', (name) => {
    const log = createCallLog([]);
    log.ended(call(name, 'x', false));
    expect(log.failed()).toHaveLength(1);
  });

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
