import { createHash, createPublicKey, sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { examineProof, isBundleName, sealProof } from '../../../src/referee/proof/bundle.ts';
import { preAuthenticationEncoding } from '../../../src/referee/proof/dsse.ts';
import { statementsOf } from '../../../src/referee/proof/statement.ts';
import { command, makeKey, proofInput } from './material.ts';

const about = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) };
const other = { commit: 'c'.repeat(40), tree: 'd'.repeat(40) };
const counts = { run: 1, passed: 1, failed: 0, skipped: 0 };
const commands = [command('npm test', { tests: { base: null, claim: counts } })];
const key = makeKey();

/** As a proof of these lines would be found in the ref, under the name that fits. */
function found(text: string) {
  const digest = createHash('sha256').update(text).digest('hex');
  return { name: `pulse-${digest}.intoto.jsonl`, content: Buffer.from(text) };
}

function examine(text: string, keys = [key]) {
  return examineProof(found(text), { ...about, keys });
}

const good = sealProof(proofInput(about, { commands }), key).text;
const [own, result] = good.trimEnd().split('\n') as [string, string];
const change = (line: string, edit: (envelope: Record<string, never>) => object): string =>
  JSON.stringify(edit(JSON.parse(line)));

/** As a signer could who does not use Pulse. */
function signedByHand(payload: Buffer, payloadType = 'application/vnd.in-toto+json'): string {
  const sig = sign(null, preAuthenticationEncoding(payloadType, payload), key.privateKey);
  return JSON.stringify({
    payload: payload.toString('base64'),
    payloadType,
    signatures: [{ keyid: key.id, sig: sig.toString('base64') }],
  });
}

