/** A unit that was accepted, as the engine tells it, and a key that is nobody's. */
import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { oneLine, readPublicKey } from '../../../src/referee/proof/key.ts';
import type { ProofInput } from '../../../src/referee/proof/statement.ts';

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export function makeKey() {
  const { privateKey } = generateKeyPairSync('ed25519');
  const publicKey = createPublicKey(privateKey);
  const der = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const known = readPublicKey(der, 'the key');
  return { ...known, privateKey, line: oneLine(known) };
}

const AT = '2026-01-02T03:04:05.000Z';

export function command(text: string, more: Partial<ProofInput['commands'][number]> = {}) {
  return {
    command: text,
    exit: 0,
    passed: true,
    outputSha256: hashOf(text),
    durationMs: 12,
    environment: 'linux-x64 node 24 env 0',
    at: AT,
    tests: null,
    ...more,
  };
}

export function proofInput(
  about: { commit: string; tree: string; base?: string },
  more: Partial<ProofInput> = {},
): ProofInput {
  return {
    commit: about.commit,
    tree: about.tree,
    base: about.base ?? about.commit,
    session: 'ses_1',
    unit: { kind: 'goal', id: null },
    goalSha256: hashOf('Make it work.'),
    trust: 'verified',
    commands: [command('true')],
    pins: [{ path: 'package.json', part: 'scripts', base: hashOf('a'), claim: hashOf('a') }],
    replay: null,
    checksChanged: [],
    decision: { by: 'pulse', name: null, at: AT },
    agent: { name: 'claude', model: 'opus' },
    pulse: { version: '0.1.0' },
    ...more,
  };
}
