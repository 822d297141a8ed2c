/** A small repository in one file: the commands of its checks, then each file behind a line `-- path --`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPins, type Pins, type PinsRequest, type TreeFiles } from '../../../src/referee/pins/pins.ts';

export interface Fixture {
  commands: string[];
  files: Record<string, string>;
}

export function readFixture(name: string): Fixture {
  const text = readFileSync(join(import.meta.dirname, 'fixtures', `${name}.txt`), 'utf8');
  const [head = '', ...rest] = text.split(/^-- (.+) --\n/m);
  const files: Record<string, string> = {};
  for (let at = 0; at < rest.length; at += 2) files[rest[at]!] = rest[at + 1]!;
  return { commands: head.split('\n').filter((line) => line !== ''), files };
}

function treeOf(files: Record<string, string>): TreeFiles {
  return {
    paths: Object.keys(files),
    read: async (path) => (Object.hasOwn(files, path) ? files[path]! : null),
  };
}

export function pinsOf(fixture: Fixture, more: Partial<PinsRequest> = {}): Promise<Pins> {
  return findPins({ commands: fixture.commands, tree: treeOf(fixture.files), ...more });
}
