import { expect, test } from 'vitest';
import { commandAdapter } from '../../../src/agents/command/adapter.ts';
import { makeFolder, makeRun, playRun } from '../fixture.ts';

const play = (command: string, brief = '') =>
  playRun(commandAdapter, { worktree: makeFolder({ 'here.txt': 'in the worktree\n' }), command, brief });

test('gives the brief on stdin and takes stdout, whole, as the final message', async () => {
  const { end, events } = await play(
    'cat; cat here.txt; printf "\\n<signal>COMPLETE</signal>"; echo err >&2',
    'do it\n',
  );
  expect(end.finalMessage).toBe('do it\nin the worktree\n\n<signal>COMPLETE</signal>');
  expect(events[0]).toEqual({ type: 'raw', line: 'do it' });
  expect(events.every((event) => event.type === 'raw')).toBe(true);
});

test('does not mind a command that never reads its brief', async () => {
  expect((await play('echo hi', 'x'.repeat(1_000_000))).end).toMatchObject({ ok: true, finalMessage: 'hi' });
});

test('calls a non-zero exit crashed, and says the code and the last line', async () => {
  expect((await play('echo one; echo two; exit 3')).end).toMatchObject({
    ok: false,
    failure: 'crashed',
    message: 'The command exited with code 3. Its last line: two',
    finalMessage: 'one\ntwo',
  });
});

test('says when the command was not found or may not be executed', async () => {
  expect((await play('no-such-agent-anywhere')).end.message).toMatch(/^The command was not found/);
  expect((await play('./here.txt')).end.message).toMatch(/^The command may not be executed/);
});

test('runs a command that begins with a dash as a command', async () => {
  expect((await play('-x')).end.message).toMatch(/not found/);
});

test('keeps the last megabyte of a flood, without the word that the cut goes through', async () => {
  const { end } = await play('yes 0123456789 | head -n 400000; echo "<signal>COMPLETE</signal>"');
  expect(end.finalMessage.length).toBe(1024 * 1024 - '23456789'.length);
  expect(end.finalMessage.startsWith('\n0123456789\n')).toBe(true);
  expect(end.finalMessage.endsWith('0123456789\n<signal>COMPLETE</signal>')).toBe(true);
});

test.each([null, ' '])('refuses to start without a command (%j)', (command) => {
  expect(() => commandAdapter.command(makeRun({ command }))).toThrow(
    expect.objectContaining({ code: 'usage' }),
  );
});
