/**
 * The `replay` agent: plays what a run said before (recording.ts), without doing its work again. Its command is the
 * recording's file, or a folder of `<iteration>.<attempt>.jsonl`; a relative path is taken from the worktree.
 */
import { resolve } from 'node:path';
import { PulseError } from '../../domain/errors.ts';
import type { AgentAdapter } from '../contract.ts';
import { createEventStreamParser } from '../shared/event-stream.ts';
import { ownScript } from '../shared/own-script.ts';

const SCRIPT = ownScript(import.meta.url, './agent');

export const replayAdapter: AgentAdapter = {
  name: 'replay',
  environment: ['PULSE_REPLAY_*'],
  idleByDefault: true,
  isScripted: true,
  cost: 'reported',
  isPlayed: true,
  async detect() {
    return { available: true, path: SCRIPT, version: null, hint: null };
  },
  sandboxPaths: ({ command, worktree }) => ({ read: command ? [resolve(worktree, command)] : [], write: [] }),
  command({ brief, command }) {
    if (command === null || command.trim() === '') {
      throw new PulseError('usage', 'The agent "replay" has no recording to play.', {
        hint: 'Name its file or folder with --command PATH.',
      });
    }
    const args = [SCRIPT, command];
    return { file: process.execPath, args, env: {}, stdin: brief, stopSignals: ['SIGTERM'] };
  },
  createParser: createEventStreamParser,
};
