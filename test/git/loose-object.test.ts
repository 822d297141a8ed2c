import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeLooseCommit } from '../../src/git/loose-object.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';

let scratch: Scratch;
beforeEach(() => {
  scratch = createScratch();
});
afterEach(() => scratch[Symbol.dispose]());

const WHO = 'Ä Name <a@b> 1700000000 +0100';

/** A repository of this object format, with one commit. */
function repository(format: 'sha1' | 'sha256') {
  const root = join(scratch.path, format);
  const git = (args: string[], input?: string): string =>
    execFileSync('git', args, { cwd: root, input, encoding: 'utf8' }).trim();
  mkdirSync(root);
  git(['init', '-q', `--object-format=${format}`]);
  const tree = git(['mktree'], '');
  const content = (subject: string) => `tree ${tree}\nauthor ${WHO}\ncommitter ${WHO}\n\n${subject}\n`;
  return {
    git,
    content,
    objects: join(root, '.git/objects'),
    commonDir: join(root, '.git'),
    idLength: tree.length,
  };
}

describe('a commit that Pulse stores itself', () => {
  it.each(['sha1', 'sha256'] as const)('is the one that git would store (%s)', (format) => {
    const { git, content, commonDir, idLength } = repository(format);
    for (let n = 0; n < 20; n++) {
      const text = content(`feat: ü ${n} ${'long '.repeat(n * 50)}`);
      const id = writeLooseCommit(commonDir, { content: text, idLength });
      expect(id).toBe(git(['hash-object', '-t', 'commit', '--stdin'], text));
      expect(git(['cat-file', 'commit', id!])).toBe(text.trim());
      expect(writeLooseCommit(commonDir, { content: text, idLength })).toBe(id);
      git(['update-ref', 'refs/heads/main', id!]);
    }
    expect(git(['fsck', '--strict', '--no-dangling'])).toBe('');
  });

  it('is in a folder as open to others as the rest, and leaves no draft', () => {
    const { content, commonDir, objects, idLength } = repository('sha1');
    chmodSync(objects, 0o2775);
    const id = writeLooseCommit(commonDir, { content: content('one'), idLength })!;
    const folder = join(objects, id.slice(0, 2));
    expect(statSync(folder).mode & 0o7777).toBe(0o2775);
    expect(statSync(join(folder, id.slice(2))).mode & 0o777).toBe(0o444);
    expect(readdirSync(folder)).toEqual([id.slice(2)]);
  });

  it('is left to git where it cannot be written', () => {
    const { content, commonDir, objects, idLength } = repository('sha1');
    const id = writeLooseCommit(commonDir, { content: content('one'), idLength })!;
    rmSync(join(objects, id.slice(0, 2)), { recursive: true });
    writeFileSync(join(objects, id.slice(0, 2)), 'in the way');
    expect(writeLooseCommit(commonDir, { content: content('one'), idLength })).toBeNull();
    rmSync(objects, { recursive: true });
    expect(writeLooseCommit(commonDir, { content: content('one'), idLength })).toBeNull();
  });
});
