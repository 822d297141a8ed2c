import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  listEarlierKeys,
  oneLine,
  openProofKey,
  readPublicKey,
  rotateProofKey,
  toPem,
} from '../../../src/referee/proof/key.ts';
import { makeFolder } from '../../git/fixture.ts';

const folderOf = () => join(makeFolder(), 'home', 'key');

describe('the key of an installation', () => {
  it('is made once, for its owner alone', async () => {
    const folder = folderOf();
    const first = await openProofKey(folder);
    const second = await openProofKey(folder);
    expect(second.id).toBe(first.id);
    expect(statSync(first.path).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder)).toEqual(['ed25519.pem']);
  });

  it('is one key for many who make it at once', async () => {
    const folder = folderOf();
    const keys = await Promise.all(Array.from({ length: 20 }, () => openProofKey(folder)));
    expect(new Set(keys.map(({ id }) => id)).size).toBe(1);
    expect(readdirSync(folder)).toEqual(['ed25519.pem']);
  });

  it('is one key for those that make it a moment apart', async () => {
    for (let round = 0; round < 40; round++) {
      const folder = folderOf();
      const later = async (ms: number) => {
        await sleep(ms);
        return await openProofKey(folder);
      };
      const keys = await Promise.all([0, 1, 2, 3, 4, 6, 8].map(later));
      expect(new Set(keys.map(({ id }) => id)).size).toBe(1);
    }
  });

  it('is one key for many processes that make it at once', async () => {
    const folder = folderOf();
    const module = join(import.meta.dirname, '../../../src/referee/proof/key.ts');
    const script = `import(${JSON.stringify(module)}).then(async ({ openProofKey }) => console.log((await openProofKey(${JSON.stringify(folder)})).id))`;
    const line = `'${process.execPath}' --input-type=module -e '${script}'`;
    const ids = execFileSync('/bin/sh', ['-c', `${line} & ${line} & ${line} & wait`], { encoding: 'utf8' });
    expect(new Set(ids.trim().split('\n')).size).toBe(1);
    expect(ids.trim().split('\n')).toHaveLength(3);
  });

  it('is replaced by another: the old private half is gone, the public halves of both are known', async () => {
    const folder = folderOf();
    const first = await openProofKey(folder);
    expect(await listEarlierKeys(folder)).toEqual([]);
    const { key, replaced } = await rotateProofKey(folder);
    expect([replaced.id, key.id === first.id]).toEqual([first.id, false]);
    expect((await openProofKey(folder)).id).toBe(key.id);
    expect((await listEarlierKeys(folder)).map(oneLine)).toEqual([oneLine(first)]);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(files.toSorted()).toEqual(
      ['ed25519.pem', 'public', ...[first, key].map(({ id }) => `public/${id}.pem`)].toSorted(),
    );
    expect(statSync(key.path).mode & 0o777).toBe(0o600);
  });

  it('leaves no copy of the old private half that a crash has left', async () => {
    const folder = folderOf();
    const { path } = await openProofKey(folder);
    const [old, young] = ['a', 'b'].map((letter) => join(folder, `.${letter.repeat(16)}.tmp`));
    linkSync(path, old!);
    utimesSync(path, 0, 0);
    writeFileSync(young!, 'of another process');
    await rotateProofKey(folder);
    expect(readdirSync(folder).toSorted()).toEqual([basename(young!), 'ed25519.pem', 'public']);
  });

  it('loses no public half of a key that could have signed, when several rotate at once', async () => {
    const folder = folderOf();
    await openProofKey(folder);
    const made = await Promise.all(Array.from({ length: 8 }, () => rotateProofKey(folder)));
    const known = [await openProofKey(folder), ...(await listEarlierKeys(folder))].map(({ id }) => id);
    for (const { key, replaced } of made)
      expect(known).toEqual(expect.arrayContaining([key.id, replaced.id]));
    expect(known).toHaveLength(9);
  });

  it('has the id that openssl and sha256sum find, too', async () => {
    const key = await openProofKey(folderOf());
    const file = join(makeFolder(), 'key.pem');
    writeFileSync(file, toPem(key));
    const found = execFileSync('/bin/sh', ['-c', `openssl pkey -pubin -in ${file} -outform DER | sha256sum`]);
    expect(found.toString().slice(0, 64)).toBe(key.id);
  });

  it('is refused where others could have read it', async () => {
    const { path } = await openProofKey(folderOf());
    for (const mode of [0o640, 0o604, 0o660]) {
      chmodSync(path, mode);
      await expect(openProofKey(dirname(path))).rejects.toMatchObject({
        code: 'unsafe_file',
        hint: expect.stringContaining('chmod 600'),
      });
    }
    chmodSync(path, 0o400);
    await expect(openProofKey(dirname(path))).resolves.toBeTruthy();
  });

  it('is refused where others could put another one there', async () => {
    const { path } = await openProofKey(folderOf());
    chmodSync(dirname(path), 0o777);
    await expect(openProofKey(dirname(path))).rejects.toMatchObject({ code: 'unsafe_file' });
  });

  it('is refused as a link, a folder, or another kind of key, and left as it is', async () => {
    const other = await openProofKey(folderOf());
    const plant: ((path: string) => void)[] = [
      (path) => symlinkSync(other.path, path),
      (path) => mkdirSync(path),
      (path) => writeFileSync(path, 'nothing\n', { mode: 0o600 }),
      (path) => writeFileSync(path, 'x'.repeat(20_000), { mode: 0o600 }),
      (path) =>
        writeFileSync(
          path,
          generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
            type: 'pkcs8',
            format: 'pem',
          }),
          { mode: 0o600 },
        ),
    ];
    for (const put of plant) {
      const folder = folderOf();
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      put(join(folder, 'ed25519.pem'));
      await expect(openProofKey(folder)).rejects.toMatchObject({ code: 'unsafe_file' });
      expect(readdirSync(folder)).toEqual(['ed25519.pem']);
    }
  });

  it('is refused where its folder is a link', async () => {
    const { path } = await openProofKey(folderOf());
    const linked = join(makeFolder(), 'key');
    symlinkSync(dirname(path), linked);
    await expect(openProofKey(linked)).rejects.toMatchObject({
      code: 'unsafe_file',
      message: expect.stringContaining('is no folder'),
    });
  });
});

describe('a public key', () => {
  it('is read as PEM and as one line', async () => {
    const key = await openProofKey(folderOf());
    expect(readPublicKey(toPem(key), 'x').id).toBe(key.id);
    expect(readPublicKey(`${oneLine(key)}\n`, 'x').id).toBe(key.id);
  });

  it('is refused where it is private, of another kind, or nothing at all', async () => {
    const { path } = await openProofKey(folderOf());
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    const texts = [
      readFileSync(path, 'utf8'),
      ec.export({ type: 'spki', format: 'pem' }).toString(),
      '',
      'MCowBQYDK2VwAyEA',
      '-----BEGIN PUBLIC KEY-----',
    ];
    for (const text of texts) expect(() => readPublicKey(text, 'The file')).toThrow(/no public ed25519 key/);
  });
});