describe('an envelope', () => {
  it('is signed over what DSSE calls PAE', () => {
    expect(`${preAuthenticationEncoding('http://example.com/HelloWorld', Buffer.from('hello world'))}`).toBe(
      'DSSEv1 29 http://example.com/HelloWorld 11 hello world',
    );
    // The length is of bytes, not of characters.
    expect(`${preAuthenticationEncoding('é', Buffer.from('ü'))}`).toBe('DSSEv1 2 é 2 ü');
  });

  it('can be checked without Pulse', () => {
    const { payload, payloadType, signatures } = JSON.parse(own);
    const body = Buffer.from(payload, 'base64');
    const signed = Buffer.concat([
      Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${body.length} `),
      body,
    ]);
    const spki = createPublicKey({ key: Buffer.from(key.line, 'base64'), type: 'spki', format: 'der' });
    expect(verify(null, signed, spki, Buffer.from(signatures[0].sig, 'base64'))).toBe(true);
    expect(signatures[0].keyid).toBe(
      createHash('sha256').update(Buffer.from(key.line, 'base64')).digest('hex'),
    );
    expect(payloadType).toBe('application/vnd.in-toto+json');
  });
});

describe('a proof', () => {
  it('is the same each time it is made', () => {
    const again = sealProof(proofInput(about, { commands }), key);
    expect(again.text).toBe(good);
    expect(isBundleName(again.name)).toBe(true);
  });

  it('is known where a key of the list has signed all of it', () => {
    expect(examine(good)).toMatchObject({
      state: 'known',
      problem: null,
      keyId: key.id,
      work: { session: 'ses_1' },
    });
  });

  it('is unknown where another key has signed it', () => {
    expect(examine(good, [makeKey()])).toMatchObject({ state: 'unknown', work: { session: 'ses_1' } });
    expect(examine(good, [])).toMatchObject({ state: 'unknown' });
  });

  it('is wrong where another key has signed it and names this one', () => {
    const forged = sealProof(proofInput(about), { ...makeKey(), id: key.id });
    expect(examine(forged.text)).toMatchObject({ state: 'wrong', work: null });
  });

  it('is wrong with another payload', () => {
    const [payload] = [Buffer.from(JSON.stringify(statementsOf(proofInput(about))[0])).toString('base64')];
    const text = `${change(own, (envelope) => ({ ...envelope, payload }))}\n`;
    expect(examine(text)).toMatchObject({ state: 'wrong', problem: expect.stringContaining('signature') });
  });

  it('is wrong with another payload in any of its lines', () => {
    const { payload } = JSON.parse(result) as { payload: string };
    const said = Buffer.from(payload, 'base64').toString().replace('PASSED', 'FAILED');
    const line = change(result, (envelope) => ({
      ...envelope,
      payload: Buffer.from(said).toString('base64'),
    }));
    expect(line).not.toBe(result);
    expect(examine(`${own}\n${line}\n`)).toMatchObject({ state: 'wrong' });
  });

  it('is wrong where its lines name several keys', () => {
    const other = sealProof(proofInput(about, { commands }), makeKey()).text.split('\n')[1];
    expect(examine(`${own}\n${other}\n`, [])).toMatchObject({ state: 'wrong' });
  });

  it('is wrong where its base64 is not written in the one way', () => {
    const text = `${change(own, (envelope: { payload?: string }) => ({ ...envelope, payload: `${envelope.payload}!` }))}\n`;
    expect(examine(text)).toMatchObject({ state: 'wrong' });
  });

  it('is wrong with another payload type, which is signed too', () => {
    const text = `${change(own, (envelope) => ({ ...envelope, payloadType: 'text/plain' }))}\n`;
    expect(examine(text)).toMatchObject({ state: 'wrong' });
    const body = Buffer.from(JSON.parse(own).payload, 'base64');
    expect(examine(`${signedByHand(body)}\n`)).toMatchObject({ state: 'known' });
    expect(examine(`${signedByHand(body, 'text/plain')}\n`)).toMatchObject({ state: 'wrong' });
  });

  it('is wrong where it is a good proof of another commit', () => {
    const moved = sealProof(proofInput(other), key).text;
    expect(examine(moved)).toMatchObject({
      state: 'wrong',
      problem: expect.stringContaining('another commit'),
    });
    const line = sealProof(proofInput(other, { commands }), key).text.split('\n')[1];
    expect(examine(`${own}\n${line}\n`)).toMatchObject({ state: 'wrong' });
  });

  it('is wrong where the commit is right and its tree is not', () => {
    const text = sealProof(proofInput({ ...about, tree: other.tree }), key).text;
    expect(examine(text)).toMatchObject({ state: 'wrong' });
  });

  it('is wrong where its name does not fit its content', () => {
    const { name } = found(`${good}\n`);
    expect(examineProof({ name, content: Buffer.from(good) }, { ...about, keys: [key] })).toMatchObject({
      state: 'wrong',
      problem: expect.stringContaining('name'),
    });
  });

  it('is wrong where a key stands twice in its JSON', () => {
    const { payload } = JSON.parse(own);
    const twice = own.replace('{"payload":', `{"payload":"e30=","payload":`);
    expect(JSON.parse(twice).payload).toBe(payload);
    expect(examine(`${twice}\n`)).toMatchObject({ state: 'wrong' });
  });

  it('is wrong where a signed statement says a thing twice', () => {
    const text = JSON.stringify(statementsOf(proofInput(about))[0]).replace(
      '"trust":"verified"',
      '"trust":"unverified","trust":"verified"',
    );
    const line = signedByHand(Buffer.from(text));
    expect(examine(`${line}\n`)).toMatchObject({ state: 'wrong' });
  });

  it('is wrong without a line of Pulse’s own type, and with two', () => {
    expect(examine(`${result}\n`)).toMatchObject({ state: 'wrong' });
    expect(examine(`${own}\n${own}\n`)).toMatchObject({ state: 'wrong' });
  });

  it('is wrong where it has no signature, two of them, or fields that nobody signed', () => {
    const signatures = JSON.parse(own).signatures;
    for (const edited of [[], [...signatures, ...signatures]])
      expect(examine(`${change(own, (envelope) => ({ ...envelope, signatures: edited }))}\n`).state).toBe(
        'wrong',
      );
    expect(examine(`${change(own, (envelope) => ({ ...envelope, note: 'trust me' }))}\n`).state).toBe(
      'wrong',
    );
  });

  it('is wrong where it is anything else', () => {
    for (const text of [
      '',
      '\n',
      '{}\n',
      'null\n',
      own,
      `${own}\r\n`,
      `\uFEFF${own}\n`,
      '[['.repeat(100_000),
    ])
      expect(examine(text)).toMatchObject({ state: 'wrong' });
    expect(examineProof({ name: found('').name, content: null }, { ...about, keys: [key] }).state).toBe(
      'wrong',
    );
    const bytes = Buffer.from([0xff, 0x0a]);
    const name = `pulse-${createHash('sha256').update(bytes).digest('hex')}.intoto.jsonl`;
    expect(examineProof({ name, content: bytes }, { ...about, keys: [key] }).state).toBe('wrong');
  });

  it('leaves out what is least needed where it would be larger than a reader takes', () => {
    const path = `a${'/folder'.repeat(500)}`;
    const pins = Array.from({ length: 1_000 }, (_, n) => ({
      path: `${path}${n}`,
      part: null,
      base: null,
      claim: null,
    }));
    const reason = 'x'.repeat(1_000_000);
    const input = proofInput(about, { pins, checksChanged: [{ path: 'a', reason }] });
    const { text } = sealProof(input, key);
    expect(text.length).toBeLessThan(100_000);
    expect(examine(text)).toMatchObject({ state: 'known', work: { pins: { count: 1_000, listed: [] } } });
    const many = Array.from({ length: 10_000 }, () => ({ path, reason: 'x' }));
    expect(() => sealProof(proofInput(about, { checksChanged: many }), key)).toThrow(/larger than 4 MB/);
  });
});
